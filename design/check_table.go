package design

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// maxKeyAttributes is the maximum number of attributes in a multi-attribute key of an index.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
const maxKeyAttributes = 4

func (c *checker) tables() {
	names := set{}
	if len(c.design.Tables) == 0 {
		c.missing(Pos{Line: 1, Column: 1}, "the design has no tables")
	}
	for _, t := range c.design.Tables {
		c.dynamoName(names, "a table", t.Name, t.Pos)
		c.physical(t)
		c.word((*string)(&t.Naming), t.Pos, string(NamingAsIs), string(NamingSnake))
		c.word((*string)(&t.Billing), t.Pos, string(OnDemand), string(Provisioned))
		c.word(&t.Stream, t.Pos, "", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
		c.accepted(t.Accept)
		c.tableKey(t)
		indexes := set{}
		for _, x := range t.Indexes {
			c.dynamoName(indexes, "an index", x.Name, x.Pos)
			c.accepted(x.Accept)
			c.index(t, x)
			c.projection(t, x)
		}
		c.keyTypes(t)
	}
}

// physical checks a table's real name, in which the deployment replaces {stage}.
func (c *checker) physical(t *Table) {
	if t.Physical == t.Name {
		return // which is checked
	}
	name, p := t.Physical, c.At(&t.Physical, t.Pos)
	for name != "" {
		before, rest, open := strings.Cut(name, "{")
		hole, after, closed := strings.Cut(rest, "}")
		if strings.Contains(before, "}") || open && (!closed || !syntax.IsName(hole)) {
			c.Hint(p, "name: \"shop-{stage}\"", "the table name %q has malformed placeholders", t.Physical)
			return
		}
		name = after
	}
	filled := strings.NewReplacer("{", "", "}", "").Replace(t.Physical)
	c.dynamoName(set{}, "a table", filled, p)
}

func (c *checker) tableKey(t *Table) {
	if t.PK.Name == "" {
		c.missing(t.Pos, "table %s has no partition key", t.Name)
		return
	}
	if t.SK != nil && t.SK.Name == t.PK.Name {
		c.Fault(c.At(&t.SK.Name, t.Pos), "%s is both partition key and sort key of table %s", t.PK.Name, t.Name)
	}
	for _, other := range []*string{&t.TypeAttr, &t.TTLAttr} {
		if *other == t.PK.Name || t.SK != nil && *other == t.SK.Name {
			c.Fault(c.At(other, t.Pos), "attribute %s is in the key of table %s and cannot have a second purpose", *other, t.Name)
		}
	}
	if t.TypeAttr != "" && t.TypeAttr == t.TTLAttr {
		c.Fault(c.At(&t.TTLAttr, t.Pos), "attribute %s holds the type and cannot also hold the expiry time", t.TTLAttr)
	}
}

func (c *checker) index(t *Table, x *Index) {
	switch {
	case len(x.PK) == 0:
		c.Hint(x.Pos, "pk: "+x.Name+"PK", "index %s has no partition key", x.Name)
	case len(x.PK) > maxKeyAttributes || len(x.SK) > maxKeyAttributes:
		c.Fault(x.Pos, "index %s has more than %d partition or sort key attributes", x.Name, maxKeyAttributes)
	case x.Local && (t.SK == nil || x.PK[0].Name != t.PK.Name || len(x.PK) != 1 || len(x.SK) != 1):
		c.Hint(x.Pos, "{ local: true, sk: createdAt }", "a local index needs a table with a sort key: it has the table's partition key and one sort key of its own")
	}
	taken := set{}
	for _, k := range slices.Concat(x.PK, x.SK) {
		if taken[k.Name] {
			c.Fault(x.Pos, "attribute %s appears twice in the key of index %s", k.Name, x.Name)
		}
		taken[k.Name] = true
	}
}

// keyTypes checks names and types of key attributes: an attribute has the same type in all keys of a table.
func (c *checker) keyTypes(t *Table) {
	types := map[string]KeyType{}
	for _, k := range t.keyAttributes() {
		p := c.At(&k.Name, t.Pos)
		switch {
		case k.Name == "":
			c.missing(p, "a key attribute has no name")
		case len(k.Name) > 255 || strings.ContainsAny(k.Name, "{}#\"\n"):
			c.Fault(p, "%q is not a valid name for a key attribute", k.Name)
		case k.Type != KeyString && k.Type != KeyNumber && k.Type != KeyBinary:
			c.Hint(p, k.Name+":N", "a key attribute must have type S, N or B, not %q", k.Type)
		case types[k.Name] != "" && types[k.Name] != k.Type:
			c.Fault(p, "key attribute %s has type %s here and %s in another key of the table", k.Name, k.Type, types[k.Name])
		}
		types[k.Name] = k.Type
	}
}

// projection checks that each projected field belongs to some entity.
func (c *checker) projection(t *Table, x *Index) {
	project := &x.Project
	if project.All && len(project.Fields) > 0 {
		c.Fault(x.Pos, "index %s projects both all fields and a list of fields", x.Name)
	}
	var known []string
	for _, e := range c.design.Entities {
		if e.Table == t.Name {
			known = append(known, namesIn(e.Fields, func(f *Field) string { return f.Name })...)
		}
	}
	for i, name := range project.Fields {
		p := c.At(&project.Fields[i], x.Pos)
		switch {
		case name == "all" || name == "keys":
			c.Hint(p, "project: "+name, "%s cannot be in a list of fields", name)
		case !slices.Contains(known, name):
			c.Hint(p, syntax.Suggestion(name, known), "index %s projects %q, which is not a field of any entity in the table", x.Name, name)
		case slices.Contains(project.Fields[:i], name):
			c.Fault(p, "field %q is listed twice", name)
		}
	}
}
