package vector

import (
	"bytes"
	"container/heap"
	"slices"
)

// Nearest collects the best of many scored entries, using memory only for the requested number.
type Nearest struct {
	function Function
	most     int
	kept     []Scored // a heap with the farthest on top
}

// Scored is an entry of an index with its score.
type Scored struct {
	Key   []byte
	Score float64
	Bytes int // of the entry
}

// NewNearest returns a collection of at most that many entries.
func NewNearest(f Function, most int) *Nearest { return &Nearest{function: f, most: most} }

// Offer adds an entry if it is among the nearest so far. The key is copied.
func (n *Nearest) Offer(key []byte, score float64, bytes int) {
	if len(n.kept) < n.most {
		heap.Push((*farthestFirst)(n), Scored{slices.Clone(key), score, bytes})
		return
	}
	if last := &n.kept[0]; n.before(Scored{Key: key, Score: score}, *last) {
		*last = Scored{append(last.Key[:0], key...), score, bytes}
		heap.Fix((*farthestFirst)(n), 0)
	}
}

// Sorted returns the collected entries, the nearest first.
func (n *Nearest) Sorted() []Scored {
	out := slices.Clone(n.kept)
	slices.SortFunc(out, func(a, b Scored) int {
		if n.before(a, b) {
			return -1
		}
		return 1 // keys are unique
	})
	return out
}

func (n *Nearest) before(a, b Scored) bool {
	if a.Score != b.Score {
		return n.function.Nearer(a.Score, b.Score)
	}
	return bytes.Compare(a.Key, b.Key) < 0
}

// farthestFirst is the order of the heap.
type farthestFirst Nearest

func (h *farthestFirst) Len() int           { return len(h.kept) }
func (h *farthestFirst) Less(i, j int) bool { return (*Nearest)(h).before(h.kept[j], h.kept[i]) }
func (h *farthestFirst) Swap(i, j int)      { h.kept[i], h.kept[j] = h.kept[j], h.kept[i] }
func (h *farthestFirst) Push(x any)         { h.kept = append(h.kept, x.(Scored)) }

func (h *farthestFirst) Pop() any {
	last := h.kept[len(h.kept)-1]
	h.kept = h.kept[:len(h.kept)-1]
	return last
}
