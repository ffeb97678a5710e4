package keylang

import "slices"

// effort bounds the work of one question, in pairs of moves. Real designs need some thousands.
const effort = 1 << 20

// pace is one byte of a text that two automata read, with the states it leads to.
type pace struct {
	c    byte
	p, q int
}

// verdict is the result of a search.
type verdict uint8

const (
	no verdict = iota
	yes
	cut // the effort ran out
)

// search walks two automata along the same text. Flag is a small state of the question, initially 0: step returns its next
// value, or false if this step is not allowed; a walk succeeds if both accept and the flag is want.
type search struct {
	a, b   automaton
	step   func(flag uint8, p, q *state) (uint8, bool)
	want   uint8
	effort *int
}

// intersection looks for a text in both languages.
func intersection(a, b automaton, effort *int) ([]pace, verdict) {
	return search{a: a, b: b, effort: effort}.run()
}

// run looks for a shortest text, breadth first. Among bytes on which the two can take the same pair of moves it tries only
// one, because the others lead to the same pair of states.
func (s search) run() ([]pace, verdict) {
	type place struct {
		p, q int
		flag uint8
	}
	type node struct {
		place
		c    byte
		from int
	}
	nodes := []node{{from: -1}}
	seen := map[place]struct{}{{}: {}}
	for i := 0; i < len(nodes); i++ {
		at := nodes[i]
		p, q := &s.a[at.p], &s.b[at.q]
		if p.final && q.final && at.flag == s.want {
			var walk []pace
			for n := i; n > 0; n = nodes[n].from {
				walk = append(walk, pace{nodes[n].c, nodes[n].p, nodes[n].q})
			}
			slices.Reverse(walk)
			return walk, yes
		}
		if *s.effort -= 1 + len(p.next)*len(q.next); *s.effort < 0 {
			return nil, cut
		}
		for _, pn := range p.next {
			for _, qn := range q.next {
				pto, qto := &s.a[pn], &s.b[qn]
				both := pto.in.and(qto.in)
				if both.none() {
					continue
				}
				flag := at.flag
				if s.step != nil {
					var ok bool
					if flag, ok = s.step(flag, pto, qto); !ok {
						continue
					}
				}
				to := place{pn, qn, flag}
				if _, known := seen[to]; !known {
					seen[to] = struct{}{}
					nodes = append(nodes, node{to, both.choose(pto.wish, qto.wish), i})
				}
			}
		}
	}
	return nil, no
}

// textOf is the text of a walk.
func textOf(walk []pace) string {
	b := make([]byte, len(walk))
	for i, w := range walk {
		b[i] = w.c
	}
	return string(b)
}
