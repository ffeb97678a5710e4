package pebblekv

import (
	"slices"
	"sync"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// reservation is how many sequence numbers are reserved at a time, and at most unused after a crash: a second's worth if they are
// times, and enough for a quarter of a billion records if they are not.
const reservation kv.Seq = 1000 << 18

// sequence assigns the numbers of change log records and tracks which are in flight.
type sequence struct {
	// reserve stores that numbers below limit may have been assigned, ahead of any update that uses them.
	reserve func(limit kv.Seq) error

	mu      sync.Mutex
	next    kv.Seq
	limit   kv.Seq   // numbers from here on are not reserved yet
	flights []flight // in ascending order; the first has not landed
	ended   error    // why no more numbers are assigned
}

// flight is the numbers of one update.
type flight struct {
	first  kv.Seq
	landed bool
}

// newSequence continues from the last reserved number.
func newSequence(reserved kv.Seq, reserve func(kv.Seq) error) *sequence {
	start := max(reserved, 1)
	return &sequence{reserve: reserve, next: start, limit: start}
}

// take assigns n numbers, none below floor, which are in flight until done, and returns the first.
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

// bound returns the lowest number that is in flight or not assigned yet.
func (q *sequence) bound() kv.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.flights) > 0 {
		return q.flights[0].first
	}
	return q.next
}

// upcoming returns the lowest unassigned number after skipping those below floor. It may exceed the limit: requests that only
// read call it, so it writes nothing. See keepUp.
func (q *sequence) upcoming(floor kv.Seq) (kv.Seq, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended == nil {
		q.next = max(q.next, floor)
	}
	return q.next, q.ended
}

// end stops the assignment of numbers and returns one greater than all assigned ones.
func (q *sequence) end(why error) kv.Seq {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = why
	return q.next
}

// keepUp reserves the numbers that upcoming has returned, and reports whether there were any.
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

// settle reserves exactly up to next: it returns unused numbers, and reserves those that upcoming has skipped.
func (q *sequence) settle() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.limit == q.next {
		return nil
	}
	q.limit = q.next
	return q.reserve(q.limit)
}
