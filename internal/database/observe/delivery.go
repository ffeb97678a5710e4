package observe

import (
	"sync/atomic"
	"time"
)

// Delivery counts the delivery of a table's changes to its Kinesis destination.
type Delivery struct {
	// Records counts delivered records, Failures attempts that failed at least in part.
	Records, Failures atomic.Int64

	behind atomic.Int64 // time of the oldest change in progress, in milliseconds since the epoch; 0 if none
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

// Behind records the time of the oldest undelivered change.
func (d *Delivery) Behind(oldest time.Time) { d.behind.Store(oldest.UnixMilli()) }

// CaughtUp records that all changes have been delivered.
func (d *Delivery) CaughtUp() { d.behind.Store(0) }

// Lag returns the age of the oldest undelivered change, or 0 if there is none.
func (d *Delivery) Lag(now time.Time) time.Duration {
	oldest := d.behind.Load()
	if oldest == 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMilli(oldest)))
}
