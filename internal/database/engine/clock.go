package engine

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// clockBehindMax is how far behind the database's time the machine's may be at Open before the log warns of it. A
// crash alone puts it behind by a second at most.
const clockBehindMax = 5 * time.Second

const (
	// lookInterval is how often the store's clock is looked at, where it has one.
	lookInterval = time.Second
	// blindTime is how far the clock may go on beyond what it saw last of the store's.
	blindTime = 2 * lookInterval
)

// clock is the database's time, the only one that the engine looks at: the machine's, but it never goes back. Where
// the machine's clock is set back it stands still until that has caught up.
//
// Where the store has a clock of its own, which several processes share, the database's time is that: the machine's clock tells only how much
// time has passed since the store's was looked at, and is not believed beyond blindTime. While it goes at the right speed, the time is not
// ahead of the store's by more than one look at it took.
//
// It does not go back across restarts and crashes either. Each commit moves the store's numbers to the clock's time
// (observedStore), so the number at which a store continues is above every time that a commit has recorded, and the
// clock begins there.
type clock struct {
	machine func() time.Time
	seen    atomic.Pointer[sight] // nil: the store's numbers are no times by themselves
	last    atomic.Int64          // the latest time given out, or the floor, in nanoseconds since the epoch
}

// sight is what was seen of the store's clock: what it showed, as far as is known, when the machine's showed another time.
type sight struct{ store, machine time.Time }

// at is the store's time when the machine's clock shows another one.
func (s *sight) at(machine time.Time) time.Time {
	return s.store.Add(min(max(0, machine.Sub(s.machine)), blindTime))
}

// newClock begins no earlier than the store's numbers.
func newClock(ctx context.Context, store kv.Store, machine func() time.Time, log *slog.Logger) (*clock, error) {
	c := &clock{machine: machine}
	if err := c.look(ctx, store); err != nil {
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

// Now is the database's time.
func (e *Engine) Now() time.Time { return e.clock.Now() }

// timed tells whether the store has a clock of its own.
func (c *clock) timed() bool { return c.seen.Load() != nil }

// time is the store's, or else the machine's.
func (c *clock) time() time.Time {
	if s := c.seen.Load(); s != nil {
		return s.at(c.machine())
	}
	return c.machine()
}

// look looks at the store's clock, if it has one. What it showed is between as much as that and as much more as the look took; what was
// taken for its time before stays, as far as it is in there.
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
	c.seen.Store(&sight{store: at, machine: after})
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
