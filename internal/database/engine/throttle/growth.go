package throttle

import "time"

// GrowthDelay is how long it takes to add the capacity for a new peak of traffic.
const GrowthDelay = 30 * time.Minute

// The initial warm throughput of an on-demand table or index on AWS.
const (
	WarmReads  = 12_000
	WarmWrites = 4_000
)

// Growth follows the traffic of an on-demand table or index. Its warm throughput, which it can serve immediately, is twice its
// highest traffic so far: a new peak raises it to twice the peak, GrowthDelay later. It never shrinks. The zero Growth has no
// observations.
type Growth [ops]struct {
	peak float64 // the highest new peak, or 0
	due  int64   // when it takes effect, in nanoseconds since the epoch
}

// Observe records the consumption per second over about a minute, and returns the new warm throughput, given the previous one; it
// is at most quota.
func (g *Growth) Observe(consumed [ops]float64, warm, quota Rates, now time.Time) Rates {
	for op := range ops {
		p := &g[op]
		if 2*consumed[op] > float64(warm[op]) && warm[op] < quota[op] {
			if p.peak == 0 {
				p.due = now.Add(GrowthDelay).UnixNano()
			}
			p.peak = max(p.peak, consumed[op])
		}
		if p.peak > 0 && now.UnixNano() >= p.due {
			warm[op] = max(warm[op], min(int64(2*p.peak), quota[op]))
			p.peak = 0
		}
	}
	return warm
}
