package throttle

import "time"

// GrowthDelay is how long it takes until the capacity for a new peak of traffic has been added.
const GrowthDelay = 30 * time.Minute

// The warm throughput that AWS gives an on-demand table or index from the start.
const (
	WarmReads  = 12_000
	WarmWrites = 4_000
)

// Growth follows the traffic of an on-demand table or index. What it serves at once, its warm throughput, is twice the
// highest traffic that it has had: a new peak doubles it, GrowthDelay later. It never shrinks. The zero Growth has seen
// nothing yet.
type Growth [ops]struct {
	peak float64 // the highest new one, 0 where there is none
	due  int64   // when it counts, in nanoseconds since the epoch
}

// Observe tells what was consumed a second, over about a minute, and returns the warm throughput, which was warm until now
// and is at most quota.
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
