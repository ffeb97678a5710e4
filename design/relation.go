package design

import (
	"slices"
	"strconv"
)

// Join is a field of one entity that equals a field of another in related items.
type Join struct{ A, B string }

// Related are the fields that relate items of two entities: fields with the same names in both keys, or otherwise the fields
// of one key that the other entity has. If these are not a whole key, the only reference between them decides. It is empty if
// there is no relation.
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

// Owner maps each field of the key of an item's owner, an item of another entity, to the item's own field with its value (A is
// the item's, B the owner's): the one with the same name, or the one in a reference. by is the field of the reference, "" for
// equal names. The result is nil if the item does not identify its owner this way, and empty if there is one owner for all.
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

// Belongs is Owner by fields with the same names, or otherwise by the only reference from an entity to the other.
func Belongs(e, owner *Entity) []Join {
	if same := Owner(e, owner, ""); same != nil {
		return same
	}
	if by := namers(e, owner); len(by) == 1 {
		return Owner(e, owner, by[0])
	}
	return nil
}

// namers are the fields by which items of an entity refer to items of the other.
func namers(e, owner *Entity) []string {
	var out []string
	for _, r := range e.Refs {
		if len(r.To) == 1 && r.To[0].Entity == owner.Name {
			out = append(out, r.Field)
		}
	}
	return out
}

// whole is a whole key: the owner's field to which an item's field refers, if any, and fields with the same names for the
// rest.
func whole(e, owner *Entity, field, to string) []Join {
	out := []Join{} // empty if the key has no fields
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

// references are the references of either of two entities to the other.
func references(a, b *Entity) [][]Join {
	out := referred(a, b)
	for _, joins := range referred(b, a) {
		for i, j := range joins {
			joins[i] = Join{j.B, j.A}
		}
		out = append(out, joins)
	}
	return out
}

// referred are the references from one entity to another, each with the whole key of its target.
func referred(from, to *Entity) [][]Join {
	var out [][]Join
	for _, r := range from.Refs {
		for _, t := range r.To {
			if t.Entity != to.Name {
				continue
			}
			joins := []Join{{r.Field, t.Field}}
			for _, name := range keyFields(to) {
				if name != t.Field {
					joins = append(joins, Join{name, name})
				}
			}
			out = append(out, joins)
		}
	}
	return out
}

// unrelated explains why items of two entities are not related.
func unrelated(a, b *Entity) string {
	if n := len(references(a, b)); n > 1 {
		return "there are " + strconv.Itoa(n) + " references between them"
	}
	return "neither has a key field of the other, and neither refers to the other"
}

// NamedLike is the field that provides the values for a field or input with a name and type: the other entity's field to which
// fields with this name refer, or the field itself.
func (d *Design) NamedLike(name string, t Type) string {
	for range d.Entities { // a reference may lead to another one
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
