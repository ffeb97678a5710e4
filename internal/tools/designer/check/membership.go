package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// undeclared is ST411: items are in an index because they have the attributes of its key.
func (c *checker) undeclared(p plan.Place) {
	pk, sk := p.Attributes()
	keys := slices.Concat(pk, sk)
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	what, fix := "its items", "give the index key attributes of its own"
	switch {
	case p.Marker != nil:
		what = "its markers " + p.Marker.Name
	case p.Copy != nil:
		what = "its copies " + p.Copy.Name
	}
	if p.Marker == nil {
		fix = fmt.Sprintf("say so: index: { %s: {%s} }; or ", p.Name, declaration(p, keys)) + fix
	}
	if len(p.Optional) > 0 {
		what += " that have " + strings.Join(p.Optional, ", ")
	}
	if p.Where != nil {
		what += " for which \"" + p.Where.Text + "\" holds"
	}
	c.find("ST411", p.String(), p.Pos, "%s are in the index without the design saying so: they have its key, %s", what, strings.Join(names, " and ")).
		fix("%s", fix).report()
}

// otherType is ST402 of attributes that are no declared key: a field is stored in a key attribute of an index as another type
// than the key's, and DynamoDB refuses the item.
func (c *checker) otherType(e *design.Entity) {
	t := c.design.TableOf(e)
	for _, x := range t.Indexes {
		for _, k := range slices.Concat(x.PK, x.SK) {
			i := slices.IndexFunc(e.Fields, func(f *design.Field) bool { return f.Path[0] == k.Name })
			if i < 0 || e.Entry(x.Name) != nil || k == t.PK || t.SK != nil && k == *t.SK {
				continue // of a declared entry, scalar tells
			}
			f := e.Fields[i]
			if !f.Nested() && f.Type.Scalar() && f.Type.Kind != design.KindBool && f.Type.Key() == k.Type {
				continue
			}
			c.find("ST402", e.Name, f.Pos, "stores %s in %s, which is a key of index %s of type %s: DynamoDB refuses the item, whether it is meant to be there or not",
				f.Name, k.Name, x.Name, k.Type).fix("%s: { type: \"%s\", attr: … }", f.Name, f.Type).report()
		}
	}
}

// declaration is how a design names the entry: without templates where they are those of the primary key or fields as they are.
func declaration(p plan.Place, keys []design.KeyAttribute) string {
	t := p.Table
	plain := !slices.ContainsFunc(keys, func(k design.KeyAttribute) bool {
		own := k.Name == t.PK.Name || t.SK != nil && k.Name == t.SK.Name
		return !own && !slices.ContainsFunc(p.Entity.Fields, func(f *design.Field) bool { return !f.Nested() && f.Attribute() == k.Name })
	})
	if plain {
		return ""
	}
	list := func(templates []*design.Template) string {
		var out []string
		for _, t := range templates {
			out = append(out, strconv.Quote(t.Text))
		}
		if len(out) == 1 {
			return out[0]
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	out := " pk: " + list(p.PK)
	if len(p.SK) > 0 {
		out += ", sk: " + list(p.SK)
	}
	if p.Where != nil {
		out += ", where: " + strconv.Quote(p.Where.Text)
	}
	return out + " "
}
