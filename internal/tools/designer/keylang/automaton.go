package keylang

import (
	"math"
	"slices"
)

// automaton is a finite automaton without empty moves that labels states instead of edges: every move into a state
// reads a byte of its set. State 0 is the start and is never entered. The algorithms rely on two properties of this
// form: reversal reverses the edges, and a state can record the part of a template to which the byte belongs.
// Automata are immutable; the functions below make new ones.
type automaton []state

type state struct {
	in    byteSet
	wish  byte // the most readable byte here; 0 for no preference
	part  int  // of a template
	next  []int
	final bool
}

func empty() automaton { return automaton{{final: true}} }

// one is the language of single bytes from a set.
func one(set byteSet, wish byte) automaton {
	return automaton{{next: []int{1}}, {in: set, wish: wish, final: true}}
}

func class(spec string, wish byte) automaton { return one(setOf(spec), wish) }

func literal(s string) automaton { return words([]string{s}) }

// words is the language of a list of texts.
func words(list []string) automaton {
	a := automaton{{}}
	for _, w := range list {
		at := 0
		for i := range len(w) {
			c := w[i]
			to := slices.IndexFunc(a[at].next, func(n int) bool { return a[n].in.has(c) })
			if to >= 0 {
				at = a[at].next[to]
				continue
			}
			a = append(a, state{in: span(c, c), wish: c})
			a[at].next = append(a[at].next, len(a)-1)
			at = len(a) - 1
		}
		a[at].final = true
	}
	return a
}

// seq is the concatenation of languages.
func seq(list ...automaton) automaton {
	out := empty()
	ends := []int{0}
	for _, b := range list {
		offset := len(out) - 1
		var now []int
		for i, s := range b[1:] {
			s.next = shift(s.next, offset)
			out = append(out, s)
			if s.final {
				now = append(now, i+1+offset)
			}
		}
		first := shift(b[0].next, offset)
		for _, e := range ends {
			out[e].next = append(out[e].next, first...)
			out[e].final = b[0].final
		}
		if b[0].final {
			now = append(ends, now...)
		}
		ends = now
	}
	return out
}

// shift adds an offset to states' numbers, in a new slice.
func shift(states []int, offset int) []int {
	out := make([]int, len(states))
	for i, n := range states {
		out[i] = n + offset
	}
	return out
}

// alt is the union of languages.
func alt(list ...automaton) automaton {
	out := automaton{{}}
	for _, b := range list {
		offset := len(out) - 1
		for _, s := range b[1:] {
			s.next = shift(s.next, offset)
			out = append(out, s)
		}
		out[0].next = append(out[0].next, shift(b[0].next, offset)...)
		out[0].final = out[0].final || b[0].final
	}
	return out
}

func opt(a automaton) automaton {
	a = slices.Clone(a)
	a[0].final = true
	return a
}

// plus is one or more texts of a.
func plus(a automaton) automaton {
	a = slices.Clone(a)
	for i := 1; i < len(a); i++ {
		if a[i].final {
			a[i].next = append(slices.Clone(a[i].next), a[0].next...)
		}
	}
	return a
}

func star(a automaton) automaton { return opt(plus(a)) }

// times is least to most texts of a.
func times(a automaton, least, most int) automaton {
	tail := empty()
	for range most - least {
		tail = opt(seq(a, tail))
	}
	return seq(append(slices.Repeat([]automaton{a}, least), tail)...)
}

// nonEmpty is the language without the empty text.
func nonEmpty(a automaton) automaton {
	a = slices.Clone(a)
	a[0].final = false
	return a
}

// lowered replaces A-Z by a-z in the language.
func lowered(a automaton) automaton {
	a = slices.Clone(a)
	for i := range a {
		a[i].in = a[i].in.lower()
		if a[i].wish >= 'A' && a[i].wish <= 'Z' {
			a[i].wish += 'a' - 'A'
		}
	}
	return a
}

// inPart assigns all bytes of the language to a part of a template.
func inPart(a automaton, part int) automaton {
	a = slices.Clone(a)
	for i := range a {
		a[i].part = part
	}
	return a
}

// reversed reads the texts backwards, with the n parts in reverse order, too.
func reversed(a automaton, n int) automaton {
	out := make(automaton, len(a))
	out[0].final = a[0].final
	for i, s := range a {
		if i > 0 {
			out[i].in, out[i].wish, out[i].part = s.in, s.wish, n-1-s.part
			if s.final {
				out[0].next = append(out[0].next, i)
			}
		}
		for _, to := range s.next {
			if i == 0 {
				out[to].final = true
			} else {
				out[to].next = append(out[to].next, i)
			}
		}
	}
	return out
}

