package design

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// checker verifies the invariants in the package comment for a whole design, from any format.
type checker struct {
	*syntax.Faults
	design *Design
	// whole means that there were no errors before, so that anything missing was never declared.
	whole bool
}

func (c *checker) check() {
	d := c.design
	c.whole = len(c.List) == 0
	if d.Name == "" {
		c.missing(Pos{Line: 1, Column: 1}, "the design has no name")
	}
	if !isGoPackage(d.Go.Package) {
		c.Hint(c.At(&d.Go.Package, Pos{Line: 1, Column: 1}), "go: { package: shop }", "%q is not a valid Go package name", d.Go.Package)
	}
	if d.Tenant != "" && !slices.ContainsFunc(d.Entities, func(e *Entity) bool { return e.Field(d.Tenant) != nil }) {
		c.Hint(c.At(&d.Tenant, Pos{Line: 1, Column: 1}), "name a field, such as userId", "no entity has the tenant's field %q", d.Tenant)
	}
	c.types()
	c.tables()
	c.entities()
	c.persons()
	c.patterns()
	names := set{}
	for _, w := range d.Writes {
		c.name(names, "a write", w.Name, w.Pos)
		c.write(w)
	}
	c.flows()
	c.runs()
	c.races()
}

// missing reports something missing that a reader of the text would have reported in its own words.
func (c *checker) missing(p Pos, format string, args ...any) {
	if c.whole {
		c.Fault(p, format, args...)
	}
}

// set are the names of one kind seen so far.
type set map[string]bool

// name checks the name of something, and that it is unique within its kind.
func (c *checker) name(taken set, what, name string, p Pos) {
	switch {
	case !syntax.IsName(name):
		c.Fault(p, "%q is not a valid name for %s: use a letter, followed by letters, digits and _", name, what)
	case taken[name]:
		c.Fault(p, "the name %q is already in use", name)
	}
	taken[name] = true
}

// dynamoName checks the name of a table or an index, which follows DynamoDB's rules: it may have dashes and dots.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func (c *checker) dynamoName(taken set, what, name string, p Pos) {
	switch {
	case len(name) < 3 || len(name) > 255 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "":
		c.Fault(p, "%q is not a valid name for %s: use 3 to 255 letters, digits, _, - and .", name, what)
	case taken[name]:
		c.Fault(p, "the name %q is already in use", name)
	}
	taken[name] = true
}

