// Package throttle is the model of how DynamoDB limits throughput: it says which requests a table or index has capacity for.
//
// It is arithmetic on token buckets, in memory. It knows no tables, no clock and no requests: package engine tells it what is
// configured, what a request costs (package capacity) and what time it is.
//
// # Model
//
// A Resource is a table or a global index. Reads and writes have buckets of their own, each with a rate, which refills it,
// and a depth:
//
//	provisioned     the provisioned throughput        300 seconds of it     ProvisionedThroughputExceeded
//	on demand       the configured maximum            300 seconds of it     MaxOnDemandThroughputExceeded
//	                the quota of the account          1 second of it        AccountLimitExceeded
//	                the warm throughput               1 second of it        KeyRangeThroughputExceeded
//	each partition  1,000 writes, 3,000 reads         1 second of it        KeyRangeThroughputExceeded
//
// A request is served if every bucket that it touches has the units that it needs; else none is charged. A full bucket
// refuses nothing, so that a request that costs more than the depth can be served at all. What a read costs beyond the least
// that it can is known only afterwards, and is charged then: a bucket can go below zero, and refuses until it is refilled.
//
// The space of partition hashes is divided evenly among the partitions that the warm throughput and the size need. A
// partition that keeps refusing for SplitAfter is split for heat: around the one hash that has more than half of the
// traffic, which is then isolated, else where the traffic has its middle. A hash is never divided: one partition key has the
// throughput of one partition at most.
//
// Growth says how the warm throughput of what is on demand follows its traffic.
//
// # Invariants
//
//	I1  Arithmetic is exact: tokens are billionths of a unit, in integers.
//	I2  The same calls at the same times have the same results.
//	I3  Over any time t, a bucket grants at most depth + rate × t, what was charged afterwards and one request aside.
//
// All methods of Limiter may be called at once.
package throttle

import (
	"slices"
	"sync"
	"time"
)

// Op says whether units are those of reads or of writes.
type Op uint8

// The operations.
const (
	Read Op = iota
	Write
	ops
)

// Limit is what a request exceeds.
type Limit uint8

// The limits.
const (
	Provisioned Limit = iota
	MaxOnDemand
	AccountLimit
	KeyRange
	Limits
)

// Reason is a limit on one kind of operation.
type Reason struct {
	Op    Op
	Limit Limit
}

// names are what AWS calls limits, in its reasons and in its metrics.
var names = [Limits]string{"ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit", "KeyRangeThroughput"}

func (r Reason) operation() string {
	if r.Op == Read {
		return "Read"
	}
	return "Write"
}

// Of is the reason as ThrottlingReasons have it: TableReadKeyRangeThroughputExceeded.
func (r Reason) Of(index bool) string {
	if index {
		return "Index" + r.operation() + names[r.Limit] + "Exceeded"
	}
	return "Table" + r.operation() + names[r.Limit] + "Exceeded"
}

// String is the reason as metrics have it: ReadKeyRangeThroughput.
func (r Reason) String() string { return r.operation() + names[r.Limit] }

// ID names a table (Index 0) or a global index.
type ID struct {
	Table uint32
	Index uint16
}

// Rates are units a second.
type Rates [ops]int64

// Settings are what a table or index has. Of the limits that it does not have the rate is 0.
type Settings struct {
	Limits [Limits]Rates // that of KeyRange is the warm throughput of what is on demand
	// Partitions is the least number of them.
	Partitions int
}

// Demand is what a request asks of one place of a table or index. The demands of one item of a request stand together.
type Demand struct {
	Item  int
	ID    ID
	Op    Op
	Hash  uint16 // of the partition key
	Units float64
}

// Refusal is a limit that stands against an item.
type Refusal struct {
	Item   int
	ID     ID
	Reason Reason
}

// Limiter limits the tables and indexes that it was told of.
type Limiter struct {
	mu        sync.Mutex
	resources map[ID]*resource
}

// resource is a table or index.
type resource struct {
	buckets    [Limits][ops]*bucket // nil where there is no limit; those of KeyRange are of the warm throughput
	partitions partitions
}

// Configure tells what a table or index has from now on. unused is for how long it has been there without the Limiter's
// knowing it: a bucket begins with what was saved in that time, and in the second under way. What a bucket has is kept when
// its rate changes, as far as its depth allows.
func (l *Limiter) Configure(id ID, s Settings, unused time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.resources[id]
	if !known {
		if l.resources == nil {
			l.resources = map[ID]*resource{}
		}
		r = new(resource)
		l.resources[id] = r
	} else {
		unused = 0
	}
	for limit := range Limits {
		for op := range ops {
			rate := s.Limits[limit][op]
			switch b := &r.buckets[limit][op]; {
			case rate == 0:
				*b = nil
			case *b == nil:
				*b = newBucket(rate, depths[limit], unused, now)
			default:
				(*b).change(rate, now)
			}
		}
	}
	r.partitions.divide(s.Partitions, now)
}