// alphabet is the set of bytes in texts of the language.
func alphabet(a automaton) byteSet {
	var s byteSet
	for i := range a[1:] {
		s = s.or(a[i+1].in)
	}
	return s
}

// unrolled adds a counter: it is the automaton of pairs of a state and a count. step returns the count after
// entering a state, or false if the state must not be entered, and end reports whether a text may end there.
func unrolled(a automaton, step func(count int, s *state) (int, bool), end func(count int, s *state) bool) automaton {
	type pair struct{ state, count int }
	number := map[pair]int{{0, 0}: 0}
	queue := []pair{{0, 0}}
	out := automaton{{}}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		out[i].final = end(at.count, &a[at.state])
		for _, to := range a[at.state].next {
			count, ok := step(at.count, &a[to])
			if !ok {
				continue
			}
			p := pair{to, count}
			n, seen := number[p]
			if !seen {
				n = len(out)
				number[p] = n
				queue = append(queue, p)
				out = append(out, state{in: a[to].in, wish: a[to].wish, part: a[to].part})
			}
			out[i].next = append(out[i].next, n)
		}
	}
	return trimmed(out)
}

// within is the texts of at most n bytes.
func within(a automaton, n int) automaton {
	return unrolled(a,
		func(count int, _ *state) (int, bool) { return count + 1, count < n },
		func(_ int, s *state) bool { return s.final })
}

// atLeast is the texts of n bytes or more.
func atLeast(a automaton, n int) automaton {
	return unrolled(a,
		func(count int, _ *state) (int, bool) { return min(count+1, n), true },
		func(count int, s *state) bool { return s.final && count >= n })
}

// wholeCharacters reports whether a text can be cut at a state: it ends there, or the next character starts.
func wholeCharacters(a automaton, s *state) bool {
	return s.final || slices.ContainsFunc(s.next, func(to int) bool { return a[to].in.begins() })
}

// anyBeginnings is the texts cut anywhere between two characters, a superset of those cut to n, for cases in which
// counting is impossible.
func anyBeginnings(a automaton) automaton {
	out := slices.Clone(a)
	for i := range a {
		out[i].final = wholeCharacters(a, &a[i])
	}
	return out
}

// beginnings is the texts cut to n characters.
func beginnings(a automaton, n int) automaton {
	whole := func(s *state) bool { return wholeCharacters(a, s) }
	return unrolled(a,
		func(count int, s *state) (int, bool) {
			if s.in.begins() {
				count++
			}
			return count, count <= n
		},
		func(count int, s *state) bool { return s.final || count == n && whole(s) })
}

// trimmed removes the states from which no text ends.
func trimmed(a automaton) automaton {
	from := make([][]int, len(a))
	var queue []int
	live := make([]bool, len(a))
	for i, s := range a {
		for _, to := range s.next {
			from[to] = append(from[to], i)
		}
		if s.final {
			queue = append(queue, i)
			live[i] = true
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, p := range from[queue[i]] {
			if !live[p] {
				live[p] = true
				queue = append(queue, p)
			}
		}
	}
	number := make([]int, len(a))
	out := automaton{a[0]}
	for i := 1; i < len(a); i++ {
		if live[i] {
			number[i] = len(out)
			out = append(out, a[i])
		}
	}
	for i := range out {
		var next []int
		for _, to := range out[i].next {
			if live[to] {
				next = append(next, number[to])
			}
		}
		out[i].next = next
	}
	return out
}

// lengths are the lengths of the shortest and longest text in bytes; math.MaxInt if there is no longest. Dead states
// must have been removed.
func lengths(a automaton) (shortest, longest int) {
	shortest, longest = math.MaxInt, 0
	depth := make([]int, len(a))   // of the longest path to a state
	pending := make([]int, len(a)) // moves into it that were not yet followed
	for _, s := range a {
		for _, to := range s.next {
			pending[to]++
		}
	}
	order := []int{0}
	for i := 0; i < len(order); i++ {
		at := order[i]
		if a[at].final {
			longest = max(longest, depth[at])
		}
		for _, to := range a[at].next {
			depth[to] = max(depth[to], depth[at]+1)
			if pending[to]--; pending[to] == 0 {
				order = append(order, to)
			}
		}
	}
	if len(order) < len(a) {
		longest = math.MaxInt // states on a cycle are never reached in this order
	}
	near := make([]bool, len(a))
	ring := []int{0}
	for n := 0; len(ring) > 0; n++ {
		var out []int
		for _, at := range ring {
			if a[at].final {
				return n, longest
			}
			for _, to := range a[at].next {
				if !near[to] {
					near[to] = true
					out = append(out, to)
				}
			}
		}
		ring = out
	}
	return shortest, longest
}
