package observe

import (
	"sync/atomic"
	"time"
)

// Delivery is how the delivery of a table's changes to its Kinesis destination fares.
type Delivery struct {
	// Records counts delivered records, Failures attempts that delivered less than they should.
	Records, Failures atomic.Int64

	behind atomic.Int64 // the time of the oldest change under way, in milliseconds since the epoch; 0 is none
}

// Delivery returns the counts of the table's delivery, which are shown from the first call on.
func (t *Table) Delivery() *Delivery {
	if d := t.delivery.Load(); d != nil {
		return d
	}
	t.delivery.CompareAndSwap(nil, new(Delivery))
	return t.delivery.Load()
}

// Delivering returns the counts of the table's delivery, nil where it never had one.
func (t *Table) Delivering() *Delivery { return t.delivery.Load() }

// Behind notes the time of the oldest change that has not been delivered.
func (d *Delivery) Behind(oldest time.Time) { d.behind.Store(oldest.UnixMilli()) }

// CaughtUp notes that all changes have been delivered.
func (d *Delivery) CaughtUp() { d.behind.Store(0) }

// Lag is how old the oldest change is that has not been delivered; 0 where all have been.
func (d *Delivery) Lag(now time.Time) time.Duration {
	oldest := d.behind.Load()
	if oldest == 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMilli(oldest)))
}
