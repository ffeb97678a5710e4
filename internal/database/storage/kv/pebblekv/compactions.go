package pebblekv

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// offerInterval is how often Pebble is asked whether a compaction waits, as its own scheduler does.
const offerInterval = 100 * time.Millisecond

// compactions starts as many compactions at once as Pebble asks for, but the first only when the store is open. Pebble's own
// scheduler would also start one during Open, which waits for all that have begun: a restart would take as long as a compaction.
//
// It implements pebble.CompactionScheduler. Its lock is taken after those of Pebble, so it calls Pebble without it, except for
// GetAllowedWithoutPermission, which takes none.
type compactions struct {
	store   *Store
	db      pebble.DBForCompaction // set before all other calls
	changed chan struct{}          // something changed that may allow another compaction
	stop    chan struct{}
	stopped sync.WaitGroup

	mu      sync.Mutex
	running int
	open    bool // between start and Unregister
}

func newCompactions(s *Store) *compactions {
	return &compactions{store: s, changed: make(chan struct{}, 1), stop: make(chan struct{})}
}

// Register is called by Pebble while it opens.
func (c *compactions) Register(_ int, db pebble.DBForCompaction) { c.db = db }

// start allows compactions from now on. It is called once, unless Open fails.
func (c *compactions) start() {
	c.mu.Lock()
	c.open = true
	c.mu.Unlock()
	c.stopped.Go(c.offer)
	c.change()
}

// Unregister is called by Pebble when it closes. After it, nothing is called on the database.
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

// TrySchedule reports whether a compaction may start at once. If not, offer starts it later.
func (c *compactions) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasRoom() {
		return false, nil
	}
	c.running++
	return true, c
}

// hasRoom is called with mu held.
func (c *compactions) hasRoom() bool { return c.open && c.running < c.db.GetAllowedWithoutPermission() }

// UpdateGetAllowedWithoutPermission is called by Pebble when more compactions may be allowed.
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
	defer c.store.catch(&err) // the store is frozen
	ticker := time.NewTicker(offerInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-c.changed:
		case <-ticker.C:
		}
		for c.offerOne() {
		}
	}
}

// offerOne reports whether it started a compaction.
func (c *compactions) offerOne() bool {
	c.mu.Lock()
	room := c.hasRoom()
	c.mu.Unlock()
	if !room {
		return false
	}
	if waits, _ := c.db.GetWaitingCompaction(); !waits {
		return false
	}
	// It is counted before it starts, because it may end before Schedule returns.
	c.add(1)
	if !c.db.Schedule(c) {
		c.add(-1)
		return false
	}
	return true
}

func (c *compactions) add(n int) {
	c.mu.Lock()
	c.running += n
	c.mu.Unlock()
}

// The handle of a compaction, for all of them.

// Started is called when it begins.
func (c *compactions) Started() {}

// MeasureCPU is called by its goroutines.
func (c *compactions) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats is called while it runs.
func (c *compactions) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done is called when it has ended, with no lock of Pebble's held.
func (c *compactions) Done() {
	c.add(-1)
	c.change()
}
