package faults

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/monotable/monotable/test/internal/registers"
)

const (
	// pairsTogether is the number of pairs in use.
	pairsTogether = 4
	// A pair is used up to a number of requests, or of lost ones: the time to check a history doubles with each request that
	// may execute at any later time.
	pairRequests = 300
	pairLost     = 6
)

// pairs are the pairs that clients use, with the values they last saw, so that conditions often hold.
type pairs struct {
	mu     sync.Mutex
	next   int // all before it have been used
	inUse  map[int]*use
	random []int // those in use
}

type use struct {
	seen           registers.Pair
	requests, lost int
}

func newPairs() *pairs {
	p := &pairs{inUse: map[int]*use{}}
	for range pairsTogether {
		p.open()
	}
	return p
}

func (p *pairs) open() {
	p.inUse[p.next] = &use{seen: registers.Pair{registers.Absent, registers.Absent}}
	p.next++
	p.random = slices.Sorted(maps.Keys(p.inUse))
}

// take returns a pair for a request, and its last seen values.
func (p *pairs) take(random *rand.Rand) (pair int, seen registers.Pair) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pair = p.random[random.IntN(len(p.random))]
	return pair, p.inUse[pair].seen
}

// done records the outcome of a request.
func (p *pairs) done(r registers.Request, a registers.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.inUse[r.Pair]
	if u == nil {
		return
	}
	u.requests++
	switch {
	case a.Lost && r.Kind.Writes():
		u.lost++
	case a.Lost, a.Refused, a.Conflict:
	case r.Kind == registers.Get, r.Kind == registers.Add:
		u.seen[r.Register] = a.Value[0]
	case r.Kind == registers.Put, r.Kind == registers.Swap:
		u.seen[r.Register] = r.Value
	case r.Kind == registers.SwapBoth:
		u.seen = registers.Pair{r.Value, r.Value}
	case r.Kind == registers.Remove:
		u.seen[r.Register] = registers.Absent
	case !r.Kind.Writes():
		u.seen = a.Value
	}
	if u.requests >= pairRequests || u.lost >= pairLost {
		delete(p.inUse, r.Pair)
		p.open()
	}
}

// used is the number of used pairs, counted from 0.
func (p *pairs) used() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}