// Retain forgets the tables and indexes for which keep is false.
func (l *Limiter) Retain(keep func(ID) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.resources {
		if !keep(id) {
			delete(l.resources, id)
		}
	}
}

// Grant is what was taken for a request. The zero Grant is nothing.
type Grant struct {
	limiter *Limiter
	taken   []taking
}

type taking struct {
	from   *bucket
	tokens tokens
}

// Take takes the units of all demands, or nothing and says why. An item that is refused stands in the way of no other: what
// is left of the request without those that are refused would be granted. Demands on what was not configured are not limited.
func (l *Limiter) Take(demands []Demand, now time.Time) (Grant, []Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := transaction{now: now}
	for i := range demands {
		d := &demands[i]
		if i > 0 && d.Item != demands[i-1].Item {
			t.endItem()
		}
		l.each(d, func(p place) bool { return t.take(d, p) })
	}
	t.endItem()
	if t.refusals == nil {
		return Grant{l, t.taken}, nil
	}
	t.giveBack(0)
	for _, p := range t.hot {
		p.resource.partitions.split(p.partition, now)
	}
	return Grant{}, t.refusals
}

// Spend charges demands that have been served.
func (l *Limiter) Spend(demands []Demand, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range demands {
		l.each(&demands[i], func(p place) bool {
			p.bucket.refill(now)
			p.bucket.level -= tokensOf(demands[i].Units)
			return true
		})
	}
}

// Available is how many units a place of a table or index has left; it is at least 0.
func (l *Limiter) Available(id ID, op Op, hash uint16, now time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.resources[id]
	if r == nil {
		return unlimited
	}
	b := r.partitions.at(hash).buckets[op]
	b.refill(now)
	least := b.level
	for limit := range Limits {
		if b := r.buckets[limit][op]; b != nil {
			b.refill(now)
			least = min(least, b.level)
		}
	}
	return max(0, float64(least)/unit)
}

// place is a bucket that a demand touches, and what it limits.
type place struct {
	bucket    *bucket
	limit     Limit
	resource  *resource
	partition *partition // nil for a bucket of the whole table or index
}

// each calls visit with the places that a demand touches. visit returns false where one refuses. Of the two limits to a key
// range the second is passed over where the first refuses: they have one reason. The partition learns what it is asked for.
func (l *Limiter) each(d *Demand, visit func(place) bool) {
	r := l.resources[d.ID]
	if r == nil {
		return
	}
	warm := true
	for limit := range Limits {
		if b := r.buckets[limit][d.Op]; b != nil {
			warm = visit(place{b, limit, r, nil}) || limit != KeyRange
		}
	}
	p := r.partitions.at(d.Hash)
	p.note(d.Hash)
	if warm {
		visit(place{&p.buckets[d.Op], KeyRange, r, p})
	}
}

// Refund gives back what was taken for a request that was not served.
func (g *Grant) Refund() {
	if g.limiter == nil {
		return
	}
	g.limiter.mu.Lock()
	defer g.limiter.mu.Unlock()
	for _, t := range g.taken {
		t.from.giveBack(t.tokens)
	}
	*g = Grant{}
}

// transaction is a Take under way.
type transaction struct {
	now      time.Time
	taken    []taking
	full     []*bucket // that were full when the transaction began
	refusals []Refusal
	hot      []place // partitions to be split

	itemTaken, itemRefusals int // where those of the item under way begin
}

// take takes the tokens of a demand if the bucket has them, or was full.
func (t *transaction) take(d *Demand, p place) bool {
	b, n := p.bucket, tokensOf(d.Units)
	if !slices.ContainsFunc(t.taken, func(taken taking) bool { return taken.from == b }) {
		b.refill(t.now)
		if b.isFull() {
			t.full = append(t.full, b)
		}
	}
	if b.level >= n || slices.Contains(t.full, b) {
		b.level -= n
		t.taken = append(t.taken, taking{b, n})
		return true
	}
	t.refusals = append(t.refusals, Refusal{d.Item, d.ID, Reason{d.Op, p.limit}})
	if p.partition != nil && p.partition.hot(t.now) {
		t.hot = append(t.hot, p)
	}
	return false
}

// endItem gives back what was taken for the item under way if it is refused.
func (t *transaction) endItem() {
	if len(t.refusals) > t.itemRefusals {
		t.giveBack(t.itemTaken)
	}
	t.itemTaken, t.itemRefusals = len(t.taken), len(t.refusals)
}

// giveBack gives back all takings but the first ones.
func (t *transaction) giveBack(first int) {
	for _, taken := range t.taken[first:] {
		taken.from.giveBack(taken.tokens)
	}
	t.taken = t.taken[:first]
}
