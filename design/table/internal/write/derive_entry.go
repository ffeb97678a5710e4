package write

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// index changes the index attributes of a changed item, or of a copy of it, together with the fields from which they are made.
func (e *effect) index(p schema.Place, x *expression) error {
	list := e.entity.EntriesAt(p)
	for i := range list {
		if err := e.plainIndexKeys(&list[i]); err != nil {
			return err
		}
	}
	k := indexKeys{effect: e, set: schema.Item{}, begin: schema.Item{}, shared: e.entity.SharedKeys(list)}
	for _, entry := range e.touched(list) {
		if err := k.enter(entry); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.set)) {
		x.set([]string{name}, k.set[name])
	}
	for _, name := range slices.Sorted(maps.Keys(k.begin)) {
		x.begin([]string{name}, k.begin[name])
	}
	slices.Sort(k.gone)
	for _, name := range slices.Compact(k.gone) {
		if k.set[name] == nil && k.begin[name] == nil { // an attribute may belong to several indexes
			x.remove([]string{name})
		}
	}
	return nil
}

// touched are the entries that may change: all if the item may be created, otherwise those that depend on what changes, and
// those that share an attribute with one of these.
func (e *effect) touched(list []schema.Entry) []*schema.Entry {
	var out []*schema.Entry
	attributes := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for i := range list {
			entry := &list[i]
			own := e.entity.Synthetic(entry)
			shares := slices.ContainsFunc(own, func(a schema.KeyAttribute) bool { return attributes[a.Name] })
			if slices.Contains(out, entry) || e.exists() == present && !shares && !e.changes(e.entity.EntryFields(entry)) {
				continue
			}
			out, grown = append(out, entry), true
			for _, a := range own {
				attributes[a.Name] = true
			}
		}
	}
	return out
}

// plainIndexKeys rejects values that are invalid in an index attribute that is the field itself.
func (e *effect) plainIndexKeys(entry *schema.Entry) error {
	known := schema.Values{}
	for _, a := range slices.Concat(entry.PK, entry.SK) {
		if v, ok := e.after(a.Field); ok && v != nil && a.Field != "" && e.changed(a.Field) {
			known[a.Field] = v
		}
	}
	return e.entity.PlainKeys(slices.Concat(entry.PK, entry.SK), known)
}

// indexKeys collects the changes of index attributes.
type indexKeys struct {
	*effect
	set   schema.Item // new values
	begin schema.Item // values to set if absent
	gone  []string
	// shared are the attributes that several entries share: one entry may be removed while another still needs the attribute.
	shared map[string]bool
}

// enter decides about one entry.
func (k *indexKeys) enter(entry *schema.Entry) error {
	own := k.entity.Synthetic(entry)
	if len(own) == 0 {
		return nil
	}
	if out, err := k.leaves(entry); err != nil || out {
		for _, a := range own {
			k.gone = append(k.gone, a.Name)
		}
		return err
	}
	if k.exists() == unknown {
		return k.enterUpserted(entry, own)
	}
	hadEntry, err := k.hadEntry(entry)
	if err != nil {
		return err
	}
	for _, a := range own {
		fields := a.Template.Fields()
		if hadEntry && !k.shared[a.Name] && !k.changes(fields) {
			continue
		}
		v, err := k.valuesAfter(fields)
		if err != nil {
			return err
		}
		k.relyAfter(fields...)
		key, err := k.entity.KeyOf([]schema.KeyAttribute{a}, v)
		if err != nil {
			return err
		}
		maps.Copy(k.set, key)
	}
	return nil
}

// leaves reports whether the item certainly has no entry: the condition does not hold, or a field of the key is absent. That
// may be known even if most of the item is not.
func (k *indexKeys) leaves(entry *schema.Entry) (bool, error) {
	for _, name := range schema.FieldsOf(entry.PK, entry.SK) {
		if v, known := k.after(name); known && v == nil {
			k.relyAfter(name)
			return true, nil
		}
	}
	holds, known, relies, err := k.entity.Truth(entry.Where, k.after)
	if err != nil || !known || holds {
		return false, err
	}
	k.relyAfter(relies...)
	return true, nil
}

// hadEntry reports whether an item that has the entry now also had it before, so that unchanged attributes need not be written.
// It must be known to have the entry now.
func (k *indexKeys) hadEntry(entry *schema.Entry) (bool, error) {
	holds, known, relies, err := k.entity.Truth(entry.Where, k.after)
	if err != nil {
		return false, err
	}
	if !known || !holds {
		return false, errUnread
	}
	k.relyAfter(relies...)
	hadEntry := !k.changes(k.entity.ReadBy(entry.Where))
	for _, name := range schema.FieldsOf(entry.PK, entry.SK) {
		if f := k.entity.Field(name); f == nil || !f.Optional {
			continue
		}
		if _, known := k.after(name); !known {
			return false, errUnread
		}
		k.relyAfter(name)
		hadEntry = hadEntry && !k.changed(name)
	}
	return hadEntry, nil
}

// enterUpserted decides about an entry of an item that an upsert may create or find. What is the same in both cases is set.
// What only a new item gets is set if absent, provided an existing item certainly has it.
func (k *indexKeys) enterUpserted(entry *schema.Entry, own []schema.KeyAttribute) error {
	holds, known, relies, err := k.entity.Truth(entry.Where, k.after)
	if err != nil {
		return err
	}
	if !known || !holds {
		return errUnread
	}
	always := Within(relies, schema.FieldsOf(k.entity.Key)) && !slices.ContainsFunc(schema.FieldsOf(entry.PK, entry.SK), k.optional)
	for _, a := range own {
		v, begins, err := k.upsertedValues(a.Template.Fields())
		if err != nil {
			return err
		}
		if begins && !always {
			return errUnread
		}
		key, err := k.entity.KeyOf([]schema.KeyAttribute{a}, v)
		if err != nil {
			return err
		}
		if begins {
			maps.Copy(k.begin, key)
		} else {
			maps.Copy(k.set, key)
		}
	}
	return nil
}

// upsertedValues are fields after an upsert; begins is set if they are those of a new item.
func (k *indexKeys) upsertedValues(fields []string) (v schema.Values, begins bool, err error) {
	v = schema.Values{}
	changes := false
	for _, name := range fields {
		value, known := k.after(name)
		_, ofKey := k.values[name]
		if !known {
			value = k.initial(name)
		}
		if value == nil {
			return nil, false, errUnread
		}
		begins = begins || !known
		changes = changes || known && !ofKey
		v[name] = value
	}
	if begins && changes {
		return nil, false, errUnread // a key that mixes new and existing values
	}
	return v, begins, nil
}

func (e *effect) optional(field string) bool {
	f := e.entity.Field(field)
	return f == nil || f.Optional
}

// initial is the value that an upsert sets for an absent field; nil if there is none, or if an item may lack the field.
func (e *effect) initial(field string) types.AttributeValue {
	for i := range e.assigned {
		if a := &e.assigned[i]; a.field.Name == field {
			if a.how == initialising && a.whole && len(a.operands) == 0 && !a.field.Optional {
				return a.value
			}
			return nil
		}
	}
	return nil
}
