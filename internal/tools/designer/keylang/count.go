package keylang

import (
	"math"
	"slices"
)

// maxSubsets bounds the number of states of a deterministic automaton.
const maxSubsets = 1 << 13

// subset is a state of the deterministic automaton: the set of states of the other that one text leads to. Each of
// its moves reads a set of bytes.
type subset struct {
	states []int
	final  bool
	moves  []move
}

type move struct {
	bytes byteSet
	to    int
}

// determined is the subset construction, in which every text has exactly one path; false if there are too many
// states.
func determined(a automaton) ([]subset, bool) {
	classes := classesOf(a)
	out := []subset{{states: []int{0}, final: a[0].final}}
	number := map[string]int{keyOf(out[0].states): 0}
	queue := []int{0}
	for left := effort; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for _, c := range classes {
			var to []int
			for _, s := range out[i].states {
				if left -= 1 + len(a[s].next); left < 0 || len(out) > maxSubsets {
					return nil, false
				}
				for _, next := range a[s].next {
					if !a[next].in.and(c).none() {
						to = append(to, next)
					}
				}
			}
			if len(to) == 0 {
				continue
			}
			slices.Sort(to)
			to = slices.Compact(to)
			n, known := number[keyOf(to)]
			if !known {
				n = len(out)
				number[keyOf(to)] = n
				queue = append(queue, n)
				out = append(out, subset{states: to, final: slices.ContainsFunc(to, func(s int) bool { return a[s].final })})
			}
			out[i].moves = append(out[i].moves, move{c, n})
		}
	}
	return out, true
}

// keyOf encodes states, of which there are less than 2^24, as a text.
func keyOf(states []int) string {
	key := make([]byte, 0, 3*len(states))
	for _, s := range states {
		key = append(key, byte(s), byte(s>>8), byte(s>>16))
	}
	return string(key)
}

// classesOf partitions the bytes into sets that no state distinguishes.
func classesOf(a automaton) []byteSet {
	classes := []byteSet{span(0, 0xff)}
	known := map[byteSet]bool{}
	for _, s := range a {
		if known[s.in] {
			continue
		}
		known[s.in] = true
		var finer []byteSet
		for _, c := range classes {
			for _, part := range []byteSet{c.and(s.in), c.minus(s.in)} {
				if !part.none() {
					finer = append(finer, part)
				}
			}
		}
		classes = finer
	}
	return classes
}

// countTexts is the number of texts; +Inf if it is infinite. For too large an automaton it counts paths instead, of
// which there are at least as many.
func countTexts(a automaton) float64 {
	if _, longest := lengths(a); longest == math.MaxInt {
		return math.Inf(1)
	}
	d, ok := determined(a)
	if !ok {
		return countPaths(len(a), func(n int) (bool, []move) {
			moves := make([]move, len(a[n].next))
			for i, to := range a[n].next {
				moves[i] = move{a[to].in, to}
			}
			return a[n].final, moves
		})
	}
	return countPaths(len(d), func(n int) (bool, []move) { return d[n].final, d[n].moves })
}

// countPaths counts the paths through an acyclic graph.
func countPaths(size int, of func(int) (bool, []move)) float64 {
	memo := make([]float64, size)
	var count func(int) float64
	count = func(n int) float64 {
		if memo[n] > 0 {
			return memo[n]
		}
		final, moves := of(n)
		sum := 0.0
		if final {
			sum = 1
		}
		for _, m := range moves {
			sum += float64(m.bytes.size()) * count(m.to)
		}
		memo[n] = sum
		return sum
	}
	return count(0)
}

// list are the texts in byte order, false if there are more than limit.
func list(a automaton, limit int) ([]string, bool) {
	if _, longest := lengths(a); longest == math.MaxInt {
		return nil, false
	}
	d, ok := determined(a)
	if !ok {
		return nil, false
	}
	out := []string{}
	var walk func(n int, text []byte) bool
	walk = func(n int, text []byte) bool {
		if d[n].final {
			if len(out) == limit {
				return false
			}
			out = append(out, string(text))
		}
		for c := range 256 {
			for _, m := range d[n].moves {
				if m.bytes.has(byte(c)) && !walk(m.to, append(text, byte(c))) {
					return false
				}
			}
		}
		return true
	}
	if !walk(0, nil) {
		return nil, false
	}
	return out, true
}
