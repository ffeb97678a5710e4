// Package align writes a design in the names of another one, so that the two can be compared by what they store.
//
// Most names of a design are not stored: a table has its real name, a field its attribute, an entity the value of the type
// attribute or otherwise its key. Copies, markers and entries are known by their keys, types by the fields that have them.
// What both designs store in the same place is the same thing, whatever it is called; only what has no counterpart there is
// matched by its name.
//
// The result has tables, types and entities, but no patterns: their names, parameters and results are names in code. Read and
// Write translate what they do with stored data. The result is not complete enough to generate code from it.
package align

import (
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// Names are a design in the names of another one.
type Names struct {
	// Design is the design in the other's names. It is the original if no name differs.
	Design  *design.Design
	aligner *aligner
}

// Was is the original name of a table, type, entity, field, copy, marker or entry of the design; "" if it is the same.
func (n *Names) Was(x any) string { return n.aligner.was[x] }

// Original is like Was, for an entry whose original name may be "".
func (n *Names) Original(x any) (name string, renamed bool) {
	name, renamed = n.aligner.was[x]
	return name, renamed
}

// aligner has the new names of the objects of a design.
type aligner struct {
	from, to *design.Design
	suffix   string
	partners map[*design.Entity]*design.Entity
	tables   map[*design.Table]string
	entities map[*design.Entity]string
	fields   map[*design.Field]string
	types    map[string]string
	was      map[any]string // the original names of objects with another one
}

// To writes a design in the names of another. The suffix distinguishes names that mean something else in the other design.
func To(from, to *design.Design, suffix string) *Names {
	a := &aligner{
		from: from, to: to, suffix: suffix, fields: map[*design.Field]string{}, types: map[string]string{}, was: map[any]string{},
	}
	tables := paired(from.Tables, to.Tables, tableName, func(x, y *design.Table) bool { return x.Physical == y.Physical })
	a.tables = names(from.Tables, to.Tables, tables, tableName, suffix)
	at := func(x, y *design.Entity) bool { return a.tables[from.TableOf(x)] == y.Table }
	a.partners = paired(from.Entities, to.Entities, entityName, func(x, y *design.Entity) bool {
		if x.TypeValue != "" && y.TypeValue != "" {
			return at(x, y) && x.TypeValue == y.TypeValue
		}
		return at(x, y) && storedKey(x) == storedKey(y)
	}, func(x, y *design.Entity) bool { return at(x, y) && storedKey(x) == storedKey(y) })
	a.entities = names(from.Entities, to.Entities, a.partners, entityName, suffix)
	seen := map[string]bool{}
	for _, e := range from.Entities {
		if n := a.partners[e]; n != nil {
			a.pairFields(e.Fields, n.Fields, seen)
		}
	}
	for _, s := range from.Structs {
		if n := to.Struct(s.Name); n != nil && !seen[s.Name] {
			seen[s.Name] = true
			a.pairFields(s.Fields, n.Fields, seen)
		}
	}
	out := a.design()
	if len(a.was) == 0 {
		out = from
	}
	return &Names{Design: out, aligner: a}
}

func tableName(t *design.Table) string   { return t.Name }
func entityName(e *design.Entity) string { return e.Name }
func fieldName(f *design.Field) string   { return f.Name }

// paired matches objects: those that are the same, preferably with the same name, then those with the same name, then those
// that are alike in another way.
func paired[T any](from, to []*T, name func(*T) string, same func(a, b *T) bool, alike ...func(a, b *T) bool) map[*T]*T {
	called := func(a, b *T) bool { return name(a) == name(b) }
	both := func(a, b *T) bool { return called(a, b) && same(a, b) }
	out, taken := map[*T]*T{}, map[*T]bool{}
	for _, is := range append([]func(a, b *T) bool{both, same, called}, alike...) {
		for _, a := range from {
			for _, b := range to {
				if out[a] == nil && !taken[b] && is(a, b) {
					out[a], taken[b] = b, true
				}
			}
		}
	}
	return out
}

// names are the names of the objects of the first list: those of their partners, otherwise their own, with the suffix if
// that name means something else.
func names[T any](from, to []*T, partners map[*T]*T, name func(*T) string, suffix string) map[*T]string {
	out, used := map[*T]string{}, map[string]bool{}
	for _, b := range to {
		used[name(b)] = true
	}
	for _, a := range from {
		if b := partners[a]; b != nil {
			out[a] = name(b)
		}
	}
	for _, a := range from {
		if partners[a] != nil {
			continue
		}
		own := name(a)
		for used[own] {
			own += suffix
		}
		out[a], used[own] = own, true
	}
	return out
}

// storedKey is an entity's key with the places where fields are stored instead of their names.
func storedKey(e *design.Entity) string {
	place := func(name string) string {
		if f := e.Field(name); f != nil {
			return strings.Join(f.Path, ".")
		}
		return name
	}
	out := rewritten(e.Key.PK, place)
	if e.Key.SK != nil {
		out += "\x00" + rewritten(e.Key.SK, place)
	}
	return out
}

// rewritten is the text of a template with other names.
func rewritten(t *design.Template, name func(string) string) string {
	var out strings.Builder
	for _, p := range t.Parts {
		if p.Field == "" {
			out.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(p.Literal))
			continue
		}
		out.WriteString("{" + name(p.Field))
		for _, f := range p.Funcs {
			out.WriteString("|" + f.String())
		}
		out.WriteString("}")
	}
	return out.String()
}

// pairFields names fields like those that are stored at the same place, and their types like those fields' types.
func (a *aligner) pairFields(from, to []*design.Field, seen map[string]bool) {
	partners := paired(from, to, fieldName, func(x, y *design.Field) bool { return slices.Equal(x.Path, y.Path) })
	maps.Copy(a.fields, names(from, to, partners, fieldName, a.suffix))
	for _, f := range from {
		if n := partners[f]; n != nil {
			a.pairTypes(f.Type, n.Type, seen)
		}
	}
}

// pairTypes names a type like the other if only one of the designs has each name, and they have something in common.
func (a *aligner) pairTypes(o, n design.Type, seen map[string]bool) {
	if o.Elem != nil && n.Elem != nil {
		a.pairTypes(*o.Elem, *n.Elem, seen)
	}
	if o.Kind != n.Kind || o.Name == "" || seen[o.Name] {
		return
	}
	if o.Name != n.Name {
		taken := slices.Contains(slices.Collect(maps.Values(a.types)), n.Name)
		if taken || declares(a.to, o.Name) || declares(a.from, n.Name) || !a.common(o, n) {
			return
		}
		a.types[o.Name] = n.Name
	}
	seen[o.Name] = true
	if o.Kind == design.KindStruct {
		a.pairFields(a.from.Struct(o.Name).Fields, a.to.Struct(n.Name).Fields, seen)
	}
}

func declares(d *design.Design, name string) bool {
	return d.Enum(name) != nil || d.Struct(name) != nil
}

// common reports whether two enumerations have a value in common, or two structures a field.
func (a *aligner) common(o, n design.Type) bool {
	if o.Kind == design.KindEnum {
		return slices.ContainsFunc(a.from.Enum(o.Name).Values, func(v string) bool { return slices.Contains(a.to.Enum(n.Name).Values, v) })
	}
	return slices.ContainsFunc(a.from.Struct(o.Name).Fields, func(f *design.Field) bool {
		return slices.ContainsFunc(a.to.Struct(n.Name).Fields, func(g *design.Field) bool { return slices.Equal(f.Path, g.Path) })
	})
}
