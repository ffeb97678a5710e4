package design

import (
	"slices"
	"strings"
)

// maxTypeDepth bounds list<list<…>>.
const maxTypeDepth = 8

func (c *checker) types() {
	names := set{}
	reserved := []string{string(KindEnum), string(KindStruct), string(KindList), string(KindSet), string(KindMap)}
	for _, k := range simpleKinds() {
		reserved = append(reserved, string(k))
	}
	typeName := func(name string, p Pos) {
		c.name(names, "a type", name, p)
		if slices.Contains(reserved, name) {
			c.Fault(p, "%q is a built-in type and cannot be redeclared", name)
		}
	}
	for _, e := range c.design.Enums {
		typeName(e.Name, e.Pos)
		if len(e.Values) == 0 {
			c.Hint(e.Pos, "{ enum: [open, closed] }", "enum %s has no values", e.Name)
		}
		for i, v := range e.Values {
			switch {
			case v == "":
				c.missing(e.Pos, "enum %s has an empty value", e.Name)
			case slices.Contains(e.Values[:i], v):
				c.Fault(c.At(&e.Values[i], e.Pos), "%q is listed twice in %s", v, e.Name)
			}
		}
	}
	for _, s := range c.design.Structs {
		typeName(s.Name, s.Pos)
		if len(s.Fields) == 0 {
			c.Hint(s.Pos, "{ fields: { city: text } }", "struct %s has no fields", s.Name)
		}
		c.fields(s.Fields)
	}
	for _, s := range c.design.Structs {
		if inner := c.holds(s, s.Name, map[string]bool{}); inner != "" {
			c.Hint(s.Pos, "make the field optional, or a list", "struct %s contains itself without end, in field %s", s.Name, inner)
		}
	}
}

// holds returns the field through which a structure always contains another; "" if there is none.
func (c *checker) holds(s *Struct, name string, met map[string]bool) string {
	met[s.Name] = true
	for _, f := range s.Fields {
		if f.Optional || f.Type.Kind != KindStruct {
			continue
		}
		inner := c.design.Struct(f.Type.Name)
		if f.Type.Name == name || inner != nil && !met[inner.Name] && c.holds(inner, name, met) != "" {
			return f.Name
		}
	}
	return ""
}

// fields checks names, types and places of the fields of an entity, structure or write.
func (c *checker) fields(list []*Field) {
	names := set{}
	for _, f := range list {
		c.name(names, "a field", f.Name, f.Pos)
		switch {
		case conditionKeyword(f.Name), f.Name == "true", f.Name == "false", f.Name == "null":
			c.Hint(f.Pos, "use another name, with attr: "+f.Name, "a field named %q could not be used in a condition", f.Name)
		}
		c.typeOf(&f.Type, f.Pos, 0)
		switch text := slices.Contains([]Kind{KindText, KindSecret, KindBytes}, f.Type.Kind); {
		case f.MinBytes < 0 || f.MaxBytes < 0:
			c.Fault(f.Pos, "field %s has a bound below 0", f.Name)
		case f.MinBytes > 0 && !text:
			c.Hint(f.Pos, f.Name+": { type: text, min: 1 }", "field %s has type %s: min is for text, secret and bytes only", f.Name, f.Type)
		case f.MaxBytes > 0 && f.MinBytes > f.MaxBytes:
			c.Fault(f.Pos, "field %s has a max below its min", f.Name)
		}
		c.stored(f)
	}
	for i, f := range list {
		for _, other := range list[:i] {
			if n := min(len(f.Path), len(other.Path)); n > 0 && slices.Equal(f.Path[:n], other.Path[:n]) {
				c.Fault(f.Pos, "fields %s and %s are stored in the same place, %s", other.Name, f.Name, strings.Join(f.Path[:n], "."))
			}
		}
	}
}

// stored checks the path of a field.
func (c *checker) stored(f *Field) {
	if len(f.Path) == 0 {
		c.missing(f.Pos, "field %s has no path", f.Name)
		return
	}
	for _, step := range f.Path {
		if step == "" || len(step) > 255 || strings.ContainsAny(step, "[]") {
			c.Hint(c.At(&f.Path[0], f.Pos), "at: data.nombre", "%q is not a valid path into an item", strings.Join(f.Path, "."))
			return
		}
	}
}

// typeOf checks a type that may come from JSON.
func (c *checker) typeOf(t *Type, p Pos, depth int) {
	generic := t.Kind == KindList || t.Kind == KindSet || t.Kind == KindMap
	var known bool
	switch t.Kind {
	case KindEnum:
		known = c.design.Enum(t.Name) != nil
	case KindStruct:
		known = c.design.Struct(t.Name) != nil
	default:
		known = t.Name == "" && (generic || slices.Contains(simpleKinds(), t.Kind))
	}
	switch {
	case !known || generic != (t.Elem != nil) || depth > maxTypeDepth:
		c.missing(p, "there is no type %q", strings.TrimSpace(string(t.Kind)+" "+t.Name))
	case t.Kind == KindSet && (!t.Elem.Scalar() || t.Elem.Kind == KindBool):
		c.Hint(p, "list<"+t.Elem.String()+">", "a set can hold texts, numbers or bytes, not %s", t.Elem)
	case generic:
		c.typeOf(t.Elem, p, depth+1)
	}
}
