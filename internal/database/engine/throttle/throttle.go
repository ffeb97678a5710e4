// Package throttle models how DynamoDB limits throughput: it decides which requests a table or index has capacity for.
//
// It is arithmetic on token buckets, in memory. It has no tables, clock or requests of its own: package engine provides the
// configuration, the cost of each request (package capacity) and the time.
//
// # Model
//
// A resource is a table or a global index. Reads and writes have separate buckets, each with a rate at which it is refilled, and
// a depth:
//
//	provisioned     the provisioned throughput        300 seconds of it     ProvisionedThroughputExceeded
//	on demand       the configured maximum            300 seconds of it     MaxOnDemandThroughputExceeded
//	                the quota of the account          1 second of it        AccountLimitExceeded
//	                the warm throughput               1 second of it        KeyRangeThroughputExceeded
//	each partition  1,000 writes, 3,000 reads         1 second of it        KeyRangeThroughputExceeded
//
// A request is served if each of its buckets has the units it needs; otherwise nothing is charged. A full bucket admits every
// request, because a request that costs more than the depth could never be served otherwise. The cost of a read beyond its
// minimum is only known afterwards, and is charged then: a bucket can go below zero, and rejects requests until it is refilled.
//
// The space of partition hashes is divided evenly among as many partitions as the warm throughput and the size require. A
// partition that keeps throttling for SplitAfter is split for heat: around a single hash that has more than half of the traffic,
// which is then isolated, else at the median of the traffic. A hash is never divided: one partition key has at most the
// throughput of one partition.
//
// Growth determines how the warm throughput of on-demand resources follows their traffic.
//
// # Invariants
//
//	I1  Arithmetic is exact: tokens are billionths of a unit, in integers.
//	I2  The same calls at the same times have the same results.
//	I3  Over any time t, a bucket grants at most depth + rate × t, apart from later charges and one request.
//
// All methods of Limiter are safe for concurrent use.
package throttle

import (
	"slices"
	"sync"
	"time"
)

// Op distinguishes read units from write units.
type Op uint8

// The operations.
const (
	Read Op = iota
	Write
	ops
)

// Limit is a limit that a request can exceed.
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

// names are AWS's names of the limits, in throttling reasons and in metrics.
var names = [Limits]string{"ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit", "KeyRangeThroughput"}

func (r Reason) operation() string {
	if r.Op == Read {
		return "Read"
	}
	return "Write"
}

// Of returns the reason as in ThrottlingReasons: TableReadKeyRangeThroughputExceeded.
func (r Reason) Of(index bool) string {
	if index {
		return "Index" + r.operation() + names[r.Limit] + "Exceeded"
	}
	return "Table" + r.operation() + names[r.Limit] + "Exceeded"
}

// String returns the reason as in metrics: ReadKeyRangeThroughput.
func (r Reason) String() string { return r.operation() + names[r.Limit] }

// ID identifies a table (Index 0) or a global index.
type ID struct {
	Table uint32
	Index uint16
}

// Rates are units a second.
type Rates [ops]int64

// Settings configure a table or index. The rate of a limit that does not apply is 0.
type Settings struct {
	Limits [Limits]Rates // that of KeyRange is the warm throughput of on-demand resources
	// Partitions is their minimum number.
	Partitions int
}

// Demand is what a request needs from one partition key of a table or index. The demands of one item of a request are adjacent.
type Demand struct {
	Item  int
	ID    ID
	Op    Op
	Hash  uint16 // of the partition key
	Units float64
}

// Refusal is a limit that rejects an item.
type Refusal struct {
	Item   int
	ID     ID
	Reason Reason
}

// Limiter limits the configured tables and indexes.
type Limiter struct {
	mu        sync.Mutex
	resources map[ID]*resource
}

// resource is a table or index.
type resource struct {
	buckets    [Limits][ops]*bucket // nil if there is no limit; those of KeyRange are for the warm throughput
	partitions partitions
}

// Configure sets the configuration of a table or index. unused is how long it has existed unknown to the Limiter: a new bucket
// starts with the refill of that time, and of the current second. When its rate changes, a bucket keeps its level as far as the
// new depth allows.
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

// Retain removes the tables and indexes for which keep is false.
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

// Take takes the units of all demands, or takes nothing and returns the refusals. A rejected item does not affect the others:
// without the rejected items, the rest of the request would be granted. Demands on resources that are not configured are not
// limited.
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
	t.refund(0)
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

// Available returns how many units are left for a partition key of a table or index, at least 0.
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

// place is a bucket needed by a demand, and what it limits.
type place struct {
	bucket    *bucket
	limit     Limit
	resource  *resource
	partition *partition // nil for a bucket of the whole table or index
}

// each calls visit with the buckets that a demand needs. visit returns false if one rejects the demand. Of the two limits on a
// key range the second is skipped if the first rejects, because they have the same reason. The partition records the demand's
// hash.
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

// Refund returns what was taken for a request that was not served.
func (g *Grant) Refund() {
	if g.limiter == nil {
		return
	}
	g.limiter.mu.Lock()
	defer g.limiter.mu.Unlock()
	for _, t := range g.taken {
		t.from.refund(t.tokens)
	}
	*g = Grant{}
}

// transaction is a Take in progress.
type transaction struct {
	now      time.Time
	taken    []taking
	full     []*bucket // those that were full when the transaction started
	refusals []Refusal
	hot      []place // partitions to be split

	itemTaken, itemRefusals int // start of the current item's entries
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

// endItem returns what was taken for the current item if it is rejected.
func (t *transaction) endItem() {
	if len(t.refusals) > t.itemRefusals {
		t.refund(t.itemTaken)
	}
	t.itemTaken, t.itemRefusals = len(t.taken), len(t.refusals)
}

// refund returns everything taken except the first entries.
func (t *transaction) refund(first int) {
	for _, taken := range t.taken[first:] {
		taken.from.refund(taken.tokens)
	}
	t.taken = t.taken[:first]
}
