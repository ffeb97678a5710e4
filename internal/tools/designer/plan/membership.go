package plan

import (
	"slices"

	"github.com/monotable/monotable/design"
)

// undeclared are the entries that items have in indexes although the design does not declare them. DynamoDB knows no
// declarations: every item that has all attributes of an index's key, of the right types, is in that index
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html). Such attributes are those of the primary key,
// as in an inverted index, fields that are stored in them, the table's type attribute, and key attributes that another index
// shares.
func undeclared(places []Place) []Place {
	var out []Place
	for _, item := range places {
		if item.Kind == EntryPlace {
			continue
		}
		for _, x := range item.Table.Indexes {
			declared := slices.ContainsFunc(places, func(p Place) bool { return p.Index == x && p.SameItem(item) })
			if declared {
				continue
			}
			for _, held := range item.states(places) {
				entry, ok := item.entry(x, held)
				met := slices.ContainsFunc(out, func(p Place) bool { return p.Index == x && p.SameItem(item) && p.alike(entry) })
				if ok && !met {
					out = append(out, entry)
				}
			}
		}
	}
	return out
}

// states are the item's attributes in each of its possible states: one state for each alternative entry in an index, or a
// single one.
func (p Place) states(places []Place) []map[string]attribute {
	var out []map[string]attribute
	for i, entry := range places {
		if entry.Entry != "" && entry.SameItem(p) {
			out = append(out, p.attributes(slices.Concat(places[i:i+1], places)))
		}
	}
	if out == nil {
		out = append(out, p.attributes(places))
	}
	return out
}

// alike reports whether two entries in one index have the same keys.
func (p Place) alike(q Place) bool {
	return slices.EqualFunc(slices.Concat(p.PK, p.SK), slices.Concat(q.PK, q.SK), func(a, b *design.Template) bool { return a.Text == b.Text })
}

// SameItem reports whether two places belong to the same item: the entity's own, a copy, a marker.
func (p Place) SameItem(q Place) bool { return p.Copy == q.Copy && p.Marker == q.Marker }

// attribute describes a top-level attribute of an item that could be a key.
type attribute struct {
	kind     design.KeyType
	template *design.Template
	optional []string          // the attribute is absent without these fields
	where    *design.Condition // the condition, if it is written for a conditional entry
	share    float64           // the declared share of the items that have it
}

// attributes are the item's attributes that could be keys.
func (p Place) attributes(places []Place) map[string]attribute {
	out := map[string]attribute{}
	for _, f := range p.Entity.Fields {
		if f.Nested() || !f.Type.Scalar() || f.Type.Kind == design.KindBool || !p.Has(f.Name) {
			continue
		}
		a := attribute{kind: f.Type.Key(), template: &design.Template{Text: "{" + f.Name + "}", Parts: []design.Part{{Field: f.Name}}, Pos: f.Pos}}
		if f.Optional {
			a.optional = []string{f.Name}
		}
		out[f.Attribute()] = a
	}
	if t := p.Table.TypeAttr; t != "" {
		out[t] = attribute{kind: design.KeyString, template: &design.Template{
			Text: p.Entity.TypeValue, Parts: []design.Part{{Literal: p.Entity.TypeValue}}, Pos: p.Pos,
		}}
	}
	for _, entry := range places {
		if entry.Kind == EntryPlace && entry.SameItem(p) {
			entry.putKeys(out)
		}
	}
	p.putKeys(out)
	return out
}

// putKeys adds the attributes of the place's key.
func (p Place) putKeys(to map[string]attribute) {
	pk, sk := p.Attributes()
	names, composed := slices.Concat(pk, sk), slices.Concat(p.PK, p.SK)
	var optional []string
	for _, name := range fieldsOf(composed) {
		if f := p.Entity.Field(name); f != nil && f.Optional {
			optional = append(optional, name)
		}
	}
	for i, t := range composed {
		if _, known := to[names[i].Name]; known && p.Kind == EntryPlace {
			continue // a field is there regardless of the entry's condition
		}
		to[names[i].Name] = attribute{names[i].Type, t, optional, p.Where, p.Share}
	}
}

// entry is the place of an item in an index whose key attributes it has. If it has them under several conditions, only one is
// kept: the entry may exist less often than the place says.
func (p Place) entry(x *design.Index, held map[string]attribute) (Place, bool) {
	out := Place{
		Entity: p.Entity, Table: p.Table, Index: x, Kind: EntryPlace, Name: x.Name, Copy: p.Copy, Marker: p.Marker,
		Undeclared: true, Pos: p.Pos,
	}
	for i, k := range slices.Concat(x.PK, x.SK) {
		a, ok := held[k.Name]
		if !ok || a.kind != k.Type {
			return out, false
		}
		if i < len(x.PK) {
			out.PK = append(out.PK, a.template)
		} else {
			out.SK = append(out.SK, a.template)
		}
		for _, f := range a.optional {
			if !slices.Contains(out.Optional, f) {
				out.Optional = append(out.Optional, f)
			}
		}
		if a.where != nil {
			out.Where = a.where
		}
		if a.share > 0 && a.share < out.Part() {
			out.Share = a.share
		}
	}
	return out, true
}
