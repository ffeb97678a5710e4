package schema

import (
	"maps"
	"slices"
)

// indexKeys are the attributes that exist for the index entries of the entity's own item, or of a copy.
func (e *Entity) indexKeys(p Place, v Values) (Item, error) {
	out := Item{}
	list := e.EntriesAt(p)
	for i := range list {
		x := &list[i]
		if err := e.PlainKeys(slices.Concat(x.PK, x.SK), v); err != nil {
			return nil, err
		}
		entered, err := e.enters(x, v)
		if err != nil {
			return nil, err
		}
		if !entered {
			continue
		}
		keys, err := e.KeyOf(e.Synthetic(x), v)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, keys)
	}
	return out, nil
}

// enters reports whether an item has an entry: its condition holds, and the fields of its keys are present. The condition is
// evaluated on the known fields, because a copy may lack some.
func (e *Entity) enters(x *Entry, v Values) (bool, error) {
	for _, name := range FieldsOf(x.PK, x.SK) {
		if v[name] == nil {
			return false, nil
		}
	}
	if x.Where == nil {
		return true, nil
	}
	whole := Item{}
	for i := range e.Fields {
		f := &e.Fields[i]
		if value, err := f.ToStore(v[f.Name]); err == nil && value != nil {
			PutAt(whole, f.Path, value)
		}
	}
	return x.Where.Holds(whole, Inputs{Values: v})
}

// PlainKeys rejects values that are invalid as the index key that the field is: DynamoDB rejects an item with an empty index
// key, or one of another type, whatever the entry's condition is.
func (e *Entity) PlainKeys(attributes []KeyAttribute, v Values) error {
	for _, a := range attributes {
		if a.Field == "" || v[a.Field] == nil {
			continue
		}
		if _, err := e.KeyOf([]KeyAttribute{a}, v); err != nil {
			return err
		}
	}
	return nil
}

// inPrimaryKey reports whether an attribute is one of the table's own key.
func (e *Entity) inPrimaryKey(a KeyAttribute) bool {
	return e.Table != nil && a.Name != "" && (a.Name == e.Table.PK.Name || a.Name == e.Table.SK.Name)
}

// EntriesAt are the index entries of the item, or of a copy.
func (e *Entity) EntriesAt(p Place) []Entry {
	if p.Copy == "" {
		return e.Entries
	}
	if c := e.copyOf(p.Copy); c != nil {
		return c.Entries
	}
	return nil
}

// Indexed are the fields that the index entries at a place depend on.
func (e *Entity) Indexed(p Place) []string {
	var out []string
	list := e.EntriesAt(p)
	for i := range list {
		out = append(out, e.EntryFields(&list[i])...)
	}
	return out
}

// EntryFields are the fields that an entry depends on: those of its keys and of its condition.
func (e *Entity) EntryFields(x *Entry) []string {
	return append(FieldsOf(x.PK, x.SK), e.ReadBy(x.Where)...)
}

// Synthetic lists the attributes that exist only for an entry and are written in addition to the fields.
func (e *Entity) Synthetic(x *Entry) []KeyAttribute {
	return slices.DeleteFunc(slices.Concat(x.PK, x.SK), func(a KeyAttribute) bool { return a.Field != "" || e.inPrimaryKey(a) })
}

// SharedKeys are the attributes that several entries have in common.
func (e *Entity) SharedKeys(list []Entry) map[string]bool {
	met, shared := map[string]bool{}, map[string]bool{}
	for i := range list {
		for _, a := range e.Synthetic(&list[i]) {
			shared[a.Name] = met[a.Name]
			met[a.Name] = true
		}
	}
	return shared
}
