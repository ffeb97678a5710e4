package pebblekv

import (
	"slices"
	"sync"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// reservation is how many sequence numbers are reserved at a time, and at most unused after a crash: a second's
// worth where they are times, and enough for a quarter of a billion records where they are not.
const reservation kv.Seq = 1000 << 18

// sequence gives out the numbers of change log records and knows which of them are in flight.
type sequence struct {
	// reserve records that numbers below limit may have been given out, ahead of any update that uses them.
	reserve func(limit kv.Seq) error

	mu      sync.Mutex
	next    kv.Seq
	limit   kv.Seq   // numbers from here on are not reserved yet
	flights []flight // in ascending order; the first is not landed
	ended   error    // why no more numbers are given out
}

// flight is the numbers of one update.
type flight struct {
	first  kv.Seq
	landed bool
}

// newSequence goes on from the number that was reserved last.
func newSequence(reserved kv.Seq, reserve func(kv.Seq) error) *sequence {
	start := max(reserved, 1)
	return &sequence{reserve: reserve, next: start, limit: start}
}

// take returns the first of n numbers, none below floor, which are in flight until done is called with it.
func (q *sequence) take(n int, floor kv.Seq) (kv.Seq, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := max(q.next, floor)
	next := first + kv.Seq(n)
	if next > q.limit {
		limit := next + reservation
		if err := q.reserve(limit); err != nil {
			return 0, err
		}
		q.limit = limit
	}
	q.next = next
	if n == 0 {
		return first, nil
	}
	q.flights = append(q.flights, flight{first: first})
	return first, nil
}

// done ends a flight.
func (q *sequence) done(first kv.Seq) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, _ := slices.BinarySearchFunc(q.flights, first, func(f flight, first kv.Seq) int {
		switch {
		case f.first < first:
			return -1
		case f.first > first:
			return 1
		}
		return 0
	})
	q.flights[at].landed = true
	landed := 0
	for landed < len(q.flights) && q.flights[landed].landed {
		landed++
	}
	q.flights = slices.Delete(q.flights, 0, landed)
}

// bound is the lowest number that is in flight or not given out.
func (q *sequence) bound() kv.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.flights) > 0 {
		return q.flights[0].first
	}
	return q.next
}

// upcoming is the lowest number that is not given out, once those below floor are passed over. It may be beyond the
// limit: requests that only read ask for it, so it writes nothing. See keepUp.
func (q *sequence) upcoming(floor kv.Seq) (kv.Seq, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended == nil {
		q.next = max(q.next, floor)
	}
	return q.next, q.ended
}

// end has no more numbers given out and returns one that all are below.
func (q *sequence) end(why error) kv.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = why
	return q.next
}

// keepUp reserves the numbers that upcoming has passed over, and reports whether there were any.
func (q *sequence) keepUp() (reserved bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next <= q.limit {
		return false, nil
	}
	limit := q.next + reservation
	if err := q.reserve(limit); err != nil {
		return false, err
	}
	q.limit = limit
	return true, nil
}

// settle makes next the number that is reserved: it gives back what is not used, and reserves what upcoming has passed
// over.
func (q *sequence) settle() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.limit == q.next {
		return nil
	}
	q.limit = q.next
	return q.reserve(q.limit)
}
