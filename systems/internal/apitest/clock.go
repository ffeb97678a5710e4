package apitest

import (
	"sync"
	"time"
)

// Clock is a clock that only the test advances, or the system clock.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	machine bool
}

// newClock starts at the present, because items expire by the database's own clock.
func newClock() *Clock { return &Clock{now: time.Now().UTC().Truncate(time.Second)} }

// Now returns the current time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machine {
		return time.Now().UTC()
	}
	return c.now
}

// Advance advances the clock. It panics if the system runs as its binary; see Built.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machine {
		panic("apitest: nobody advances the clock of a binary")
	}
	c.now = c.now.Add(d)
}
