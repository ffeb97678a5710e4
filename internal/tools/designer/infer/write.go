package infer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/plural"
)

// page is the text of a draft being written.
type page struct {
	out    strings.Builder
	indent int
}

// line writes a line, followed by a comment; "" for none.
func (p *page) line(comment, format string, args ...any) {
	p.out.WriteString(strings.Repeat("  ", p.indent))
	fmt.Fprintf(&p.out, format, args...)
	if comment != "" {
		p.out.WriteString(" # " + clean(comment))
	}
	p.out.WriteString("\n")
}

// comment writes comment lines.
func (p *page) comment(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		p.out.WriteString(strings.Repeat("  ", p.indent) + "# " + clean(line) + "\n")
	}
}

// clean makes a text safe for a comment.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// within writes an indented block.
func (p *page) within(write func()) {
	p.indent++
	write()
	p.indent--
}

// quote quotes a text; Format removes unnecessary quotes.
func quote(s string) string { return strconv.Quote(s) }

// text is the whole draft, before it is formatted.
func (d *draft) text() string {
	p := &page{}
	for _, t := range d.tables {
		items := plural.Of(len(t.rows), "item")
		if t.sampled() {
			items += fmt.Sprintf(", of about %d in the table,", t.Total)
		}
		p.comment("Drafted from %s of %s.", items, t.Name)
		for _, n := range t.notes {
			p.comment("%s", n)
		}
	}
	p.comment("Comments state in how many items something was found. Review everything marked as a guess.")
	p.out.WriteString("\n")
	p.line("", "design: 1")
	p.line("", "name: %s", d.name)
	p.line("", "tables:")
	for _, t := range d.tables {
		p.within(func() { t.table(p) })
	}
	if len(d.typeNames) > 0 {
		p.line("", "types:")
		p.within(func() {
			for _, name := range d.typeNames {
				p.line("", "%s: %s", name, d.types[name])
			}
		})
	}
	p.line("", "entities:")
	for _, t := range d.tables {
		for _, e := range t.entities {
			p.within(func() { t.entity(p, e) })
		}
	}
	p.line("", "reads:")
	p.within(func() {
		p.comment("guess: the reads that the keys can serve. Keep the ones that the application uses, and declare their rate.")
		for _, t := range d.tables {
			for _, e := range t.entities {
				for _, line := range t.reads(e) {
					p.line("", "%s", line)
				}
			}
		}
	})
	return p.out.String()
}

// table writes a table with its indexes.
func (t *tableDraft) table(p *page) {
	p.line("", "%s:", quote(t.Name))
	p.within(func() {
		note := ""
		if t.GuessedKey {
			note = "guess: in all items, and unique"
		}
		key := "pk: " + quote(keyAttribute(t.PK))
		if t.SK.Name != "" {
			key += ", sk: " + quote(keyAttribute(t.SK))
		}
		p.line(note, "key: { %s }", key)
		if t.snake {
			p.line("guess: most attributes are named this way", "naming: snake_case")
		}
		if t.typeAttr != "" {
			p.line(t.typeNote, "type_attr: %s", quote(t.typeAttr))
		} else {
			p.line("guess: no attribute has the type of an item", "type_attr: none")
		}
		if t.TTLAttr != "" {
			note := ""
			if t.Guessed {
				note = "guess: by its name and its values"
			}
			p.line(note, "ttl_attr: %s", quote(t.TTLAttr))
		}
		if t.Provisioned {
			p.line("", "billing: provisioned")
		}
		if t.Stream != "" {
			p.line("", "stream: %s", t.Stream)
		}
		if len(t.Indexes) > 0 {
			p.line("", "indexes:")
			p.within(func() {
				for _, x := range t.Indexes {
					t.index(p, x)
				}
			})
		}
	})
}

func keyAttribute(k Key) string {
	if k.Type == "S" {
		return k.Name
	}
	return k.Name + ":" + k.Type
}

