package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/explain"
)

func (s *server) hover(p *place) (*hover, error) {
	if here := at(p.scanned().symbols, p.offset); here != nil {
		if words := p.describe(here); words != "" {
			return &hover{markup{"markdown", words}, p.rangeOf(here.from, here.to)}, nil
		}
	}
	var out *hover
	p.scanned().root.walk(func(n *node) {
		if n.key == nil || n.key.from > p.offset || p.offset > n.key.to || n.slot.key == nil || n.slot.key.Description == "" {
			return
		}
		out = &hover{markup{"markdown", "`" + n.key.text + "`: " + n.slot.key.Description}, p.rangeOf(n.key.from, n.key.to)}
	})
	return out, nil
}

// describe describes a name; "" if the last complete design does not know it.
func (p *place) describe(s *symbol) string {
	if s.kind == ruleKind {
		return describeRule(s.name)
	}
	if p.good == nil {
		return ""
	}
	d := p.good
	switch s.kind {
	case patternKind:
		return describePattern(d, s.name)
	case entityKind:
		if e := d.Entity(s.name); e != nil {
			return describeEntity(d, e)
		}
	case fieldKind:
		var out []string
		for _, e := range d.Entities {
			if f := e.Field(s.name); f != nil && (len(s.within) == 0 || slices.Contains(s.within, e.Name)) {
				out = append(out, describeField(e, f))
			}
		}
		return strings.Join(out, "\n\n---\n\n")
	case tableKind:
		if t := d.Table(s.name); t != nil {
			return fmt.Sprintf("**table** `%s`: %s\n\n%s", t.Physical, keyText(t), t.Doc)
		}
	case indexKind:
		return describeIndex(d, s)
	case typeKind:
		if e := d.Enum(s.name); e != nil {
			return fmt.Sprintf("**enum** `%s`: %s\n\n%s", e.Name, strings.Join(e.Values, ", "), e.Doc)
		}
		if t := d.Struct(s.name); t != nil {
			return fmt.Sprintf("**struct** `%s`\n\n%s", t.Name, t.Doc)
		}
	case entryKind:
		return describeEntry(d, s)
	case inputKind, ruleKind:
	}
	return ""
}

func describeRule(id string) string {
	for _, r := range check.Rules() {
		if r.ID == id {
			return fmt.Sprintf("**%s** (%s): %s\n\n[the rule's page](%s%s.md)", r.ID, r.Severity, r.Title, rulePages, r.ID)
		}
	}
	return ""
}

// describePattern is the explanation of a pattern, with its monthly cost.
func describePattern(d *design.Design, name string) string {
	i := slices.IndexFunc(d.Flows, func(f *design.Flow) bool { return f.Name == name })
	if i >= 0 {
		return "**flow** `" + name + "`\n\n" + d.Flows[i].Doc
	}
	var one explain.Pattern
	switch r, c, w := d.Read(name), d.Collection(name), d.Write(name); {
	case r != nil:
		one = explain.Read(d, r)
	case c != nil:
		one = explain.Collection(d, c)
	case w != nil:
		one = explain.Write(d, w)
	default:
		return ""
	}
	var out strings.Builder
	if explain.WriteText(&out, one) != nil {
		return ""
	}
	words := "```text\n" + strings.TrimRight(out.String(), "\n") + "\n```"
	prices, err := cost.PricesOf(d.Workload.Region)
	if err != nil {
		return words
	}
	month := cost.OfMonth(d, prices)
	for _, p := range month.Patterns {
		if p.Name == name && p.Rate > 0 {
			words += fmt.Sprintf("\n\n%g a second: $%.2f a month on demand in %s", p.Rate, p.Cost, month.Region)
		}
	}
	return words
}

