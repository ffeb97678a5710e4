package infer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/plural"
)

// shape is a set of items whose keys have the same literals in the same places.
type shape struct {
	rows []*row
	kind string // the value of their type attribute
	// marks are those of the partition key, then those of the sort key; split is the number of the former.
	marks []mark
	split int
	// pieces are the texts of each row's key at the marks.
	pieces map[*row][]piece

	pk, sk *template
	entity *entity // to which it belongs
	// facet is the name that a model gives it; "" if it has none.
	facet string
}

// mark is a position in a key: a literal, or a value.
type mark struct {
	value     bool
	literal   string
	separator string
}

// signature is equal for keys of the same shape.
func signature(kind string, marks []mark, at int) string {
	var out strings.Builder
	out.WriteString(kind)
	for _, m := range marks {
		switch {
		case m.value:
			out.WriteString("\x00=")
		default:
			out.WriteString("\x00:" + m.literal)
		}
		out.WriteString("\x01" + m.separator)
	}
	fmt.Fprintf(&out, "\x02%d", at)
	return out.String()
}

// findShapes assigns the rows to shapes.
func (t *tableDraft) findShapes() {
	t.synthetic = t.syntheticIndexKeys()
	for _, r := range t.rows {
		r.learn(func(path string) bool { return path == t.typeAttr || path == versionAttr || t.synthetic[path] })
	}
	by := map[string]*shape{}
	for _, r := range t.rows {
		pk, first := t.marksOf(t.PK, r)
		sk, second := t.marksOf(t.SK, r)
		marks := slices.Concat(pk, sk)
		name := signature(r.kind, marks, len(pk))
		s := by[name]
		if s == nil {
			s = &shape{kind: r.kind, marks: marks, split: len(pk), pieces: map[*row][]piece{}}
			by[name] = s
			t.shapes = append(t.shapes, s)
		}
		s.rows = append(s.rows, r)
		s.pieces[r] = slices.Concat(first, second)
	}
	for t.merge() {
	}
	t.limit()
	slices.SortStableFunc(t.shapes, func(a, b *shape) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(signature(a.kind, a.marks, a.split), signature(b.kind, b.marks, b.split)))
	})
}

// maxShapes is the maximum number of shapes in a draft. A table with more has keys that this package does not understand,
// and a design of all of them would be useless.
const maxShapes = 100

// limit drops the shapes with the fewest items if there are too many.
func (t *tableDraft) limit() {
	if len(t.shapes) <= maxShapes {
		return
	}
	slices.SortStableFunc(t.shapes, func(a, b *shape) int { return len(b.rows) - len(a.rows) })
	left := t.shapes[maxShapes:]
	n := 0
	for _, s := range left {
		n += len(s.rows)
	}
	first := left[0].rows[0].item
	t.notes = append(t.notes, fmt.Sprintf("Omitted: %s of %s, whose keys start in %d other ways, such as %q.",
		plural.Of(n, "item"), t.Name, len(left), keyText(first[t.PK.Name])+" "+keyText(first[t.SK.Name])))
	t.shapes = t.shapes[:maxShapes]
}

// syntheticIndexKeys are the attributes of index keys that seem to exist only for the index: their texts have several
// pieces and start with a word, or are a word in capitals.
func (t *tableDraft) syntheticIndexKeys() map[string]bool {
	out := map[string]bool{}
	for _, x := range t.Indexes {
		for _, k := range slices.Concat(x.PK, x.SK) {
			n, created := 0, 0
			for _, r := range t.rows {
				text := keyText(r.item[k.Name])
				if text == "" {
					continue
				}
				n++
				pieces := split(text, nil)
				if len(pieces) > 1 || shouted(text) && usualIndexKey(k.Name) {
					created++
				}
			}
			out[k.Name] = n > 0 && 2*created > n || usualIndexKey(k.Name)
		}
	}
	return out
}

// marksOf parses a row's key attribute.
func (t *tableDraft) marksOf(k Key, r *row) ([]mark, []piece) {
	v, there := r.item[k.Name]
	if k.Name == "" || !there {
		return nil, nil
	}
	text := keyText(v)
	if k.Type != "S" {
		return []mark{{value: true}}, []piece{{text: text}}
	}
	pieces := split(text, r)
	marks := make([]mark, len(pieces))
	for i, p := range pieces {
		marks[i] = mark{separator: p.separator, value: !p.label && isValue(marks[:i], p.text, r)}
		if !marks[i].value {
			marks[i].literal = p.text
		}
	}
	return marks, pieces
}

