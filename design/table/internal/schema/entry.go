package schema

import (
	"maps"
	"slices"
)

// IndexKeys are the index attributes of the entity's own item or of a copy for a whole item: those to set, and those that
// must not be there. Attributes that are fields themselves are neither, nor are those of the primary key, which a local
// index shares.
func (e *Entity) IndexKeys(p Place, v Values, it Item) (set Item, remove []string, err error) {
	list := e.Entries
	if p.Copy != "" {
		list = nil
		if c := e.copyOf(p.Copy); c != nil {
			list = c.Entries
		}
	}
	v, set = e.Counted(v), Item{}
	var absent []string
	for i := range list {
		entry := &list[i]
		attributes := slices.Concat(entry.PK, entry.SK)
		if err := e.PlainKeys(attributes, v); err != nil {
			return nil, nil, err
		}
		attributes = slices.DeleteFunc(attributes, func(a KeyAttribute) bool { return a.Field != "" || e.inPrimaryKey(a) })
		entered, err := e.enters(entry, v, it)
		if err != nil {
			return nil, nil, err
		}
		if !entered {
			for _, a := range attributes {
				absent = append(absent, a.Name)
			}
			continue
		}
		keys, err := e.KeyOf(attributes, v)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(set, keys)
	}
	for _, name := range absent { // an attribute may be of several indexes
		if _, there := set[name]; !there && !slices.Contains(remove, name) {
			remove = append(remove, name)
		}
	}
	return set, remove, nil
}

// enters reports whether an item has an entry: its condition holds, and the fields of its keys are there.
func (e *Entity) enters(entry *Entry, v Values, it Item) (bool, error) {
	for _, name := range FieldsOf(entry.PK, entry.SK) {
		if v[name] == nil {
			return false, nil
		}
	}
	if entry.Where == nil {
		return true, nil
	}
	return entry.Where.Holds(e.wholly(it, v), Inputs{Values: v})
}

// wholly is an item with all of an entity's values: a copy may lack those that its entries depend on.
func (e *Entity) wholly(it Item, v Values) Item {
	whole := maps.Clone(it)
	if whole == nil {
		whole = Item{}
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		if At(whole, f.Path) != nil {
			continue
		}
		if value, err := f.ToStore(v[f.Name]); err == nil && value != nil {
			PutAt(whole, f.Path, value)
		}
	}
	return whole
}

// PlainKeys refuses fields that could not stand in the index whose attribute they are: DynamoDB refuses an item with an empty
// index key, or one of another type, whatever the index's condition says.
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

// Synthetic are the attributes of an entry that exist for it, and are written beside the fields.
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
