package observe

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Table holds the counts of one table.
type Table struct {
	Name string
	of   *Database
	Capacity
	// ConditionsFailed and Conflicts count items: a canceled transaction can fail several conditions.
	ConditionsFailed, Conflicts atomic.Int64
	// Expired is how many items time to live has deleted, Records how many stream records were returned.
	Expired, Records atomic.Int64

	delivery   atomic.Pointer[Delivery]
	operations []atomic.Pointer[Operation]
	indexes    registry[Capacity]
	throttles  registry[Throttles]    // by index; "" is the table
	latencies  registry[Histogram]    // of replication, by Region
	readers    registry[reader]       // by shard
	newest     registry[atomic.Int64] // by stream: the time of its newest record, in milliseconds since the epoch
}

// indexesMax is more than a table can have at a time; names of deleted indexes remain.
const indexesMax = 100

// Capacity is the consumption of a table or index, in capacity units.
type Capacity struct{ Read, Write Units }

// Units add up capacity units, which come in halves.
type Units struct {
	halves, times atomic.Int64
	// least and most are in halves, plus one; 0 means none. Restart resets them.
	least, most atomic.Int64
}

// Add adds consumed units; zero is not counted.
func (u *Units) Add(units float64) {
	halves := int64(units * 2)
	if halves == 0 {
		return
	}
	u.halves.Add(halves)
	u.times.Add(1)
	for v := u.least.Load(); v == 0 || halves+1 < v; v = u.least.Load() {
		if u.least.CompareAndSwap(v, halves+1) {
			break
		}
	}
	for v := u.most.Load(); halves+1 > v; v = u.most.Load() {
		if u.most.CompareAndSwap(v, halves+1) {
			break
		}
	}
}

// Total returns the sum of all additions.
func (u *Units) Total() float64 { return float64(u.halves.Load()) / 2 }

// Times returns the number of additions.
func (u *Units) Times() int64 { return u.times.Load() }

// Extremes returns the smallest and the largest addition since Restart; ok is false if there was none.
func (u *Units) Extremes() (least, most float64, ok bool) {
	l, m := u.least.Load(), u.most.Load()
	return float64(l-1) / 2, float64(m-1) / 2, l > 0 && m > 0
}

// Restart resets Extremes.
func (u *Units) Restart() {
	u.least.Store(0)
	u.most.Store(0)
}

// Index returns the consumption of an index, which must exist.
func (t *Table) Index(name string) *Capacity {
	if c := t.indexes.get(name, indexesMax, func(string) *Capacity { return new(Capacity) }); c != nil {
		return c
	}
	return t.indexes.get(Other, indexesMax+1, func(string) *Capacity { return new(Capacity) })
}

// Indexes returns the consumption by index; read only.
func (t *Table) Indexes() map[string]*Capacity { return t.indexes.all() }

// regionsMax is more than a server can serve.
const regionsMax = 64

// Replication returns the times from changes of the table to their arrival at its replica in another Region.
func (t *Table) Replication(to string) *Histogram {
	if h := t.latencies.get(to, regionsMax, func(string) *Histogram { return new(Histogram) }); h != nil {
		return h
	}
	return t.latencies.get(Other, regionsMax+1, func(string) *Histogram { return new(Histogram) })
}

// Replications returns the replication times by Region; read only.
func (t *Table) Replications() map[string]*Histogram { return t.latencies.all() }

// Throttles counts how often throughput limits rejected an item of a table or index.
type Throttles struct {
	Reads, Writes atomic.Int64
	reasons       registry[atomic.Int64]
}

// reasonsMax is more than there are.
const reasonsMax = 16

// Throttle counts that limits rejected one read or write of an item of the table (index "") or of an index entry. The reasons
// name the limits, from a fixed set: ReadKeyRangeThroughput.
func (t *Table) Throttle(index string, read bool, reasons ...string) {
	c := t.throttles.get(index, indexesMax, func(string) *Throttles { return new(Throttles) })
	if c == nil {
		c = t.throttles.get(Other, indexesMax+1, func(string) *Throttles { return new(Throttles) })
	}
	if read {
		c.Reads.Add(1)
	} else {
		c.Writes.Add(1)
	}
	for _, reason := range reasons {
		c.reasons.get(reason, reasonsMax, func(string) *atomic.Int64 { return new(atomic.Int64) }).Add(1)
	}
}

// Throttles returns the counts of throttling by index; read only.
func (t *Table) Throttles() map[string]*Throttles { return t.throttles.all() }

// Reasons returns how often each limit was exceeded; read only.
func (c *Throttles) Reasons() map[string]*atomic.Int64 { return c.reasons.all() }

// Operation holds the counts of one operation on one table.
type Operation struct {
	// Latency is that of successful requests, from the complete request to the encoded response.
	Latency Histogram
	// Returned is the number of returned items.
	Returned atomic.Int64

	mu       sync.Mutex
	failures map[Failure]int64
}

// Failure is the kind of an error response.
type Failure struct {
	Code  string // ConditionalCheckFailedException …
	Class Class
}

// Class attributes an error to the client or the server.
type Class string

// The classes.
const (
	User      Class = "user"      // 4xx: the request, or the state it depends on
	System    Class = "system"    // 5xx: the database
	Throttled Class = "throttled" // the request may be retried later
)

func (t *Table) operation(i int) *Operation {
	if o := t.operations[i].Load(); o != nil {
		return o
	}
	t.operations[i].CompareAndSwap(nil, new(Operation))
	return t.operations[i].Load()
}

// Operations calls visit with the operations that occurred on the table, and their indexes.
func (t *Table) Operations(visit func(i int, o *Operation)) {
	for i := range t.operations {
		if o := t.operations[i].Load(); o != nil {
			visit(i, o)
		}
	}
}

func (o *Operation) fail(f Failure) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failures == nil {
		o.failures = map[Failure]int64{}
	}
	o.failures[f]++
}

// Failures returns the number of failed requests by kind.
func (o *Operation) Failures() map[Failure]int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.failures)
}
