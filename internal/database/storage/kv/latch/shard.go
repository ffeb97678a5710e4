package latch

import (
	"sync"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// shard has the latches of some hashes. Its slice is short, so a linear search is faster than a map.
type shard struct {
	mu      sync.Mutex
	latches []latch
	_       [32]byte // pads a shard to a cache line
}

// latch is a latch that is held or waited for.
type latch struct {
	hash            uint64
	first, last     *waiter
	shared          int32 // shared holders, including transactions
	sharedTxns      int32 // the transactions among them
	exclusive       bool
	exclusiveTxn    bool
	failOnTxnQueued bool // a waiter may have to fail when a transaction gets the latch
}

// waiter is a queued claim. done receives nil when the claim is granted, or an error when it is refused.
type waiter struct {
	claim claim
	next  *waiter
	done  chan error
}

// enter grants the claim and returns nil, nil; or refuses it with an error; or queues it.
func (s *shard) enter(c *claim) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.find(c.hash)
	if l == nil {
		s.latches = append(s.latches, latch{hash: c.hash})
		s.latches[len(s.latches)-1].grant(c)
		return nil, nil
	}
	if l.refuses(c) {
		return nil, kv.ErrConflict
	}
	if l.first == nil && l.admits(c) {
		l.grant(c)
		return nil, nil
	}
	w := &waiter{claim: *c, done: make(chan error, 1)}
	l.push(w)
	return w, nil
}

func (s *shard) release(c *claim) {
	s.mu.Lock()
	l := s.find(c.hash)
	l.revoke(c)
	if l.first != nil {
		l.advance()
	}
	s.drop(l)
	s.mu.Unlock()
}

// abandon removes a queued claim. It may have been granted in the meantime.
func (s *shard) abandon(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case err := <-w.done:
		if err != nil {
			return
		}
		l := s.find(w.claim.hash)
		l.revoke(&w.claim)
		l.advance()
		s.drop(l)
	default:
		l := s.find(w.claim.hash)
		l.remove(func(x *waiter) bool { return x == w })
		l.advance()
		s.drop(l)
	}
}

func (s *shard) find(hash uint64) *latch {
	for i := range s.latches {
		if s.latches[i].hash == hash {
			return &s.latches[i]
		}
	}
	return nil
}

// drop removes the latch if it has no holders or waiters.
func (s *shard) drop(l *latch) {
	if l.exclusive || l.shared > 0 || l.first != nil {
		return
	}
	end := len(s.latches) - 1
	*l = s.latches[end]
	s.latches[end] = latch{}
	s.latches = s.latches[:end]
}

// admits reports whether the claim can share the latch with its holders.
func (l *latch) admits(c *claim) bool {
	return !l.exclusive && (!c.exclusive || l.shared == 0)
}

// refuses reports whether the claim conflicts with a transaction for which it must not wait.
func (l *latch) refuses(c *claim) bool {
	return c.failOnTxn && (l.exclusiveTxn || c.exclusive && l.sharedTxns > 0)
}

func (l *latch) grant(c *claim) {
	if c.exclusive {
		l.exclusive, l.exclusiveTxn = true, c.transaction
		return
	}
	l.shared++
	if c.transaction {
		l.sharedTxns++
	}
}

func (l *latch) revoke(c *claim) {
	if c.exclusive {
		l.exclusive, l.exclusiveTxn = false, false
		return
	}
	l.shared--
	if c.transaction {
		l.sharedTxns--
	}
}

func (l *latch) push(w *waiter) {
	if l.first == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
	l.failOnTxnQueued = l.failOnTxnQueued || w.claim.failOnTxn
}

// advance grants the waiters at the front that are compatible with the holders, and refuses those that must not wait for them.
func (l *latch) advance() {
	for l.first != nil && l.admits(&l.first.claim) {
		w := l.first
		l.first = w.next
		l.grant(&w.claim)
		w.done <- nil
		if w.claim.transaction && l.failOnTxnQueued {
			l.remove(l.refuse)
		}
	}
}

// refuse fails a waiter that must not wait for the current holders, and reports whether it did.
func (l *latch) refuse(w *waiter) bool {
	refused := l.refuses(&w.claim)
	if refused {
		w.done <- kv.ErrConflict
	}
	return refused
}

// remove removes the waiters selected by drop from the queue.
func (l *latch) remove(drop func(*waiter) bool) {
	queue := l.first
	l.first, l.last, l.failOnTxnQueued = nil, nil, false
	for w := queue; w != nil; {
		next := w.next
		w.next = nil
		if !drop(w) {
			l.push(w)
		}
		w = next
	}
}
