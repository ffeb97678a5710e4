package pebblekv

import (
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// offerInterval is how often Pebble is asked whether a compaction waits: as often as its own scheduler asks.
const offerInterval = 100 * time.Millisecond

// compactions starts as many compactions at once as Pebble allows, but the first only when the store is open. Pebble's own
// scheduler would also start one during Open, which waits for all that have begun: a restart would take as long as a compaction.
//
// It implements pebble.CompactionScheduler, and is the pebble.CompactionGrantHandle of every compaction. Its lock is taken after
// those of Pebble, so it calls Pebble without it, except for GetAllowedWithoutPermission, which takes none.
type compactions struct {
	store   *Store
	db      pebble.DBForCompaction // set before any other method uses it
	changed chan struct{}          // something changed that may allow another compaction
	stop    chan struct{}
	stopped sync.WaitGroup

	mu      sync.Mutex
	running int
	refused bool // TrySchedule has refused one since offerOne counted one
	open    bool // between start and Unregister
}

func newCompactions(s *Store) *compactions {
	return &compactions{store: s, changed: make(chan struct{}, 1), stop: make(chan struct{})}
}

// Register is called by Pebble while it opens.
func (c *compactions) Register(_ int, db pebble.DBForCompaction) { c.db = db }

// start allows compactions from now on. It is called once, or never if Open fails.
func (c *compactions) start() {
	c.mu.Lock()
	c.open = true
	c.mu.Unlock()
	c.stopped.Go(c.offer)
	c.change()
}

// Unregister is called by Pebble when it closes. Afterwards nothing is called on the database.
func (c *compactions) Unregister() {
	c.mu.Lock()
	open := c.open
	c.open = false
	c.mu.Unlock()
	if open {
		close(c.stop)
		c.stopped.Wait()
	}
}

// TrySchedule reports whether a compaction may start at once. If so, it is counted; if not, offer starts it later.
func (c *compactions) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasRoom() {
		c.refused = true
		return false, nil
	}
	c.running++
	return true, c
}

// hasRoom reports whether another compaction may start: not in a frozen store, where each would fail and be followed by the next.
// mu is held.
func (c *compactions) hasRoom() bool {
	return c.open && c.store.disk.failure() == nil && c.running < c.db.GetAllowedWithoutPermission()
}

// UpdateGetAllowedWithoutPermission is called by Pebble, with its lock held, when more compactions may be allowed.
func (c *compactions) UpdateGetAllowedWithoutPermission() { c.change() }

func (c *compactions) change() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// offer starts compactions that wait, while more are allowed.
func (c *compactions) offer() {
	var err error
	defer c.store.catch(&err) // after a fatal error; the store is frozen
	ticker := time.NewTicker(offerInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-c.store.dead:
			return
		case <-c.changed:
		case <-ticker.C:
		}
		for c.offerOne() {
		}
	}
}

// offerOne starts a compaction that waits, and reports whether another may start. It does not call GetWaitingCompaction first, because
// Schedule picks a compaction itself.
func (c *compactions) offerOne() bool {
	c.mu.Lock()
	room := c.hasRoom()
	if room { // counted before it starts, because it may end before Schedule returns
		c.running++
		c.refused = false
	}
	c.mu.Unlock()
	if !room {
		return false
	}
	started, again := c.schedule()
	if started {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	return again || c.refused // perhaps only because this one was counted
}

// schedule starts a compaction. Pebble panics if the one that it has picked is a manual one that has been cancelled since. It has then
// changed nothing but forgotten its choice, so that the next call picks another.
func (c *compactions) schedule() (started, again bool) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case error:
			if again = strings.Contains(reason.Error(), "did not find manual compaction"); !again {
				panic(reason)
			}
		default:
			panic(reason)
		}
	}()
	return c.db.Schedule(c), false
}

// Started is called when a compaction begins.
func (c *compactions) Started() {}

// MeasureCPU is called by its goroutines.
func (c *compactions) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats is called while it runs.
func (c *compactions) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done is called when one has ended, with no lock of Pebble's held.
func (c *compactions) Done() {
	c.mu.Lock()
	c.running--
	c.mu.Unlock()
	c.change()
}
