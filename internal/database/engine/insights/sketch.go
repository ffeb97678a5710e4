package insights

import (
	"cmp"
	"container/heap"
	"slices"
)

// sketch finds the keys with the largest sums among any number of keys, using a fixed number of counters: the Space-Saving
// algorithm of Metwally, Agrawal and El Abbadi. A key without a counter takes over the smallest one, whose count becomes the
// key's possible error. With N the sum of everything added to a sketch of m counters:
//
//	count - err ≤ the key's true sum ≤ count, and err ≤ N/m
//	every key whose true sum is more than N/m has a counter
//
// With at most m different keys all counts are exact. The sum of all counts is N.
type sketch struct {
	room  int
	byKey map[string]*counter
	least counters

	samples         int64 // number of additions
	lowest, highest int64 // of a single addition
}

type counter struct {
	key        string
	count, err int64
	place      int // index in the heap
}

func newSketch(room int) *sketch { return &sketch{room: room, byKey: make(map[string]*counter)} }

func (s *sketch) add(key string, n int64) {
	if s.samples++; s.samples == 1 {
		s.lowest, s.highest = n, n
	}
	s.lowest, s.highest = min(s.lowest, n), max(s.highest, n)
	c := s.byKey[key]
	switch {
	case c != nil:
		c.count += n
		heap.Fix(&s.least, c.place)
	case len(s.least) < s.room:
		c = &counter{key: key, count: n}
		s.byKey[key] = c
		heap.Push(&s.least, c)
	default:
		c = s.least[0]
		delete(s.byKey, c.key)
		c.key, c.err = key, c.count
		c.count += n
		s.byKey[key] = c
		heap.Fix(&s.least, 0)
	}
}

// floor returns the maximum sum of a key without a counter.
func (s *sketch) floor() int64 {
	if len(s.least) < s.room {
		return 0
	}
	return s.least[0].count
}

// counters is a heap with the smallest count on top.
type counters []*counter

// Len implements heap.Interface.
func (h *counters) Len() int { return len(*h) }

// Less implements heap.Interface.
func (h *counters) Less(i, j int) bool { return (*h)[i].count < (*h)[j].count }

// Swap implements heap.Interface.
func (h *counters) Swap(i, j int) {
	c := *h
	c[i], c[j] = c[j], c[i]
	c[i].place, c[j].place = i, j
}

// Push implements heap.Interface.
func (h *counters) Push(x any) {
	c := x.(*counter)
	c.place = len(*h)
	*h = append(*h, c)
}

// Pop implements heap.Interface; sketches never shrink.
func (h *counters) Pop() any { panic("insights: a sketch has no counter less") }

// merge adds up sketches of different times, largest count first. A key without a counter in a full sketch may have had up to
// that sketch's smallest count.
func merge(sketches []*sketch) []counter {
	sums := map[string]*counter{}
	for _, s := range sketches {
		for key := range s.byKey {
			sums[key] = &counter{key: key}
		}
	}
	for _, s := range sketches {
		floor := s.floor()
		for key, sum := range sums {
			if c := s.byKey[key]; c != nil {
				sum.count += c.count
				sum.err += c.err
			} else {
				sum.count += floor
				sum.err += floor
			}
		}
	}
	out := make([]counter, 0, len(sums))
	for _, c := range sums {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b counter) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.key, b.key))
	})
	return out
}
