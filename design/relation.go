package design

import (
	"slices"
	"strconv"
)

// Join is a field of one entity that is equal to a field of another where their items belong together.
type Join struct{ A, B string }

// Related are the fields by which items of two entities belong together: those of the same names in both keys, or else the fields of
// the one's key that the other has. Where these are not a whole key, the one reference between them tells. Empty where nothing does.
func Related(a, b *Entity) []Join {
	inA, inB := keyFields(a), keyFields(b)
	var both, either []Join
	for _, name := range slices.Concat(inA, inB) {
		one := Join{name, name}
		switch {
		case slices.Contains(either, one) || a.Field(name) == nil || b.Field(name) == nil:
		case slices.Contains(inA, name) && slices.Contains(inB, name):
			both, either = append(both, one), append(either, one)
		default:
			either = append(either, one)
		}
	}
	names := either
	if len(both) > 0 {
		names = both
	}
	lacks := func(key []string) bool {
		return slices.ContainsFunc(key, func(name string) bool { return !slices.Contains(names, Join{name, name}) })
	}
	if refs := references(a, b); len(refs) == 1 && lacks(inA) && lacks(inB) {
		return refs[0]
	}
	return names
}

// Owner says of each field of the key of an item's owner, an item of another entity, which of its own fields has the value (A is the
// item's, B the owner's): the one of the same name, or what a reference says. by is the field of the reference, "" for equal
// names. It is nil if the item does not tell its owner so, and
// empty if there is one owner for all.
func Owner(e, owner *Entity, by string) []Join {
	if by != "" {
		for _, r := range e.Refs {
			if r.Field == by && len(r.To) == 1 && r.To[0].Entity == owner.Name {
				return whole(e, owner, r.Field, r.To[0].Field)
			}
		}
		return nil
	}
	return whole(e, owner, "", "")
}

// Belongs is Owner by the fields of the same names, or else by the one reference from an entity to the other.
func Belongs(e, owner *Entity) []Join {
	if same := Owner(e, owner, ""); same != nil {
		return same
	}
	if by := namers(e, owner); len(by) == 1 {
		return Owner(e, owner, by[0])
	}
	return nil
}

// namers are the fields by which each item of an entity refers to one of the other.
func namers(e, owner *Entity) []string {
	var out []string
	for _, r := range e.Refs {
		if len(r.To) == 1 && r.To[0].Entity == owner.Name {
			out = append(out, r.Field)
		}
	}
	return out
}

// whole is a whole key: the owner's field that an item's field refers to, if any, and for the rest fields of the same names.
func whole(e, owner *Entity, field, to string) []Join {
	out := []Join{} // of an item whose key has no fields, there is one
	for _, name := range keyFields(owner) {
		one := Join{name, name}
		if name == to {
			one.A = field
		}
		if e.Field(one.A) == nil {
			return nil
		}
		out = append(out, one)
	}
	return out
}

// references are the ways in which either of two entities refers to the other.
func references(a, b *Entity) [][]Join {
	out := referred(a, b)
	for _, way := range referred(b, a) {
		for i, j := range way {
			way[i] = Join{j.B, j.A}
		}
		out = append(out, way)
	}
	return out
}

// referred are the references from one entity to another, each with all of the key of what it names.
func referred(from, to *Entity) [][]Join {
	var out [][]Join
	for _, r := range from.Refs {
		for _, t := range r.To {
			if t.Entity != to.Name {
				continue
			}
			way := []Join{{r.Field, t.Field}}
			for _, name := range keyFields(to) {
				if name != t.Field {
					way = append(way, Join{name, name})
				}
			}
			out = append(out, way)
		}
	}
	return out
}

// unrelated is why nothing tells which items of two entities belong together.
func unrelated(a, b *Entity) string {
	if n := len(references(a, b)); n > 1 {
		return "there are " + strconv.Itoa(n) + " references between them"
	}
	return "neither has a key field of the other, and neither refers to the other"
}

// NamedLike is the field whose values those of a field or an input of a name and type are meant to be: that of another entity which
// fields of this name refer to, or the field itself.
func (d *Design) NamedLike(name string, t Type) string {
	for range d.Entities { // a reference may lead to another
		to := d.namesAnother(name, t)
		if to == "" {
			break
		}
		name = to
	}
	return name
}

func (d *Design) namesAnother(name string, t Type) string {
	for _, e := range d.Entities {
		for _, r := range e.Refs {
			if r.Field == name && len(r.To) > 0 && e.Field(name).Type.String() == t.String() {
				return r.To[0].Field
			}
		}
	}
	return ""
}
