package keylang

import (
	"slices"
	"strings"
)

// Value is the text of a field, with its functions, in a key.
type Value struct {
	Name string // of the part: "name|fold"
	Text string
}

// Ambiguity proves that two items can have the same key: two different lists of values render as the same texts.
type Ambiguity struct {
	Key           []string // the text of each template
	First, Second []Value
	Certain       bool // as in Witness; if it is false, Key may lack texts
}

// Ambiguous reports whether two different lists of values can render as the same key. The templates are the key's
// attributes: one, or a partition key and a sort key, or up to eight of an index. A field with the same functions has one
// value everywhere. That a function can map two values to one text, like lower, does not count as an ambiguity.
func Ambiguous(key ...Template) (Ambiguity, bool) {
	readings := make([]reading, len(key))
	for i, t := range key {
		readings[i] = t.read()
	}
	left := effort
	known := map[string]bool{}
	for again := true; again; {
		again = false
		for _, r := range readings {
			for i, p := range r.parts {
				if p.Field != "" && !known[p.Name] && r.determines(i, known, &left) {
					known[p.Name] = true
					again = true
				}
			}
		}
	}
	open := slices.ContainsFunc(key, func(t Template) bool {
		return slices.ContainsFunc(t.parts, func(p Part) bool { return p.Field != "" && !known[p.Name] })
	})
	if !open {
		return Ambiguity{}, false
	}
	left = effort
	var best Ambiguity
	for i, r := range readings {
		for _, direction := range r.directions() {
			first, second, found := r.ambiguity(direction, known, &left)
			if !found {
				continue
			}
			if a, certain := completed(key, i, first, second, &left); certain {
				return a, true
			} else if best.Key == nil {
				best = a
			}
		}
	}
	return best, true
}

// reading is a template with its automata.
type reading struct {
	Template
	all, plain [2]automaton // forwards and backwards; nil for a template that is too large
}

// read makes the automata.
func (t Template) read() reading {
	r := reading{Template: t}
	if !t.huge() {
		all, plain := t.automaton(false), t.automaton(true)
		r.all = [2]automaton{all, reversed(all, len(t.parts))}
		r.plain = [2]automaton{plain, reversed(plain, len(t.parts))}
	}
	return r
}

// direction is an automaton of a template, and whether it reads backwards.
type direction struct {
	automaton
	backwards bool
}

// directions are all automata, those with the most readable witnesses first.
func (r reading) directions() []direction {
	if r.all[0] == nil {
		return nil
	}
	return []direction{{r.plain[0], false}, {r.plain[1], true}, {r.all[0], false}, {r.all[1], true}}
}

// part converts the number of a part to that of the way, and back.
func (r reading) part(w direction, i int) int {
	if w.backwards {
		return len(r.parts) - 1 - i
	}
	return i
}

// Flags of a search for two lists of values.
const (
	alike  uint8 = iota // every byte so far is in the same part
	apart               // not so, but the part in question has the same bytes in both
	differ              // it does not
)

// selfProduct walks a template with itself. While both walks are alike, they cannot separate inside a value that is known to be
// the same in both: there they read the same text from the same place.
func (r reading) selfProduct(w direction, known map[string]bool, asked int, effort *int) search {
	fixed := make([]bool, len(r.parts))
	for i, p := range r.parts {
		fixed[r.part(w, i)] = p.Field == "" || known[p.Name]
	}
	asked = r.part(w, asked)
	return search{a: w.automaton, b: w.automaton, effort: effort, step: func(flag uint8, p, q *state) (uint8, bool) {
		switch {
		case p.part == q.part:
			return flag, true
		case flag == alike && fixed[min(p.part, q.part)]:
			return 0, false
		case p.part == asked || q.part == asked:
			return differ, true
		default:
			return max(flag, apart), true
		}
	}}
}

// determines reports whether the text of the template and the known values determine part i, reading from the beginning or from
// the end. If the effort runs out, it says no.
func (r reading) determines(i int, known map[string]bool, effort *int) bool {
	for n, a := range r.all {
		if a == nil {
			return false
		}
		s := r.selfProduct(direction{a, n == 1}, known, i, effort)
		s.want = differ
		if _, found := s.run(); found == no {
			return true
		}
	}
	return false
}

// ambiguity looks for two lists of values with the same text.
func (r reading) ambiguity(w direction, known map[string]bool, effort *int) (first, second []Value, ok bool) {
	s := r.selfProduct(w, known, -1, effort)
	s.want = apart
	walk, found := s.run()
	if found != yes {
		return nil, nil, false
	}
	if w.backwards {
		slices.Reverse(walk)
	}
	first = r.values(walk, func(p pace) int { return r.part(w, w.automaton[p.p].part) })
	second = r.values(walk, func(p pace) int { return r.part(w, w.automaton[p.q].part) })
	return first, second, true
}

