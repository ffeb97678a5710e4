package engine

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// clockBehindMax is how far behind the database's time the machine's may be at Open before the log warns of it. A
// crash alone puts it behind by a second at most.
const clockBehindMax = 5 * time.Second

// adjustInterval is how often the machine's clock is compared with the store's, which it may be ahead or behind of by more and more.
const adjustInterval = 30 * time.Second

// clock is the database's time, the only one that the engine looks at: the machine's, but it never goes back. Where
// the machine's clock is set back it stands still until that has caught up.
//
// Where the store has a clock of its own, which several processes share, the database's time is that: the machine's clock tells only what
// has passed since the store's was looked at.
//
// It does not go back across restarts and crashes either. Each commit moves the store's numbers to the clock's time
// (observedStore), so the number at which a store continues is above every time that a commit has recorded, and the
// clock begins there.
type clock struct {
	machine func() time.Time
	timed   bool         // the store's numbers are times by themselves
	ahead   atomic.Int64 // of the machine's clock the store's is, in nanoseconds
	last    atomic.Int64 // the latest time given out, or the floor, in nanoseconds since the epoch
}

// newClock begins no earlier than the store's numbers.
func newClock(ctx context.Context, store kv.Store, machine func() time.Time, log *slog.Logger) (*clock, error) {
	c := &clock{machine: machine}
	if err := c.adjust(ctx, store); err != nil {
		return nil, err
	}
	upcoming, err := upcomingSeq(ctx, store)
	if err != nil || !upcoming.Timed() {
		return c, err
	}
	floor := time.UnixMilli(upcoming.Millis())
	c.last.Store(floor.UnixNano())
	if now := c.time(); floor.Sub(now) > clockBehindMax {
		log.WarnContext(ctx, "the machine's clock is behind the database's time, which stands still until it has caught up",
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

// time is the machine's, as the store's clock has it.
func (c *clock) time() time.Time { return c.machine().Add(time.Duration(c.ahead.Load())) }

// adjust looks at the store's clock, if it has one.
func (c *clock) adjust(ctx context.Context, store kv.Store) error {
	before := c.machine()
	at, timed, err := store.Time(ctx)
	if err != nil || !timed {
		return err
	}
	after := c.machine()
	if !c.timed { // set before others look at it, and never again
		c.timed = true
	}
	c.ahead.Store(int64(at.Sub(before.Add(after.Sub(before) / 2))))
	return nil
}

// follow brings the time to that of a number which the store has given out by its own clock.
func (c *clock) follow(n kv.Seq) {
	at := n.Millis() * int64(time.Millisecond)
	for last := c.last.Load(); at > last && !c.last.CompareAndSwap(last, at); last = c.last.Load() {
	}
}

// seq is the lowest number of the time.
func (c *clock) seq() kv.Seq { return kv.SeqAt(c.Now().UnixMilli()) }

// upcomingSeq returns a number that all acknowledged changes are below.
func upcomingSeq(ctx context.Context, store kv.Store) (n kv.Seq, err error) {
	err = store.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
		n = txn.LogSeq()
		return nil
	})
	return n, err
}