// word checks that a word is a known one.
func (c *checker) word(s *string, otherwise Pos, known ...string) {
	if !slices.Contains(known, *s) {
		listed := strings.Join(slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" }), ", ")
		c.Hint(c.At(s, otherwise), cmp.Or(syntax.Suggestion(*s, known), "known: "+listed), "unknown value %q", *s)
	}
}

func (c *checker) accepted(list []Acceptance) {
	taken := set{}
	for _, a := range list {
		letters := strings.TrimRight(a.Rule, "0123456789")
		if len(letters) == len(a.Rule) || strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || letters == "" {
			c.Hint(a.Pos, "ST301: \"why this is right here\"", "%q is not the id of a finding", a.Rule)
		}
		if taken[a.Rule] {
			c.Fault(a.Pos, "%s is accepted twice", a.Rule)
		}
		if a.Reason == "" {
			c.missing(a.Pos, "accepting a finding needs a reason")
		}
		taken[a.Rule] = true
	}
}

// entity finds an entity; if there is none, it reports an error and returns nil.
func (c *checker) entity(name *string, otherwise Pos) *Entity {
	e := c.design.Entity(*name)
	switch {
	case e != nil:
	case *name == "":
		c.missing(otherwise, "the entity name is missing")
	default:
		c.Hint(c.At(name, otherwise), syntax.Suggestion(*name, namesIn(c.design.Entities, func(e *Entity) string { return e.Name })), "there is no entity %q", *name)
	}
	return e
}

// field finds a field; if there is none, it reports an error and returns nil. A missing entity has been reported.
func (c *checker) field(e *Entity, name string, p Pos) *Field {
	if e == nil {
		return nil
	}
	f := e.Field(name)
	if f == nil {
		c.Hint(p, syntax.Suggestion(name, namesIn(e.Fields, func(f *Field) string { return f.Name })), "%s has no field %q", e.Name, name)
	}
	return f
}

// fieldNames checks a list of fields, which must not repeat.
func (c *checker) fieldNames(e *Entity, list []string, otherwise Pos) {
	for i := range list {
		p := c.At(&list[i], otherwise)
		c.field(e, list[i], p)
		if slices.Contains(list[:i], list[i]) {
			c.Fault(p, "field %q is listed twice", list[i])
		}
	}
}

// path checks a path of a field: address.city. It returns the last field; nil if it is missing or unknown.
func (c *checker) path(e *Entity, path string, p Pos) *Field {
	names := PathSteps(path)
	f := c.field(e, names[0], p)
	for _, name := range names[1:] {
		if f == nil {
			return nil
		}
		t := f.Type
		if strings.HasPrefix(name, ":") {
			if t.Kind != KindMap || t.Elem == nil {
				c.Fault(p, "field %s is of type %s: a parameter, %s, can only stand for a map key", f.Name, f.Type, name)
				return nil
			}
			f = &Field{Name: name, Type: *t.Elem, Optional: true}
			continue
		}
		if strings.HasPrefix(name, "[") {
			if t.Kind != KindList || t.Elem == nil {
				c.Fault(p, "field %s has type %s, which has no elements", f.Name, f.Type)
				return nil
			}
			f = &Field{Name: f.Name + name, Type: *t.Elem, Optional: true} // the number of elements is unknown
			continue
		}
		for t.Kind == KindList && t.Elem != nil {
			t = *t.Elem
		}
		s := c.design.Struct(t.Name)
		switch {
		case t.Kind == KindMap && t.Elem != nil:
			f = &Field{Name: name, Type: *t.Elem, Optional: true} // the keys of maps are not declared
			continue
		case t.Kind != KindStruct || s == nil:
			c.Fault(p, "field %s has type %s, which has no part %q", f.Name, f.Type, name)
			return nil
		}
		f = find(s.Fields, func(f *Field) bool { return f.Name == name })
		if f == nil {
			c.Hint(p, syntax.Suggestion(name, namesIn(s.Fields, func(f *Field) string { return f.Name })), "%s has no field %q", s.Name, name)
		}
	}
	return f
}

// parameters say which parameters a condition or value may use.
type parameters uint8

const (
	noParams   parameters = iota
	paramsOnly            // :outcome
	lineParams            // :line.quantity as well
)

// condition checks that the fields of a condition belong to the entity.
func (c *checker) condition(e *Entity, cond *Condition, params parameters) {
	if cond == nil {
		return
	}
	for _, n := range cond.Names {
		p := c.Source.Within(cond.Pos, cond.Text, n.At)
		if n.Step() {
			if e != nil && e.Field(syntax.Steps(n.Field)[0]) != nil {
				c.path(e, n.Field, p)
			}
			continue
		}
		c.field(e, n.Field, p)
	}
	for _, name := range cond.Params() {
		c.param(name, cond.Pos, params)
	}
}

func (c *checker) param(name string, p Pos, params parameters) {
	root, field, _ := strings.Cut(name, ".")
	switch {
	case params == noParams:
		c.Hint(p, "compare it with a literal", "this condition is fixed for each item: it cannot depend on the parameter :%s", name)
	case root == "line" && params != lineParams:
		c.Hint(p, "each: lines", ":%s belongs to a line, but the step is not repeated for lines", name)
	case root == "line" && field == "":
		c.Hint(p, ":line.quantity", ":line is a line, not one of its values")
	}
}

// namesIn are the names of the members of a list.
func namesIn[T any](list []*T, name func(*T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = name(x)
	}
	return out
}
