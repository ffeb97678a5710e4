package engine

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// clockBehindMax is how far the machine's clock may be behind the database's time at Open without a warning. A crash alone causes
// a difference of at most a second.
const clockBehindMax = 5 * time.Second

const (
	// lookInterval is how often the store's clock is read, if it has one.
	lookInterval = time.Second
	// blindTime limits how far the time may advance past the last reading of the store's clock.
	blindTime = 2 * lookInterval
)

// clock is the database's time, the only clock the engine uses. It follows the machine's clock but never goes back: if the
// machine's clock is set back, it stands still until that has caught up.
//
// If the store has its own clock, shared by several processes, the database's time follows that one. The machine's clock then
// only measures the time since the store's clock was last read, and only up to blindTime. As long as it runs at the right speed,
// the database's time is ahead of the store's by at most the duration of one reading.
//
// The time does not go back across restarts and crashes either. Each commit advances the store's numbers to the clock's time
// (observedStore), so the number at which a store continues is above every time that a commit has recorded, and the clock starts
// there.
type clock struct {
	machine func() time.Time
	seen    atomic.Pointer[clockReading] // nil if the store's numbers are not times of its own clock
	last    atomic.Int64                 // the latest returned time, or the lower limit, in nanoseconds since the epoch
}

// clockReading is a reading of the store's clock, with the machine's time of the reading.
type clockReading struct{ store, machine time.Time }

// at returns the store's time at a time of the machine's clock.
func (s *clockReading) at(machine time.Time) time.Time {
	return s.store.Add(min(max(0, machine.Sub(s.machine)), blindTime))
}

// newClock returns a clock that starts at the store's latest number or later.
func newClock(ctx context.Context, store kv.Store, machine func() time.Time, log *slog.Logger) (*clock, error) {
	c := &clock{machine: machine}
	if err := c.look(ctx, store); err != nil {
		return nil, err
	}
	upcoming, err := kv.Upcoming(ctx, store)
	if err != nil || !upcoming.Timed() {
		return c, err
	}
	floor := time.UnixMilli(upcoming.Millis())
	c.last.Store(floor.UnixNano())
	if now := c.time(); floor.Sub(now) > clockBehindMax {
		log.WarnContext(ctx, "the machine's clock is behind the database's time, which does not advance until it has caught up",
			"machine", now.UTC(), "database", floor.UTC(), "behind", floor.Sub(now))
	}
	return c, nil
}

// Now returns the time.
func (c *clock) Now() time.Time {
	now := c.time()
	at := now.UnixNano()
	for {
		last := c.last.Load()
		if at < last {
			return time.Unix(0, last).In(now.Location())
		}
		if at == last || c.last.CompareAndSwap(last, at) {
			return now
		}
	}
}

// Now returns the database's time.
func (e *Engine) Now() time.Time { return e.clock.Now() }

// timed reports whether the store has its own clock.
func (c *clock) timed() bool { return c.seen.Load() != nil }

// time returns the store's time, or else the machine's.
func (c *clock) time() time.Time {
	if s := c.seen.Load(); s != nil {
		return s.at(c.machine())
	}
	return c.machine()
}

// look reads the store's clock, if it has one. The store's time is uncertain by the duration of the reading; if the previous
// estimate lies within that range, it is kept.
func (c *clock) look(ctx context.Context, store kv.Store) error {
	before := c.machine()
	at, timed, err := store.Time(ctx)
	if err != nil || !timed {
		return err
	}
	after := c.machine()
	if s := c.seen.Load(); s != nil {
		if known, latest := s.at(after), at.Add(after.Sub(before)); known.After(at) {
			at = slices.MinFunc([]time.Time{known, latest}, time.Time.Compare)
		}
	}
	c.seen.Store(&clockReading{store: at, machine: after})
	return nil
}

// follow advances the time to that of a number assigned by the store's clock.
func (c *clock) follow(n kv.Seq) {
	at := n.Millis() * int64(time.Millisecond)
	for last := c.last.Load(); at > last && !c.last.CompareAndSwap(last, at); last = c.last.Load() {
	}
}

// seq returns the lowest number of the current time.
func (c *clock) seq() kv.Seq { return kv.SeqAt(c.Now().UnixMilli()) }
