package migrate

import (
	"maps"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// shape describes the items of a transition design, and what they have beyond another design: what a backfill adds if the
// other is the old one, what the clean-up removes if it is the new one.
type shape struct {
	design   *design.Design
	entities map[string][]*table.Entity // by the name of their table
	surplus  map[*table.Entity]*surplus
}

// surplus is what an entity has beyond the other design.
type surplus struct {
	entity *table.Entity
	whole  bool // the other design has no such entity
	// copies and markers are those that the other does not have; changed are copies that contain something else there.
	copies, changed, markers map[string]bool
	// entered are the attributes of the item itself that exist for index entries. They may also be set for the other design's
	// entries, on other items: base is the other design's entity, which decides that for an item.
	entered []string
	base    *table.Entity
	// unmatched are the attributes, and the paths of fields inside maps that stay, which the other design's items at a place do
	// not have.
	unmatched map[string][][]string
	// needs are the attributes on which all of this depends.
	needs []string
}

// any reports whether there is anything to add.
func (s *surplus) any() bool {
	return len(s.copies)+len(s.changed)+len(s.markers)+len(s.entered) > 0
}

// gone are the places in indexes that items themselves have only in this design.
func (s *surplus) gone(places []plan.Place) []plan.Place {
	return slices.DeleteFunc(slices.Clone(places), func(p plan.Place) bool {
		return p.Kind != plan.EntryPlace || p.Copy != nil || p.Undeclared || s.known(p.Index.Name, p.Entry)
	})
}

// known reports whether the other design's items have an entry.
func (s *surplus) known(index, name string) bool {
	return slices.ContainsFunc(s.base.Entries, func(x table.Entry) bool { return x.Index == index && x.Name == name })
}

// has reports whether the other design does not have a place.
func (s *surplus) has(p table.Place) bool {
	return s.whole || s.copies[p.Copy] || s.markers[p.Marker]
}

// shapeOf compares designs. filled are the filled fields by entity.
func shapeOf(transition, other *design.Design, filled map[string][]string) *shape {
	// Other commands report patterns that cannot be run; they do not matter for items.
	program, _ := lower.Lower(transition)
	base, _ := lower.Lower(other)
	s := &shape{design: transition, entities: map[string][]*table.Entity{}, surplus: map[*table.Entity]*surplus{}}
	for _, e := range program.Entities {
		s.entities[e.Table.Name] = append(s.entities[e.Table.Name], e)
		i := slices.IndexFunc(base.Entities, func(b *table.Entity) bool { return b.Name == e.Name })
		if i < 0 {
			s.surplus[e] = &surplus{entity: e, whole: true}
			continue
		}
		s.surplus[e] = surplusOf(e, base.Entities[i], filled[e.Name])
	}
	return s
}

func surplusOf(e, base *table.Entity, filled []string) *surplus {
	s := &surplus{
		entity: e, base: base, copies: map[string]bool{}, changed: map[string]bool{}, markers: map[string]bool{}, unmatched: map[string][][]string{},
	}
	needs := map[string]bool{}
	need := func(fields ...string) {
		for _, name := range fields {
			if f := fieldOf(e, name); f != nil {
				needs[f.Path[0]] = true
			}
		}
	}
	need(filled...)
	known := contents(base, nil)
	s.unmatched[""] = beyond(contents(e, nil), known)
	for i := range e.Entries {
		x := &e.Entries[i]
		if s.known(x.Index, x.Name) {
			continue
		}
		for _, a := range slices.Concat(x.PK, x.SK) {
			inKey := slices.ContainsFunc(e.Key, func(k table.KeyAttribute) bool { return k.Name == a.Name })
			if a.Field == "" && !inKey && !slices.Contains(s.entered, a.Name) {
				s.entered = append(s.entered, a.Name)
			}
		}
		for k := range e.Entries { // entries that an item may have instead
			if other := &e.Entries[k]; other.Index == x.Index {
				need(entryFields(other)...)
				needCondition(needs, other.Where)
			}
		}
	}
	for i := range e.Copies {
		c := &e.Copies[i]
		j := slices.IndexFunc(base.Copies, func(b table.Copy) bool { return reflect.DeepEqual(b.Key, c.Key) })
		switch {
		case reflect.DeepEqual(base.Key, c.Key):
			continue
		case j < 0:
			s.copies[c.Name] = true
		case len(beyond(contents(e, c), contents(base, &base.Copies[j]))) > 0:
			s.changed[c.Name] = true
			s.unmatched[c.Name] = beyond(contents(e, c), contents(base, &base.Copies[j]))
		default:
			continue
		}
		need(held(e, c)...)
		for k := range c.Entries {
			needCondition(needs, c.Entries[k].Where)
		}
	}
	for i := range e.Markers {
		u := &e.Markers[i]
		if !slices.ContainsFunc(base.Markers, func(b table.Marker) bool { return reflect.DeepEqual(b.Key, u.Key) }) {
			s.markers[u.Name] = true
			need(fieldsOf(u.Key)...)
			need(fieldsOf(e.Key)...)
			if e.TTL != nil {
				need(e.TTL.Field)
			}
		}
	}
	for _, k := range e.Key {
		delete(needs, k.Name) // an item with another key is another item
	}
	s.needs = slices.Sorted(maps.Keys(needs))
	return s
}

func needCondition(needs map[string]bool, c *table.Condition) {
	if c == nil {
		return
	}
	for _, name := range c.Names { // with paths inside maps, which are not attributes of items
		needs[name] = true
	}
}

func fieldOf(e *table.Entity, name string) *table.Field {
	i := slices.IndexFunc(e.Fields, func(f table.Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Fields[i]
}

func fieldsOf(keys ...[]table.KeyAttribute) []string {
	var out []string
	for _, key := range keys {
		for _, a := range key {
			for _, p := range a.Template {
				if p.Field != "" && !slices.Contains(out, p.Field) {
					out = append(out, p.Field)
				}
			}
		}
	}
	return out
}

func entryFields(x *table.Entry) []string { return fieldsOf(x.PK, x.SK) }

// held are the fields in a copy; those of the item itself if it is nil.
func held(e *table.Entity, c *table.Copy) []string {
	if c == nil || c.Fields == nil {
		out := make([]string, len(e.Fields))
		for i := range e.Fields {
			out[i] = e.Fields[i].Name
		}
		return out
	}
	out := union(c.Fields, fieldsOf(c.Key))
	for i := range c.Entries {
		out = union(out, entryFields(&c.Entries[i]))
	}
	if e.TTL != nil {
		out = union(out, []string{e.TTL.Field})
	}
	return out
}

// content maps an attribute to the paths of the fields inside it, if it is a map of fields.
type content map[string][][]string

// contents are the attributes of an entity's item, or of a copy.
func contents(e *table.Entity, c *table.Copy) content {
	out := content{}
	for _, name := range held(e, c) {
		if f := fieldOf(e, name); f != nil {
			if len(f.Path) > 1 {
				out[f.Path[0]] = append(out[f.Path[0]], f.Path)
			} else {
				out[f.Path[0]] = nil
			}
		}
	}
	key, entries := e.Key, e.Entries
	if c != nil {
		key, entries = c.Key, c.Entries
	}
	for _, a := range key {
		out[a.Name] = nil
	}
	for i := range entries {
		for _, a := range slices.Concat(entries[i].PK, entries[i].SK) {
			out[a.Name] = nil
		}
	}
	if e.Table.TypeAttr != "" {
		out[e.Table.TypeAttr] = nil
	}
	return out
}

// beyond are the attributes, and paths inside attributes, that only the first has.
func beyond(a, b content) [][]string {
	var out [][]string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		paths, there := b[name]
		if !there {
			out = append(out, []string{name})
			continue
		}
		for _, p := range a[name] {
			if paths != nil && !slices.ContainsFunc(paths, func(q []string) bool { return slices.Equal(p, q) }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// keyOf is an item's primary key.
func keyOf(t *table.Table, item table.Item) table.Item {
	key := table.Item{t.PK.Name: item[t.PK.Name]}
	if t.SK.Name != "" {
		key[t.SK.Name] = item[t.SK.Name]
	}
	return key
}

// identity is the text form of a primary key.
func identity(t *table.Table, key table.Item) string {
	return scalar(key[t.PK.Name]) + "\x00" + scalar(key[t.SK.Name])
}

func scalar(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S" + v.Value
	case *types.AttributeValueMemberN:
		return "N" + v.Value
	case *types.AttributeValueMemberB:
		return "B" + string(v.Value)
	default:
		return ""
	}
}

// owner is the key of the item to which a copy or marker of an entity belongs, from its values; false if it lacks the fields
// for that.
func owner(e *table.Entity, v table.Values) (table.Item, bool) {
	bare := table.Entity{Name: e.Name, Table: e.Table, Key: e.Key}
	for _, name := range fieldsOf(e.Key) {
		f := fieldOf(e, name)
		if f == nil || v[name] == nil {
			return nil, false
		}
		bare.Fields = append(bare.Fields, *f)
	}
	values := maps.Clone(v)
	maps.DeleteFunc(values, func(name string, _ types.AttributeValue) bool { return fieldOf(&bare, name) == nil })
	items, err := table.Items(&bare, values)
	if err != nil {
		return nil, false
	}
	return keyOf(e.Table, items[0]), true
}