func describeEntity(d *design.Design, e *design.Entity) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**entity** `%s` of table `%s`", e.Name, e.Table)
	if e.Doc != "" {
		out.WriteString("\n\n" + e.Doc)
	}
	out.WriteString("\n")
	for _, u := range uses(e) {
		fmt.Fprintf(&out, "\n- %s: `%s`", u.place, u.template.Text)
	}
	fmt.Fprintf(&out, "\n\n%.0f items of about %d bytes", cost.Items(d, e), cost.ItemSize(e))
	return out.String()
}

func describeField(e *design.Entity, f *design.Field) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**field** `%s.%s`: `%s`, stored at `%s`", e.Name, f.Name, f.Type, strings.Join(f.Path, "."))
	if f.Doc != "" {
		out.WriteString("\n\n" + f.Doc)
	}
	first := true
	for _, u := range uses(e) {
		if !slices.Contains(u.template.Fields(), f.Name) {
			continue
		}
		if first {
			out.WriteString("\n\nIn keys:\n")
			first = false
		}
		fmt.Fprintf(&out, "\n- %s: `%s`", u.place, u.template.Text)
	}
	if first {
		out.WriteString("\n\nNot in any key.")
	}
	return out.String()
}

// use is a template of an entity with its place.
type use struct {
	place    string
	template *design.Template
}

func uses(e *design.Entity) []use {
	var out []use
	add := func(place string, templates ...*design.Template) {
		for _, t := range templates {
			if t != nil {
				out = append(out, use{place, t})
			}
		}
	}
	key := func(place string, k design.Key) {
		add(place+" pk", k.PK)
		add(place+" sk", k.SK)
	}
	key("key", e.Key)
	for _, c := range e.Copies {
		key("copy "+c.Name, c.Key)
	}
	for _, x := range e.Entries {
		name := x.Index
		if x.Of != "" {
			name = x.Of + " in " + name
		}
		add(name+" pk", x.PK...)
		add(name+" sk", x.SK...)
	}
	for _, m := range e.Unique {
		key("marker "+m.Name, m.Key)
	}
	return out
}

func keyText(t *design.Table) string {
	if t.SK == nil {
		return "`" + t.PK.Name + "`"
	}
	return "`" + t.PK.Name + "`, `" + t.SK.Name + "`"
}

func describeEntry(d *design.Design, s *symbol) string {
	for _, e := range d.Entities {
		for _, x := range e.Entries {
			if x.Name != s.name || !slices.Contains(s.within, e.Name) {
				continue
			}
			var keys []string
			for _, t := range slices.Concat(x.PK, x.SK) {
				keys = append(keys, "`"+t.Text+"`")
			}
			return fmt.Sprintf("**entry** `%s` of %s: %s, where `%s`", x.Place(), e.Name, strings.Join(keys, ", "), x.Where)
		}
	}
	return ""
}

func describeIndex(d *design.Design, s *symbol) string {
	var out strings.Builder
	for _, t := range d.Tables {
		for _, x := range t.Indexes {
			if x.Name != s.name || len(s.within) > 0 && !slices.Contains(s.within, t.Name) {
				continue
			}
			var keys []string
			for _, k := range append(slices.Clone(x.PK), x.SK...) {
				keys = append(keys, "`"+k.Name+"`")
			}
			fmt.Fprintf(&out, "**index** `%s` of table `%s`: %s\n", x.Name, t.Name, strings.Join(keys, ", "))
			for _, e := range d.Entities {
				if e.Table != t.Name {
					continue
				}
				for _, u := range uses(e) {
					if part, in := strings.CutPrefix(u.place, x.Name+" "); in {
						fmt.Fprintf(&out, "\n- %s %s: `%s`", e.Name, part, u.template.Text)
					}
				}
			}
		}
	}
	if out.Len() > 0 {
		return out.String()
	}
	for _, e := range d.Entities {
		for _, u := range uses(e) {
			if u.place == "copy "+s.name+" pk" || u.place == "marker "+s.name+" pk" {
				fmt.Fprintf(&out, "**%s** of `%s`: `%s`\n\n", strings.TrimSuffix(u.place, " pk"), e.Name, u.template.Text)
			}
		}
	}
	return out.String()
}