// values are the field values of a walk through the template.
func (t Template) values(walk []pace, part func(pace) int) []Value {
	var out []Value
	for i, p := range t.parts {
		if p.Field == "" {
			continue
		}
		var text []byte
		for _, w := range walk {
			if part(w) == i {
				text = append(text, w.c)
			}
		}
		out = append(out, Value{p.Name, string(text)})
	}
	return out
}

// completed extends the values of template i to a whole key. They are certain if every value is the same everywhere and the
// other templates can have the same text for both lists.
func completed(key []Template, i int, first, second []Value, effort *int) (Ambiguity, bool) {
	a, b := assignment{}, assignment{}
	certain := a.take(first) && b.take(second)
	out := Ambiguity{Key: make([]string, len(key))}
	out.Key[i] = key[i].render(first)
	for j, t := range key {
		if j == i {
			continue
		}
		text, ok := together(t, t, a, b, effort)
		out.Key[j] = text
		certain = certain && ok
	}
	out.First, out.Second = a.values(key), b.values(key)
	out.Certain = certain && a.sure(key) && b.sure(key)
	return out, out.Certain
}

func (t Template) render(values []Value) string {
	var text strings.Builder
	for _, p := range t.parts {
		if p.Field == "" {
			text.WriteString(p.Literal)
			continue
		}
		text.WriteString(values[0].Text)
		values = values[1:]
	}
	return text.String()
}

// sure reports whether an item can have these values, which are those of its whole key.
func (a assignment) sure(key []Template) bool {
	names := map[string]string{}
	for _, t := range key {
		for _, p := range t.parts {
			if p.Field == "" {
				continue
			}
			if name, known := names[p.Field]; known && name != p.Name || !p.Language.sure(a[p.Name]) {
				return false
			}
			names[p.Field] = p.Name
		}
	}
	return true
}

// assignment maps names of parts to their texts.
type assignment map[string]string

// take adds values, and reports whether all agree with the existing ones.
func (a assignment) take(values []Value) bool {
	for _, v := range values {
		if text, known := a[v.Name]; known && text != v.Text {
			return false
		}
		a[v.Name] = v.Text
	}
	return true
}

// values lists the assignment in the order of the templates.
func (a assignment) values(key []Template) []Value {
	var out []Value
	for _, t := range key {
		for _, p := range t.parts {
			text, ok := a[p.Name]
			if ok && p.Field != "" && !slices.ContainsFunc(out, func(v Value) bool { return v.Name == p.Name }) {
				out = append(out, Value{p.Name, text})
			}
		}
	}
	return out
}

// together looks for a text that two templates can both have, given values for some of their fields, and adds the resulting
// values of the other fields.
func together(s, t Template, a, b assignment, effort *int) (string, bool) {
	if s.huge() || t.huge() {
		return "", false
	}
	s, t = s.bound(a), t.bound(b)
	for _, plain := range []bool{true, false} {
		x, y := s.automaton(plain), t.automaton(plain)
		if walk, found := intersection(x, y, effort); found == yes {
			one := a.take(s.values(walk, func(w pace) int { return x[w.p].part }))
			two := b.take(t.values(walk, func(w pace) int { return y[w.q].part }))
			return textOf(walk), one && two
		}
	}
	return "", false
}

// Collision proves that two items can have the same key.
type Collision struct {
	Key           []string // the text of each attribute
	First, Second []Value  // the values of the two items
	Certain       bool     // as in Witness; if it is false, the values may be missing
}

// Collide reports whether an item with the key a and one with the key b, in one table or index, can have the same key. That
// a field of one item occurs in both its attributes is used to find a certain proof, not to refute a collision.
func Collide(a, b []Template) (Collision, bool) {
	if len(a) != len(b) {
		return Collision{}, false
	}
	c := Collision{Key: make([]string, len(a))}
	for i := range a {
		w, ok := Intersect(a[i].Language(), b[i].Language())
		if !ok {
			return Collision{}, false
		}
		c.Key[i] = w.Text
	}
	left := effort
	for _, backwards := range []bool{false, true} {
		proof := Collision{Key: make([]string, len(a)), Certain: true}
		one, two := assignment{}, assignment{}
		for n := range a {
			i := n
			if backwards {
				i = len(a) - 1 - n
			}
			text, ok := together(a[i], b[i], one, two, &left)
			proof.Key[i] = text
			proof.Certain = proof.Certain && ok
		}
		if proof.Certain = proof.Certain && one.sure(a) && two.sure(b); proof.Certain {
			proof.First, proof.Second = one.values(a), two.values(b)
			return proof, true
		}
	}
	return c, true
}
