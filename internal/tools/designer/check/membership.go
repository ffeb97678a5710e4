package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// undeclared checks ST411: items are in an index merely because they have its key attributes.
func (c *checker) undeclared(p plan.Place) {
	pk, sk := p.Attributes()
	keys := slices.Concat(pk, sk)
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	what, fix := "its items", "give the index dedicated key attributes"
	switch {
	case p.Marker != nil:
		what = "its markers " + p.Marker.Name
	case p.Copy != nil:
		what = "its copies " + p.Copy.Name
	}
	if p.Marker == nil {
		fix = fmt.Sprintf("declare it: index: { %s: {%s} }; or ", p.Name, declaration(p, keys)) + fix
	}
	if len(p.Optional) > 0 {
		what += " that have " + strings.Join(p.Optional, ", ")
	}
	if p.Where != nil {
		what += " with \"" + p.Where.Text + "\""
	}
	c.find("ST411", p.String(), p.Pos, "%s are in the index although the design does not declare it: they have its key attributes, %s", what, strings.Join(names, " and ")).
		fix("%s", fix).report()
}

// otherType checks ST402 for entities without an entry in the index: a field is stored in a key attribute of the index
// with another type, so DynamoDB rejects the item.
func (c *checker) otherType(e *design.Entity) {
	t := c.design.TableOf(e)
	for _, x := range t.Indexes {
		for _, k := range slices.Concat(x.PK, x.SK) {
			i := slices.IndexFunc(e.Fields, func(f *design.Field) bool { return f.Path[0] == k.Name })
			if i < 0 || e.Entry(x.Name) != nil || k == t.PK || t.SK != nil && k == *t.SK {
				continue // scalar checks declared entries
			}
			f := e.Fields[i]
			if !f.Nested() && f.Type.Scalar() && f.Type.Kind != design.KindBool && f.Type.Key() == k.Type {
				continue
			}
			c.find("ST402", e.Name, f.Pos, "stores %s in %s, which is a key of index %s with type %s: DynamoDB rejects the item, whether or not it is meant to be in the index",
				f.Name, k.Name, x.Name, k.Type).fix("%s: { type: \"%s\", attr: … }", f.Name, f.Type).report()
		}
	}
}

// declaration returns how a design declares the entry, without templates if the key attributes are plain fields or those
// of the primary key.
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
