package generate

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
)

// codec is the expression for a type's codec.
func (m *model) codec(t design.Type) string {
	switch t.Kind {
	case design.KindSecret:
		return "table.Hidden()"
	case design.KindInt, design.KindMoney:
		return "table.Int()"
	case design.KindDecimal:
		return "table.Number()"
	case design.KindBool:
		return "table.Bool()"
	case design.KindTime:
		return "table.Time()"
	case design.KindDate:
		return "table.Day()"
	case design.KindTTL:
		return "table.Seconds()"
	case design.KindBytes:
		return "table.Binary()"
	case design.KindStruct:
		return m.structure(t.Name).codec + "()"
	case design.KindList:
		return "table.ListOf(" + m.codec(*t.Elem) + ")"
	case design.KindSet:
		return "table.SetOf(" + m.codec(*t.Elem) + ")"
	case design.KindMap:
		return "table.MapOf(" + m.codec(*t.Elem) + ")"
	default:
		return "table.Text[" + m.goType(t) + "]()"
	}
}

func (m *model) printCodecs(s *source) {
	for _, x := range m.structs {
		if x.run != nil {
			m.printStructCodec(s, x)
		}
	}
	for _, e := range m.entities {
		s.print("// values are the entity's, by the names of its fields.")
		m.printValues(s, e.Go, e.members)
		m.printDecode(s, e.typed, e.Name)
		for _, p := range e.parts {
			m.printDecode(s, p.typed, p.entity)
		}
	}
	for _, r := range m.reads {
		if r.result.own {
			m.printDecode(s, *r.result.typed, r.Design.Entity)
		}
		if r.input != "" {
			m.printReadInput(s, r)
		}
	}
	for _, c := range m.collections {
		for _, x := range c.members {
			if x.own {
				m.printDecode(s, *x.typed, x.entity.Name)
			}
		}
		m.printCollectionDecode(s, c)
		if c.input != "" {
			m.printInput(s, c.input, c.inputs)
		}
	}
	for _, w := range m.writes {
		if w.line != "" {
			s.print("// values are the line's inputs, by their names.")
			m.printValues(s, w.line, w.lines)
		}
		if w.input != "" {
			m.printWriteInput(s, w)
		}
	}
}

// printValues prints the method that converts a struct to Values.
func (m *model) printValues(s *source, name string, list []member) {
	s.print("func (x %s) values() table.Values {\nv := table.Values{}", name)
	for _, x := range list {
		m.printSet(s, "v", x.Name, "x."+x.Go, x)
	}
	s.print("return v\n}\n")
}

// printSet prints a statement that sets a named value.
func (m *model) printSet(s *source, v, name, from string, x member) {
	codec := m.codec(x.Type)
	switch {
	case x.Removable:
		s.print("table.SetPatch(%s, %q, %s, %s)", v, name, codec, from)
	case x.Prefix:
		s.print("if %s != \"\" {\ntable.Set(%s, %q, %s, %s)\n}", from, v, name, codec, from)
	case x.Emptied:
		s.print("if %s != nil {\ntable.SetPatch(%s, %q, %s, table.SetTo(%s))\n}", from, v, name, codec, from)
	case x.Optional && nilable(x.Type):
		s.print("if %s != nil {\ntable.Set(%s, %q, %s, %s)\n}", from, v, name, codec, from)
	case x.Optional:
		s.print("table.SetOptional(%s, %q, %s, %s)", v, name, codec, from)
	default:
		s.print("table.Set(%s, %q, %s, %s)", v, name, codec, from)
	}
}

// printDecode prints the function that converts Values to a struct.
func (m *model) printDecode(s *source, t typed, entity string) {
	s.print("func %s(v table.Values) (%s, error) {\nd := table.Decode(%q, v)", t.decode, t.Go, entity)
	s.print("x := %s{", t.Go)
	for _, x := range t.members {
		m.printGet(s, x.Name, x)
	}
	s.print("}")
	m.printLate(s, t.members, func(x member) string { return x.Name })
	s.print("return x, d.Err()\n}\n")
}

// printGet prints a field of a composite literal, unless its value must be decoded later.
func (m *model) printGet(s *source, name string, x member) {
	switch {
	case late(x):
	case x.Optional:
		s.print("%s: table.GetOptional(d, %q, %s),", x.Go, name, m.codec(x.Type))
	default:
		s.print("%s: table.Get(d, %q, %s),", x.Go, name, m.codec(x.Type))
	}
}

// late reports whether a value is decoded after the composite literal: an absent one must be nil, not empty.
func late(x member) bool { return x.Optional && nilable(x.Type) }

func (m *model) printLate(s *source, list []member, name func(member) string) {
	for _, x := range list {
		if late(x) {
			s.print("if p := table.GetOptional(d, %q, %s); p != nil {\nx.%s = *p\n}", name(x), m.codec(x.Type), x.Go)
		}
	}
}

