package infer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
)

// template is the inferred template of a key attribute.
type template struct {
	attribute string
	parts     []part
	// notes are remarks on it.
	notes []string
	// asIs is set if the attribute is a plain field.
	asIs bool
}

// part is a literal or a field.
type part struct {
	literal string
	path    string // of the field; "" for a literal
	funcs   []design.Func
	// virtual is set for a field that occurs only in the key. label is the literal before it.
	virtual bool
	label   string
	// texts are the value's texts in the keys, one per row.
	texts []string
}

// column is the content of one place of a key in some rows.
type column struct {
	rows  []*row
	texts []string
	label string // the literal before it
}

// readKeys finds the templates of a shape's primary key.
func (t *tableDraft) readKeys(s *shape) {
	s.pk = t.templateOf(t.PK, s.rows, s.marks[:s.split], func(r *row) []piece { return s.pieces[r][:s.split] }, nil)
	if t.SK.Name != "" {
		s.sk = t.templateOf(t.SK, s.rows, s.marks[s.split:], func(r *row) []piece { return s.pieces[r][s.split:] }, s.pk)
	}
}

// templateOf infers the template of a key attribute. Fields that the previous template uses are preferred over others with
// equal values.
func (t *tableDraft) templateOf(k Key, rows []*row, marks []mark, pieces func(*row) []piece, before *template) *template {
	out := &template{attribute: k.Name}
	label := ""
	for i, m := range marks {
		if !m.value {
			out.literal(m.literal + m.separator)
			label = m.literal
			continue
		}
		c := column{rows: rows, label: label}
		for _, r := range rows {
			c.texts = append(c.texts, pieces(r)[i].text)
		}
		label = ""
		whole := len(marks) == 1 && m.separator == ""
		p, notes := t.partOf(k, c, whole, before)
		switch {
		case p == nil && whole:
			out.asIs = true
			out.parts = append(out.parts, part{path: k.Name})
		case p == nil && c.constant() && len(rows) > 2:
			out.literal(c.texts[0])
			label = c.texts[0]
			notes = append(notes, fmt.Sprintf("guess: %s is the same in all %s, so it is a literal", c.texts[0], plural.Of(len(rows), "key")))
		case p == nil:
			out.parts = append(out.parts, part{virtual: true, label: c.label, texts: c.texts})
		case c.constant() && shouted(c.texts[0]) && i == 0 && len(marks) > 1:
			out.literal(c.texts[0]) // a label that happens to equal a field
			label, notes = c.texts[0], nil
		default:
			p.texts = c.texts
			out.parts = append(out.parts, *p)
		}
		out.notes = append(out.notes, notes...)
		out.literal(m.separator)
	}
	return out
}

// literal appends a literal.
func (p *template) literal(text string) {
	if n := len(p.parts); n > 0 && p.parts[n-1].isLiteral() {
		p.parts[n-1].literal += text
	} else if text != "" {
		p.parts = append(p.parts, part{literal: text})
	}
}

func (p part) isLiteral() bool { return p.path == "" && !p.virtual }

// fields are the paths of the fields that a template uses.
func (p *template) fields() []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, part := range p.parts {
		if part.path != "" && !slices.Contains(out, part.path) {
			out = append(out, part.path)
		}
	}
	return out
}

// constant reports whether all texts are the same.
func (c column) constant() bool {
	return !slices.ContainsFunc(c.texts, func(s string) bool { return s != c.texts[0] })
}

// candidate is a field that a column may contain, with functions.
type candidate struct {
	path   string
	funcs  []design.Func
	misses int
}

// partOf finds the field whose values a column has; nil if there is none.
func (t *tableDraft) partOf(k Key, c column, whole bool, before *template) (*part, []string) {
	var found []candidate
	for _, path := range t.pathsIn(c.rows) {
		if path == k.Name || path == t.typeAttr || path == versionAttr || t.madeIndexKey(path) {
			continue
		}
		for _, funcs := range c.functions(path) {
			if misses, ok := c.matches(path, funcs); ok {
				found = append(found, candidate{path, funcs, misses})
				break // shorter chains come first
			}
		}
	}
	if whole && k.Type != "S" { // a number in an index or table key is a field of its own, even if another is equal
		return nil, nil
	}
	if len(found) == 0 {
		return nil, nil
	}
	used := before.fields()
	inIndex := func(path string) int {
		if t.inIndexKey(path) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(
			a.misses-b.misses, len(a.funcs)-len(b.funcs),
			inList(used, b.path)-inList(used, a.path), affinity(c.label, b.path)-affinity(c.label, a.path),
			inIndex(a.path)-inIndex(b.path), strings.Count(a.path, step)-strings.Count(b.path, step),
		)
	})
	best := found[0]
	var notes []string
	if best.misses > 0 {
		notes = append(notes, fmt.Sprintf("%s is in %d of %d keys; the others have another form", shownPath(best.path), len(c.rows)-best.misses, len(c.rows)))
	}
	if len(best.funcs) > 0 && len(c.rows) < 20 {
		notes = append(notes, fmt.Sprintf("guess: %s renders the key in %s", funcsText(best.funcs), t.share(len(c.rows), len(c.rows))))
	}
	for _, other := range found[1:] {
		if other.misses == best.misses && len(other.funcs) == len(best.funcs) && affinity(c.label, other.path) == affinity(c.label, best.path) &&
			inList(used, other.path) == inList(used, best.path) {
			notes = append(notes, fmt.Sprintf("guess: %s, which %s equals in all items", shownPath(best.path), shownPath(other.path)))
			break
		}
	}
	return &part{path: best.path, funcs: best.funcs, label: c.label}, notes
}

// pathsIn are the paths of scalars that nearly all rows have.
func (t *tableDraft) pathsIn(rows []*row) []string {
	counts := map[string]int{}
	for _, r := range rows {
		for path := range r.leaves {
			counts[path]++
		}
	}
	for path, n := range counts {
		if 50*(len(rows)-n) > len(rows) {
			delete(counts, path)
		}
	}
	return sorted(counts)
}

// madeIndexKey reports whether an attribute is in an index's key and exists only for it.
func (t *tableDraft) madeIndexKey(path string) bool { return t.inIndexKey(path) && t.synthetic[path] }

// matches counts the rows in which a field with functions differs from the column. It gives up above one in fifty rows, or
// one in ten if the literal before the value is the field's name.
func (c column) matches(path string, funcs []design.Func) (misses int, ok bool) {
	most := len(c.rows) / 50
	if len(funcs) == 0 && affinity(c.label, path) == 3 {
		most = len(c.rows) / 10 // the name confirms it
	}
	for i, r := range c.rows {
		l, there := r.leaves[path]
		if text, err := apply(funcs, l.text); !there || err != nil || text != c.texts[i] {
			if misses++; misses > most {
				return misses, false
			}
		}
	}
	return misses, true
}

// affinity is how well a field's name matches the literal before its value.
func affinity(label, path string) int {
	name := letters(path[strings.LastIndex(path, step)+1:])
	label = letters(label)
	switch {
	case label == "" && strings.HasPrefix(name, "created"):
		return 2
	case label == "" && (strings.HasSuffix(name, "at") || strings.HasSuffix(name, "id")):
		return 1
	case label == "":
		return 0
	case name == label+"id" || name == label:
		return 3
	case strings.Contains(name, label) || strings.Contains(label, strings.TrimSuffix(name, "id")):
		return 2
	case strings.HasSuffix(name, "id"):
		return 1
	default:
		return 0
	}
}

func inList(list []string, s string) int {
	if slices.Contains(list, s) {
		return 1
	}
	return 0
}
