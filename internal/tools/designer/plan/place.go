package plan

import (
	"slices"

	"github.com/monotable/monotable/design"
)

// Kind is the kind of a place.
type Kind uint8

// The kinds of places.
const (
	KeyPlace    Kind = iota // the item itself, in the table
	CopyPlace               // a copy, in the table
	MarkerPlace             // a marker of uniqueness, in the table
	EntryPlace              // an entry of the item, or of a copy, in an index
)

// Place is one kind of item in one physical order: what a GetItem or Query can find there, and by which keys.
type Place struct {
	Entity *design.Entity
	Table  *design.Table
	Index  *design.Index // nil in the table itself
	Kind   Kind
	// Name is the name that a design's via uses: key, the name of a copy, marker or index, or GSI1.open for one of several
	// entries in an index.
	Name string
	// Entry is the name of an alternative entry: by their conditions, an item has at most one of several in the index; "" for
	// others.
	Entry string
	// Copy is set if the place is a copy or an entry of one.
	Copy *design.Copy
	// Marker is set if the place is a marker or an entry of one.
	Marker *design.Marker
	// PK and SK are the templates of the key attributes there, one for each.
	PK, SK []*design.Template
	// Where is the condition under which an item has the entry; nil means always.
	Where *design.Condition
	// Share is the declared part of the items that have the entry; 0 if the design does not say, and all are counted.
	Share float64
	// Undeclared means that the design does not name the entry: the item has it because it has the attributes of the index's
	// key, see undeclared. Optional are fields that such an item may lack, and is then not in the index.
	Undeclared bool
	Optional   []string
	Pos        design.Pos
}

// Places are all places of an entity, the item itself first.
func Places(d *design.Design, e *design.Entity) []Place {
	t := d.TableOf(e)
	inTable := func(kind Kind, name string, k design.Key, p design.Pos) Place {
		return Place{Entity: e, Table: t, Kind: kind, Name: name, PK: templates(k.PK), SK: templates(k.SK), Pos: p}
	}
	out := []Place{inTable(KeyPlace, "key", e.Key, e.Pos)}
	for _, c := range e.Copies {
		p := inTable(CopyPlace, c.Name, c.Key, c.Pos)
		p.Copy = c
		out = append(out, p)
	}
	for _, x := range e.Entries {
		out = append(out, Place{
			Entity: e, Table: t, Index: t.Index(x.Index), Kind: EntryPlace, Name: x.Place(), Entry: x.Name, Copy: e.Copy(x.Of),
			PK: x.PK, SK: x.SK, Where: x.Where, Share: shareOf(e, x), Pos: x.Pos,
		})
	}
	for _, m := range e.Unique {
		p := inTable(MarkerPlace, m.Name, m.Key, m.Pos)
		p.Marker = m
		out = append(out, p)
	}
	return append(out, undeclared(out)...)
}

// shareOf is the share of the items that have an entry. Alternative entries without a declared share divide the rest equally,
// because an item has at most one of them.
func shareOf(e *design.Entity, x *design.Entry) float64 {
	several := e.Several(x.Index, x.Of)
	if x.Share > 0 || several == nil {
		return x.Share
	}
	rest, openShares := 1.0, 0.0
	for _, other := range several {
		rest -= other.Share
		if other.Share == 0 {
			openShares++
		}
	}
	return max(rest, 0) / openShares
}

func templates(t *design.Template) []*design.Template {
	if t == nil {
		return nil
	}
	return []*design.Template{t}
}

// String is the place's name in messages: Order.key, Order.GSI1.
func (p Place) String() string { return p.Entity.Name + "." + p.Name }

// Global reports whether the place is in a global index: eventually consistent, and not unique.
func (p Place) Global() bool { return p.Index != nil && !p.Index.Local }

// Has reports whether an item found at the place has the field. A marker has the fields of its own key and of the
// entity's, which is how the item is found.
func (p Place) Has(field string) bool {
	f := p.Entity.Field(field)
	if f == nil {
		return false
	}
	switch {
	case p.Marker != nil:
		return p.marks(f) && (p.Index == nil || p.projects(f)) || slices.Contains(fieldsOf(p.PK, p.SK), field)
	case p.Copy != nil && !p.Copy.All && !slices.Contains(p.Copy.Fields, field):
		return p.Copy.All || slices.Contains(fieldsOf(p.PK, p.SK), field)
	default:
		return p.Index == nil || p.projects(f)
	}
}

// marks reports whether the place's marker has a field. A marker expires with its item.
func (p Place) marks(f *design.Field) bool {
	expires := p.Entity.TTL != nil && p.Entity.TTL.Field == f.Name
	return expires || slices.Contains(KeyFields(p.Entity), f.Name) || slices.Contains(fieldsOf(templates(p.Marker.Key.PK), templates(p.Marker.Key.SK)), f.Name)
}

// projects reports whether the place's index has a field of the items in it.
func (p Place) projects(f *design.Field) bool {
	return p.Index.Project.All || slices.Contains(p.Index.Project.Fields, f.Name) || p.inKeys(f)
}

// inKeys reports whether the field is itself an attribute of the index's or the table's key, which every projection includes.
func (p Place) inKeys(f *design.Field) bool {
	if f.Nested() {
		return false
	}
	is := func(k design.KeyAttribute) bool { return k.Name == f.Attribute() }
	return is(p.Table.PK) || p.Table.SK != nil && is(*p.Table.SK) ||
		slices.ContainsFunc(p.Index.PK, is) || slices.ContainsFunc(p.Index.SK, is)
}

// Missing are the fields of the entity that an item found at the place does not have.
func (p Place) Missing(want []string) []string {
	if len(want) == 0 && p.Kind != MarkerPlace {
		return nil // the read takes whatever the place has
	}
	if len(want) == 0 {
		for _, f := range p.Entity.Fields {
			want = append(want, f.Name)
		}
	}
	return slices.DeleteFunc(slices.Clone(want), p.Has)
}

// KeyFields are the fields of an entity's primary key.
func KeyFields(e *design.Entity) []string { return fieldsOf(templates(e.Key.PK), templates(e.Key.SK)) }

func fieldsOf(lists ...[]*design.Template) []string {
	var out []string
	for _, list := range lists {
		for _, t := range list {
			for _, name := range t.Fields() {
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// Part is the share of the items that are found at the place: 1 unless the design declares another.
func (p Place) Part() float64 {
	if p.Share == 0 {
		return 1
	}
	return p.Share
}

// Sparse reports whether items can be missing at the place although it has no condition: a field of its key is optional.
func (p Place) Sparse() bool {
	return slices.ContainsFunc(fieldsOf(p.PK, p.SK), func(name string) bool {
		f := p.Entity.Field(name)
		return f != nil && f.Optional
	})
}
