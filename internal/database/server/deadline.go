package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// deadline is a context that ends at a time with errTimeout as its cause. context.WithTimeoutCause sets a timer for each request,
// which costs four allocations, but few requests ever wait for one. A deadline sets its timer when Done is first called, and
// until then Err compares the time.
type deadline struct {
	context.Context // the parent
	at              time.Time

	timed  atomic.Pointer[context.Context] // with the timer; nil until needed
	mu     sync.Mutex                      // held while timed is created; guards the following
	cancel context.CancelFunc              // of timed
	ended  bool
}

// newDeadline returns a context that ends after a duration. The caller calls end when the request is over.
func newDeadline(ctx context.Context, after time.Duration) *deadline {
	return &deadline{Context: ctx, at: time.Now().Add(after)}
}

// withTimer returns the context with the timer.
func (d *deadline) withTimer() context.Context {
	if c := d.timed.Load(); c != nil {
		return *c
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.timed.Load(); c != nil {
		return *c
	}
	c, cancel := context.WithDeadlineCause(d.Context, d.at, errTimeout)
	if d.cancel = cancel; d.ended {
		cancel()
	}
	d.timed.Store(&c)
	return c
}

// end cancels the context.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended = true; d.cancel != nil {
		d.cancel()
	}
}

// over reports whether the context has ended before Done was called.
func (d *deadline) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
	if earlier, ok := d.Context.Deadline(); ok && earlier.Before(d.at) {
		return earlier, true
	}
	return d.at, true
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.withTimer().Done() }

// Err implements context.Context.
func (d *deadline) Err() error {
	if d.timed.Load() == nil && d.Context.Err() == nil && time.Now().Before(d.at) && !d.over() {
		return nil
	}
	return d.withTimer().Err()
}

// Value implements context.Context. Package context finds the cause through it.
func (d *deadline) Value(key any) any {
	if c := d.timed.Load(); c != nil {
		return (*c).Value(key)
	}
	return d.Context.Value(key)
}