func (t *tableDraft) index(p *page, x Index) {
	list := func(keys []Key) string {
		var out []string
		for _, k := range keys {
			out = append(out, quote(keyAttribute(k)))
		}
		if len(out) == 1 {
			return out[0]
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	var parts []string
	if x.Local {
		parts = append(parts, "local: true")
	} else {
		parts = append(parts, "pk: "+list(x.PK))
	}
	if len(x.SK) > 0 {
		parts = append(parts, "sk: "+list(x.SK))
	}
	note := ""
	switch x.Projection {
	case "KEYS_ONLY":
		parts = append(parts, "project: keys")
	case "INCLUDE":
		fields, left := t.projected(x)
		if len(left) > 0 {
			note = "it also projects " + strings.Join(left, ", ") + ", which no item has"
		}
		if len(fields) == 0 {
			parts = append(parts, "project: keys")
			break
		}
		parts = append(parts, "project: ["+strings.Join(fields, ", ")+"]")
	default:
	}
	if t.Guessed {
		note = "guess: by attribute names; an export does not include the projection"
	}
	p.line(note, "%s: { %s }", quote(x.Name), strings.Join(parts, ", "))
}

// projected are the fields that an index projects, and the projected attributes without a field.
func (t *tableDraft) projected(x Index) (fields, left []string) {
	for _, name := range x.Attributes {
		is := func(e *entity) bool { return e.byPath(name) != nil }
		switch {
		case name == t.typeAttr, name == t.PK.Name, name == t.SK.Name, t.madeIndexKey(name):
		case slices.ContainsFunc(t.entities, is):
			fields = append(fields, t.fieldName(name))
		default:
			left = append(left, name)
		}
	}
	return fields, left
}

func (t *tableDraft) entity(p *page, e *entity) {
	for _, n := range e.notes {
		p.comment("%s", n)
	}
	p.line("", "%s:", e.name)
	p.within(func() {
		if len(t.draft.tables) > 1 {
			p.line("", "table: %s", quote(t.Name))
		}
		if t.typeAttr != "" && e.kind != strings.ToUpper(snake(e.name)) {
			p.line("", "type: %s", quote(cmp.Or(e.kind, e.name)))
		}
		found := ""
		if len(e.main.rows) > 0 {
			found = t.share(len(e.main.rows), len(t.rows))
		}
		p.line(noteOf(found, notes(e.main.pk, e.main.sk)), "key: { %s }", t.key(e.main.pk, e.main.sk))
		if len(e.copies) > 0 {
			p.line("", "copies:")
			p.within(func() {
				for _, c := range e.copies {
					t.copy(p, c)
				}
			})
		}
		t.entries(p, e.entries)
		if len(e.markers) > 0 {
			p.line("", "unique:")
			p.within(func() {
				for _, m := range e.markers {
					p.line(noteOf(m.note, notes(m.pk, m.sk)), "%s: { %s }", m.name, t.key(m.pk, m.sk))
				}
			})
		}
		p.line("", "fields:")
		p.within(func() {
			for _, f := range e.fields {
				t.field(p, f)
			}
		})
		if f := e.byPath(t.TTLAttr); f != nil && f.typ == "ttl" {
			p.line("", "ttl: { attr: %s }", f.name)
		}
		if len(e.volume) > 0 {
			note := ""
			if t.sampled() {
				note = "guess: from a sample"
			}
			p.line(note, "volume: { %s }", strings.Join(e.volume, ", "))
		}
	})
}

func (t *tableDraft) key(pk, sk *template) string {
	out := "pk: " + quote(t.templateText(pk))
	if sk != nil {
		out += ", sk: " + quote(t.templateText(sk))
	}
	return out
}

func (t *tableDraft) copy(p *page, c *copyDraft) {
	fields := "all"
	if c.fields != nil {
		var names []string
		for _, name := range c.fields {
			names = append(names, t.fieldName(name))
		}
		fields = "[" + strings.Join(names, ", ") + "]"
	}
	note := noteOf(c.note, notes(c.shape.pk, c.shape.sk))
	if len(c.entries) == 0 {
		p.line(note, "%s: { %s, fields: %s }", c.name, t.key(c.shape.pk, c.shape.sk), fields)
		return
	}
	p.line(note, "%s:", c.name)
	p.within(func() {
		p.line("", "pk: %s", quote(t.templateText(c.shape.pk)))
		if c.shape.sk != nil {
			p.line("", "sk: %s", quote(t.templateText(c.shape.sk)))
		}
		p.line("", "fields: %s", fields)
		t.entries(p, c.entries)
	})
}

func (t *tableDraft) entries(p *page, list []*entry) {
	if len(list) == 0 {
		return
	}
	p.line("", "index:")
	p.within(func() {
		for _, x := range list {
			var parts []string
			if !x.index.Local {
				parts = append(parts, "pk: "+t.templates(x.pk))
			}
			if len(x.sk) > 0 {
				parts = append(parts, "sk: "+t.templates(x.sk))
			}
			if x.where != "" {
				parts = append(parts, "where: "+quote(x.where))
			}
			p.line(noteOf(x.note, notes(slices.Concat(x.pk, x.sk)...)), "%s: { %s }", quote(x.index.Name), strings.Join(parts, ", "))
		}
	})
}

// templates are one template, or a list.
func (t *tableDraft) templates(list []*template) string {
	var out []string
	for _, one := range list {
		out = append(out, quote(t.templateText(one)))
	}
	if len(out) == 1 {
		return out[0]
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (t *tableDraft) field(p *page, f *field) {
	of := f.typ
	if f.optional {
		of += "?"
	}
	steps := strings.Split(f.path, step)
	stored := f.name
	if t.snake {
		stored = snake(f.name)
	}
	switch {
	case len(steps) > 1:
		p.line(f.note, "%s: { type: %s, at: %s }", f.name, quote(of), quote(strings.Join(steps, ".")))
	case steps[0] != stored:
		p.line(f.note, "%s: { type: %s, attr: %s }", f.name, quote(of), quote(f.path))
	default:
		p.line(f.note, "%s: %s", f.name, quote(of))
	}
}
