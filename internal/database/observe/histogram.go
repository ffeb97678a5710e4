package observe

import (
	"sync/atomic"
	"time"
)

// Buckets are the upper bounds of a Histogram, from a read in memory to a hanging disk.
var Buckets = [...]time.Duration{
	25 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Histogram counts durations by size. The zero value is empty.
type Histogram struct {
	counts [len(Buckets) + 1]atomic.Uint64 // not cumulative
	sum    atomic.Int64
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for i < len(Buckets) && d > Buckets[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Distribution is the content of a Histogram.
type Distribution struct {
	Count uint64
	Sum   time.Duration
	// UpTo is, for each of Buckets, how many durations are at most its bound.
	UpTo [len(Buckets)]uint64
}

// Distribution returns the content, as of approximately one moment.
func (h *Histogram) Distribution() Distribution {
	d := Distribution{Sum: time.Duration(h.sum.Load())}
	for i := range h.counts {
		d.Count += h.counts[i].Load()
		if i < len(d.UpTo) {
			d.UpTo[i] = d.Count
		}
	}
	return d
}