// isValue reports whether a piece of a key seems to be a value, judging by its text and by what precedes it.
func isValue(before []mark, text string, r *row) bool {
	switch {
	case text == "":
		return false
	case r.known[text]:
		return true
	case customary(text) && len(before) > 0:
		return false
	case strings.HasPrefix(text, "$") && r.item[versionAttr] != nil:
		return false // ElectroDB's names of services and entities: $sale_1
	case !wordLike(text):
		return true
	case len(before) == 0 || before[len(before)-1].value:
		return false
	default:
		return !shouted(text)
	}
}

// merge joins shapes that differ in one place only, if that seems to be a value. It reports whether there were any.
func (t *tableDraft) merge() bool {
	places := 0
	for _, s := range t.shapes {
		places = max(places, len(s.marks))
	}
	for at := range places {
		groups := map[string][]*shape{}
		for _, s := range t.shapes {
			if at >= len(s.marks) {
				continue
			}
			marks := slices.Clone(s.marks)
			marks[at] = mark{value: true, separator: marks[at].separator}
			name := signature(s.kind, marks, s.split)
			groups[name] = append(groups[name], s)
		}
		merged := false
		for _, name := range sorted(groups) {
			if group := groups[name]; len(group) > 1 && mergeAt(group, at) {
				merged = true
			}
		}
		if merged {
			t.shapes = slices.DeleteFunc(t.shapes, func(s *shape) bool { return len(s.rows) == 0 })
			return true
		}
	}
	return false
}

// mergeAt joins related shapes among those that differ at one place.
func mergeAt(group []*shape, at int) bool {
	slices.SortStableFunc(group, func(a, b *shape) int {
		return cmp.Or(len(b.rows)-len(a.rows), cmp.Compare(a.marks[at].literal, b.marks[at].literal))
	})
	i := slices.IndexFunc(group, func(s *shape) bool { return s.marks[at].value })
	if i >= 0 {
		if into := strayOf(group, group[i], at); into != nil {
			into.take(group[i])
			return true
		}
	}
	alike := []*shape{group[0]}
	if i >= 0 {
		alike[0] = group[i]
	}
	for _, s := range group {
		if s != alike[0] && similar(alike[0], s) {
			alike = append(alike, s)
		}
	}
	least := 2
	if i < 0 && isLabel(group[0], at) {
		least = 4 // words before values are usually names
	}
	if len(alike) < least {
		return false
	}
	for _, s := range alike[1:] {
		alike[0].take(s)
	}
	alike[0].marks[at] = mark{value: true, separator: alike[0].marks[at].separator}
	return true
}

// strayOf is the shape to which another shape with few rows belongs: all these rows have that shape's literal, and happen
// to have a field with the same text.
func strayOf(group []*shape, s *shape, at int) *shape {
	for _, into := range group {
		if into.marks[at].value || len(into.rows) < 5*len(s.rows) {
			continue
		}
		all := true
		for _, r := range s.rows {
			all = all && s.pieces[r][at].text == into.marks[at].literal
		}
		if all {
			return into
		}
	}
	return nil
}

// isLabel reports whether a literal precedes a value in the same key attribute.
func isLabel(s *shape, at int) bool {
	last := len(s.marks) - 1
	if at < s.split {
		last = s.split - 1
	}
	return at < last && s.marks[at+1].value
}

// take moves another shape's items to this one.
func (s *shape) take(other *shape) {
	s.rows = append(s.rows, other.rows...)
	maps.Copy(s.pieces, other.pieces)
	other.rows = nil
}

// similar reports whether the items of two shapes have mostly the same attributes.
func similar(a, b *shape) bool {
	x, y := usual(a.rows), usual(b.rows)
	both, either := 0, len(y)
	for name := range x {
		if y[name] {
			both++
		} else {
			either++
		}
	}
	return 5*both >= 4*either
}

// usual are the attributes that at least half of the rows have.
func usual(rows []*row) map[string]bool {
	out := map[string]bool{}
	for name, n := range attributes(rows) {
		if 2*n >= len(rows) {
			out[name] = true
		}
	}
	return out
}
