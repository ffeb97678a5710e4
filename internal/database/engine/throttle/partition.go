package throttle

import (
	"slices"
	"sort"
	"time"
)

const (
	// PartitionReads is what a partition serves in a second, in read units.
	PartitionReads = 3000
	// PartitionWrites is what it serves in write units.
	PartitionWrites = 1000
	// PartitionBytes is how much a partition stores.
	PartitionBytes = 10 << 30
	// SplitAfter is for how long a partition must have refused again and again to be split. AWS does not say how long it
	// takes there; it is some minutes.
	SplitAfter = 5 * time.Minute

	// coolAfter is how long a partition has not refused to be no longer hot.
	coolAfter = time.Minute

	hashes        = 1 << 16
	partitionsMax = 4096 // of a table or index; by far enough for AWS's quotas
	samplesMax    = 64
)

// Partitions is how many partitions serve these rates and store these bytes.
func Partitions(r Rates, bytes int64) int {
	n := max(1, (r[Read]+PartitionReads-1)/PartitionReads, (r[Write]+PartitionWrites-1)/PartitionWrites,
		(bytes+PartitionBytes-1)/PartitionBytes)
	return int(min(n, partitionsMax))
}

// partition has the hashes from lo to below hi.
type partition struct {
	lo, hi   int
	buckets  [ops]bucket
	hotSince int64 // when it began to refuse again and again
	refused  int64 // when it did last; both in nanoseconds since the epoch, 0 is never
	// samples are the hashes that it was asked for last, a ring.
	samples [samplesMax]uint16
	noted   int
}

// partitions are those of a table or index, in the order of their hashes, without gaps. They never become fewer.
type partitions struct {
	all  []*partition
	heat []int // where a partition was split for heat, sorted
}

func (ps *partitions) at(hash uint16) *partition {
	return ps.all[sort.Search(len(ps.all), func(i int) bool { return ps.all[i].hi > int(hash) })]
}

// divide makes n even partitions, divided further where heat has split them. A new partition has what the one had from which
// it comes.
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

// note remembers that a hash was asked for.
func (p *partition) note(hash uint16) {
	p.samples[p.noted%samplesMax] = hash
	p.noted++
}

// hot notes that the partition refuses, and reports whether it has done so for long enough to be split.
func (p *partition) hot(now time.Time) bool {
	at := now.UnixNano()
	if p.refused == 0 || at-p.refused > int64(coolAfter) {
		p.hotSince = at
	}
	p.refused = at
	return at-p.hotSince >= int64(SplitAfter)
}

// split splits a partition for heat.
func (ps *partitions) split(p *partition, now time.Time) {
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
	i := slices.Index(ps.all, p)
	ps.all = slices.Replace(ps.all, i, i+1, parts...)
}

// cuts are where a hot partition is to be split: on both sides of the hash that has more than half of the traffic, else in
// the middle of the traffic.
func (p *partition) cuts() []int {
	seen := slices.Clone(p.samples[:min(p.noted, samplesMax)])
	slices.Sort(seen)
	middle := seen[len(seen)/2] // a hash with more than half of the samples is here
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
