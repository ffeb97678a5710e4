package check

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
)

// collide checks ST101 and, in indexes of a table without a type attribute, ST110. It reports whether it found a collision.
func (c *checker) collide(a, b keyed) bool {
	if a.Table != b.Table || a.Index != b.Index {
		return false
	}
	same, found := keylang.Collide(a.key(), b.key())
	if !found {
		return false
	}
	rule, message := "ST101", "can have the same primary key as %s, and would overwrite it"
	if a.Index != nil {
		if a.Table.TypeAttr != "" || a.Entity == b.Entity {
			return false
		}
		rule, message = "ST110", "can have the same index key as %s, and the table has no type_attr to tell them apart"
	}
	f := c.find(rule, b.String()+"+"+a.String(), b.PK[0].Pos, message, a).fix("start one of the keys with a literal of its own")
	if !slices.Contains(same.Key, "") || same.Certain {
		f.witness("both can be " + quoted(same.Key))
	}
	f.unless(same.Certain).report()
	return true
}

// clash checks ST110 for partitions: the same partition key can result from values with different meanings, such as an
// e-mail address and an ID, so that unrelated items share a partition. Each pair of templates is reported once.
func (c *checker) clash(seen map[string]bool, a, b keyed) {
	if a.Table != b.Table || a.Index != b.Index || a.Entity == b.Entity || len(a.pk) != len(b.pk) {
		return
	}
	pair := a.Table.Name + " " + a.Name + " " + a.PK[0].Text + " " + b.PK[0].Text
	if seen[pair] || sameMeaning(a, b) {
		return
	}
	key, certain := make([]string, len(a.pk)), true
	for i := range a.pk {
		w, found := keylang.Intersect(a.pk[i].Language(), b.pk[i].Language())
		if !found {
			return
		}
		key[i], certain = w.Text, certain && w.Certain
	}
	seen[pair] = true
	f := c.find("ST110", b.String()+"+"+a.String(), b.PK[0].Pos, "has the partition key %q, which can equal %q of %s although the values mean different things",
		b.PK[0].Text, a.PK[0].Text, a).fix("start one of the keys with a literal of its own")
	if !slices.Contains(key, "") {
		f.witness("both can be in the partition " + quoted(key))
	}
	if a.Table.TypeAttr != "" {
		f.as(Warning) // the type attribute tells the items apart
	}
	f.unless(certain).report()
}

// sameMeaning reports whether two partition keys are built alike: from the same literals, and from fields with the same
// name or type. All kinds of identifiers count as one type.
func sameMeaning(a, b keyed) bool {
	for i := range a.PK {
		x, y := a.PK[i].Parts, b.PK[i].Parts
		if len(x) != len(y) {
			return false
		}
		for n := range x {
			f, g := a.Entity.Field(x[n].Field), b.Entity.Field(y[n].Field)
			switch {
			case x[n].Literal != y[n].Literal || (f == nil) != (g == nil):
				return false
			case f != nil && f.Name != g.Name && meaning(f.Type) != meaning(g.Type):
				return false
			}
		}
	}
	return true
}

func meaning(t design.Type) string {
	switch t.Kind {
	case design.KindUUID, design.KindULID, design.KindKSUID:
		return string(design.KindID)
	default:
		return t.String()
	}
}
