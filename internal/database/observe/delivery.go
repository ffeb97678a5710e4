package observe

import (
	"sync"
	"sync/atomic"
	"time"
)

// Delivery counts the delivery of a table's changes to its Kinesis destination, or of several tables that are counted together.
type Delivery struct {
	// Records counts delivered records, Failures attempts that failed at least in part.
	Records, Failures atomic.Int64

	mu     sync.Mutex
	behind map[string]time.Time // by table: the oldest change in progress
}

// Delivery returns the counts of the table's delivery, which are exported from the first call on.
func (t *Table) Delivery() *Delivery {
	if d := t.delivery.Load(); d != nil {
		return d
	}
	t.delivery.CompareAndSwap(nil, new(Delivery))
	return t.delivery.Load()
}

// Delivering returns the counts of the table's delivery, or nil if it never had one.
func (t *Table) Delivering() *Delivery { return t.delivery.Load() }

// Behind records the time of a table's oldest undelivered change.
func (d *Delivery) Behind(table string, oldest time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.behind == nil {
		d.behind = map[string]time.Time{}
	}
	d.behind[table] = oldest
}

// CaughtUp records that all changes of a table have been delivered.
func (d *Delivery) CaughtUp(table string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.behind, table)
}

// Lag returns the age of the oldest undelivered change, or 0 if there is none.
func (d *Delivery) Lag(now time.Time) (lag time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, oldest := range d.behind {
		lag = max(lag, now.Sub(oldest))
	}
	return lag
}
