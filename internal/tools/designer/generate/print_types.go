package generate

import (
	"fmt"
	"strings"

	"github.com/monotable/monotable/design"
)

// goType is the Go type of values of a type.
func (m *model) goType(t design.Type) string {
	switch t.Kind {
	case design.KindInt, design.KindMoney:
		return "int64"
	case design.KindDecimal:
		return "table.Decimal"
	case design.KindBool:
		return "bool"
	case design.KindTime, design.KindTTL:
		return "time.Time"
	case design.KindDate:
		return "table.Date"
	case design.KindBytes:
		return "[]byte"
	case design.KindSecret:
		return "table.Secret"
	case design.KindEnum:
		return m.enum(t.Name).Go
	case design.KindStruct:
		return m.structure(t.Name).Go
	case design.KindList, design.KindSet:
		return "[]" + m.goType(*t.Elem)
	case design.KindMap:
		return "map[string]" + m.goType(*t.Elem)
	default:
		return "string"
	}
}

// nilable reports whether an absent value of the type is nil in Go; other types use a pointer.
func nilable(t design.Type) bool {
	return t.Elem != nil || t.Kind == design.KindBytes
}

// goField is the type of a member.
func (m *model) goField(x member) string {
	if x.Removable {
		return "table.Patch[" + m.goType(x.Type) + "]"
	}
	if x.Optional && !nilable(x.Type) {
		return "*" + m.goType(x.Type)
	}
	return m.goType(x.Type)
}

// printStruct prints a struct of members, followed by additional fields.
func (m *model) printStruct(s *source, name string, list []member, more ...string) {
	s.print("type %s struct {", name)
	for _, x := range list {
		s.comment(x.Doc)
		s.print("%s %s", x.Go, m.goField(x))
	}
	for _, line := range more {
		s.print("%s", line)
	}
	s.print("}\n")
}

func (m *model) printTypes(s *source) {
	for _, e := range m.enums {
		m.printEnum(s, e)
	}
	for _, x := range m.structs {
		s.comment(named(x.Go, "is a struct, stored as one map.", x.Doc))
		m.printStruct(s, x.Go, x.members)
	}
	for _, e := range m.entities {
		s.comment(append([]string{named(e.Go, "is an item of table "+e.Table+".", e.Doc)}, m.keysOf(e))...)
		m.printStruct(s, e.Go, e.members)
		s.print("// Record is the item for DB.Load.")
		s.print("func (x %s) Record() table.Record {\nreturn table.Record{Entity: %s, Values: x.values()}\n}\n", e.Go, e.variable)
	}
}

func (m *model) printEnum(s *source, e *enumModel) {
	s.comment(named(e.Go, "is one of the values below.", e.Doc))
	s.print("type %s string\n", e.Go)
	s.print("// The values of %s.", e.Go)
	s.print("const (")
	for i, v := range e.Values {
		s.print("%s %s = %q", e.constants[i], e.Go, v)
	}
	s.print(")\n")
	s.print("// Valid reports whether the value is one of the design's.")
	s.print("func (x %s) Valid() bool {\nswitch x {\ncase %s:\nreturn true\ndefault:\nreturn false\n}\n}\n", e.Go, strings.Join(e.constants, ",\n"))
}

// keysOf are the templates of an entity's keys, as a block.
func (m *model) keysOf(e *entityModel) string {
	var rows [][2]string
	key := func(name string, k design.Key) {
		text := k.PK.Text
		if k.SK != nil {
			text += " / " + k.SK.Text
		}
		rows = append(rows, [2]string{name, text})
	}
	key("key", e.Key)
	for _, c := range e.Copies {
		key(c.Name, c.Key)
	}
	for _, x := range e.Entries {
		var texts []string
		for _, t := range append(append([]*design.Template{}, x.PK...), x.SK...) {
			texts = append(texts, t.Text)
		}
		name, text := x.Place(), strings.Join(texts, " / ")
		if x.Of != "" {
			name += " of " + x.Of
		}
		if x.Where != nil {
			text += ", where " + x.Where.Text
		}
		rows = append(rows, [2]string{name, text})
	}
	for _, u := range e.Unique {
		key(u.Name, u.Key)
	}
	return block(rows)
}

// block formats rows of two columns as code lines in a comment.
func block(rows [][2]string) string {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	var out strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&out, "\t%-*s  %s\n", width, r[0], strings.Join(strings.Fields(r[1]), " "))
	}
	return out.String()
}

// named is the first paragraph of a comment, which starts with the name, and the design's own description.
func named(name, what, doc string) string {
	out := name + " " + what
	if doc != "" {
		out += "\n\n" + doc
	}
	return out
}
