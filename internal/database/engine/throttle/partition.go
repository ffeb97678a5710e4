package throttle

import (
	"slices"
	"sort"
	"time"
)

const (
	// PartitionReads is the throughput of a partition in read units a second.
	PartitionReads = 3000
	// PartitionWrites is its throughput in write units a second.
	PartitionWrites = 1000
	// PartitionBytes is how much a partition stores.
	PartitionBytes = 10 << 30
	// SplitAfter is how long a partition must keep throttling before it is split. AWS does not document the time; it is some
	// minutes.
	SplitAfter = 5 * time.Minute

	// coolAfter is how long a partition must not throttle to be no longer hot.
	coolAfter = time.Minute

	hashes        = 1 << 16
	partitionsMax = 4096 // of a table or index; more than enough for AWS's quotas
	samplesMax    = 64
)

// Partitions returns how many partitions serve these rates and store these bytes.
func Partitions(r Rates, bytes int64) int {
	n := max(1, (r[Read]+PartitionReads-1)/PartitionReads, (r[Write]+PartitionWrites-1)/PartitionWrites,
		(bytes+PartitionBytes-1)/PartitionBytes)
	return int(min(n, partitionsMax))
}

// partition has the hashes in [lo, hi).
type partition struct {
	lo, hi   int
	buckets  [ops]bucket
	hotSince int64 // when it started to throttle repeatedly
	refused  int64 // when it last throttled; both in nanoseconds since the epoch, 0 means never
	// samples is a ring buffer of the most recently requested hashes.
	samples [samplesMax]uint16
	noted   int
}

// partitions are those of a table or index, ordered by hash, without gaps. Their number never decreases.
type partitions struct {
	all  []*partition
	heat []int // where partitions were split for heat, sorted
}

func (ps *partitions) at(hash uint16) *partition {
	return ps.all[sort.Search(len(ps.all), func(i int) bool { return ps.all[i].hi > int(hash) })]
}

// divide creates n even partitions, divided further where heat has split them. A new partition starts with the state of the one
// it comes from.
func (ps *partitions) divide(n int, now time.Time) {
	n = min(max(n, 1), partitionsMax)
	bounds := slices.Clone(ps.heat)
	for i := range n {
		bounds = append(bounds, i*hashes/n)
	}
	slices.Sort(bounds)
	bounds = append(slices.Compact(bounds), hashes)
	if len(bounds)-1 <= len(ps.all) {
		return
	}
	all := make([]*partition, len(bounds)-1)
	for i := range all {
		p := &partition{}
		if ps.all == nil {
			p.buckets[Read] = *newBucket(PartitionReads, depths[KeyRange], 0, now)
			p.buckets[Write] = *newBucket(PartitionWrites, depths[KeyRange], 0, now)
		} else {
			p.buckets = ps.at(uint16(bounds[i])).buckets
		}
		p.lo, p.hi = bounds[i], bounds[i+1]
		all[i] = p
	}
	ps.all = all
}

// note records a requested hash.
func (p *partition) note(hash uint16) {
	p.samples[p.noted%samplesMax] = hash
	p.noted++
}

// hot records that the partition throttles, and reports whether it has done so for long enough to be split.
func (p *partition) hot(now time.Time) bool {
	at := now.UnixNano()
	if p.refused == 0 || at-p.refused > int64(coolAfter) {
		p.hotSince = at
	}
	p.refused = at
	return at-p.hotSince >= int64(SplitAfter)
}

// split splits a partition for heat, unless it has been split: a request may be rejected by one partition several times.
func (ps *partitions) split(p *partition, now time.Time) {
	i := slices.Index(ps.all, p)
	if i < 0 {
		return
	}
	p.hotSince = now.UnixNano()
	bounds := slices.DeleteFunc(p.cuts(), func(b int) bool { return b <= p.lo || b >= p.hi })
	if len(bounds) == 0 || len(ps.all)+len(bounds) > partitionsMax {
		return
	}
	ps.heat = append(ps.heat, bounds...)
	slices.Sort(ps.heat)
	bounds = append(append([]int{p.lo}, bounds...), p.hi)
	parts := make([]*partition, len(bounds)-1)
	for i := range parts {
		parts[i] = &partition{lo: bounds[i], hi: bounds[i+1], buckets: p.buckets}
	}
	ps.all = slices.Replace(ps.all, i, i+1, parts...)
}

// cuts returns where to split a hot partition: on both sides of a hash that has more than half of the traffic, else at the median
// of the traffic.
func (p *partition) cuts() []int {
	seen := slices.Clone(p.samples[:min(p.noted, samplesMax)])
	slices.Sort(seen)
	middle := seen[len(seen)/2] // a hash with more than half of the samples is the median
	first, _ := slices.BinarySearch(seen, middle)
	last := first
	for last < len(seen) && seen[last] == middle {
		last++
	}
	cut := int(middle)
	switch {
	case 2*(last-first) > len(seen):
		return []int{cut, cut + 1}
	case cut == p.lo:
		return []int{cut + 1}
	default:
		return []int{cut}
	}
}
