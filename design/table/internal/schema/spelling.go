package schema

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// folding are the functions of a part that make several values of its field equal.
func folding(p Part) []Func {
	i := slices.IndexFunc(p.Funcs, func(f Func) bool { return !keytext.Equates(f.Name) })
	if i < 0 {
		i = len(p.Funcs)
	}
	return p.Funcs[:i]
}

// foldings are the foldings of a field in a key, one for each of its parts.
func foldings(key []KeyAttribute, field string) [][]Func {
	var out [][]Func
	for _, a := range key {
		for _, p := range a.Template {
			if p.Field == field {
				out = append(out, folding(p))
			}
		}
	}
	return out
}

// Folds reports whether several values of a field identify the same item.
func (e *Entity) Folds(field string) bool {
	in := foldings(e.Key, field)
	return len(in) > 0 && !slices.ContainsFunc(in, func(f []Func) bool { return len(f) == 0 })
}

// Respells reports whether these values differ elsewhere: in the key of a copy, marker, index entry or counter's item.
func (e *Entity) Respells(field string) bool {
	if !e.Folds(field) {
		return false
	}
	own := foldings(e.Key, field)
	differs := func(key []KeyAttribute, field string) bool {
		return slices.ContainsFunc(foldings(key, field), func(f []Func) bool {
			return !slices.ContainsFunc(own, func(o []Func) bool { return slices.Equal(o, f) })
		})
	}
	entries := func(list []Entry) bool {
		return slices.ContainsFunc(list, func(x Entry) bool { return differs(x.PK, field) || differs(x.SK, field) })
	}
	return entries(e.Entries) ||
		slices.ContainsFunc(e.Copies, func(c Copy) bool { return differs(c.Key, field) || entries(c.Entries) }) ||
		slices.ContainsFunc(e.Markers, func(m Marker) bool { return differs(m.Key, field) }) ||
		slices.ContainsFunc(e.Counts, func(c Count) bool {
			return slices.ContainsFunc(FieldsOf(c.Entity.Key), func(name string) bool { return c.own(name) == field && differs(c.Entity.Key, name) })
		})
}