// printStructCodec prints a structure's codec: its fields are stored in a map.
func (m *model) printStructCodec(s *source, x *structModel) {
	s.print("func %s() table.Codec[%s] {\nreturn table.Struct(%s.values, %s)\n}\n", x.codec, x.Go, x.Go, x.decode)
	s.print("// values are the structure's fields, as they are stored.")
	s.print("func (x %s) values() table.Values {\nv := table.Values{}", x.Go)
	m.printInner(s, x.members, 0, "v")
	s.print("return v\n}\n")
	s.print("func %s(d *table.Decoder) %s {\nx := %s{", x.decode, x.Go, x.Go)
	for _, f := range x.members {
		if len(f.Path) == 1 {
			m.printGet(s, f.Path[0], f)
		}
	}
	s.print("}")
	m.printOuter(s, x.members, 0)
	s.print("return x\n}\n")
}

// printInner prints the statements that store a structure's fields; fields with a deeper path get their own map.
func (m *model) printInner(s *source, list []member, depth int, v string) {
	for _, x := range list {
		if len(x.Path) == depth+1 {
			m.printSet(s, v, x.Path[depth], "x."+x.Go, x)
		}
	}
	for _, g := range groups(list, depth) {
		inner := fmt.Sprintf("v%d", depth+1)
		s.print("{\n%s := table.Values{}", inner)
		m.printInner(s, g.members, depth+1, inner)
		s.print("if len(%s) > 0 {\n%s[%q] = &types.AttributeValueMemberM{Value: %s}\n}\n}", inner, v, g.step, inner)
	}
}

// printOuter prints the statements after the composite literal of a structure.
func (m *model) printOuter(s *source, list []member, depth int) {
	for _, x := range list {
		switch {
		case len(x.Path) != depth+1, depth == 0 && !late(x):
		case late(x):
			m.printLate(s, []member{x}, func(x member) string { return x.Path[depth] })
		case x.Optional:
			s.print("x.%s = table.GetOptional(d, %q, %s)", x.Go, x.Path[depth], m.codec(x.Type))
		default:
			s.print("x.%s = table.Get(d, %q, %s)", x.Go, x.Path[depth], m.codec(x.Type))
		}
	}
	for _, g := range groups(list, depth) {
		get := "Get"
		if !slices.ContainsFunc(g.members, func(x member) bool { return !x.Optional && x.Type.Elem == nil }) {
			get = "GetOptional"
		}
		s.print("table.%s(d, %q, table.Struct(nil, func(d *table.Decoder) struct{} {", get, g.step)
		m.printOuter(s, g.members, depth+1)
		s.print("return struct{}{}\n}))")
	}
}

// group is a set of members stored in one map within the structure's map.
type group struct {
	step    string
	members []member
}

func groups(list []member, depth int) []group {
	var out []group
	for _, x := range list {
		if len(x.Path) <= depth+1 {
			continue
		}
		i := slices.IndexFunc(out, func(g group) bool { return g.step == x.Path[depth] })
		if i < 0 {
			i = len(out)
			out = append(out, group{step: x.Path[depth]})
		}
		out[i].members = append(out[i].members, x)
	}
	return out
}

// printInput prints the method that converts a pattern's input to the runtime's.
func (m *model) printInput(s *source, name string, list []member, more ...string) {
	s.print("func (in %s) input() table.Input {\nv := table.Values{}", name)
	for _, x := range list {
		m.printSet(s, "v", x.Name, "in."+x.Go, x)
	}
	if len(more) == 0 {
		s.print("return table.Input{Values: v}\n}\n")
		return
	}
	s.print("input := table.Input{Values: v}")
	for _, line := range more {
		s.print("%s", line)
	}
	s.print("return input\n}\n")
}

func (m *model) printReadInput(s *source, r *readModel) {
	var more []string
	if r.Range != nil {
		codec := m.codec(r.Range.Type)
		for _, bound := range [][2]string{{"From", r.from}, {"To", r.to}} {
			more = append(more, fmt.Sprintf("if in.%s != nil {\ninput.%s = %s.Encode(*in.%s)\n}", bound[1], bound[0], codec, bound[1]))
		}
	}
	m.printInput(s, r.input, r.inputs, more...)
}

func (m *model) printWriteInput(s *source, w *writeModel) {
	var more []string
	if w.line != "" {
		more = append(more, "for _, line := range in.Lines {\ninput.Lines = append(input.Lines, line.values())\n}")
	}
	m.printInput(s, w.input, w.inputs, more...)
}

func (m *model) printCollectionDecode(s *source, c *collectionModel) {
	s.print("func %s(found []table.Found) (%s, error) {\nvar result %s\nfor _, f := range found {\nswitch f.Member {", c.decode, c.result, c.result)
	for i, x := range c.members {
		s.print("case %d:\nx, err := %s(f.Values)\nif err != nil {\nreturn %s{}, err\n}", i, x.decode, c.result)
		switch {
		case i != c.Run.Root:
			s.print("result.%s = append(result.%s, x)", x.field, x.field)
		case c.Run.Page > 0:
			s.print("result.%s = &x", x.field)
		default:
			s.print("result.%s = x", x.field)
		}
	}
	s.print("}\n}\nreturn result, nil\n}\n")
}
