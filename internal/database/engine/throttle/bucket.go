package throttle

import "time"

// tokens are billionths of a unit, so that a rate of whole units a second adds whole tokens each nanosecond.
type tokens int64

const (
	unit      = 1e9
	unlimited = float64(rateMax)
	// rateMax keeps arithmetic within 63 bits: 300 seconds of it are 3·10¹⁷ tokens. It is far beyond AWS's quotas.
	rateMax = 1_000_000
)

// Burst is how much unused throughput is kept.
const Burst = 300 * time.Second

// depths are the seconds of its rate that a bucket of a limit holds.
var depths = [Limits]time.Duration{Provisioned: Burst, MaxOnDemand: Burst, AccountLimit: time.Second, KeyRange: time.Second}

func tokensOf(units float64) tokens { return tokens(units * unit) }

// bucket is a token bucket: rate units a second flow into it, up to its depth.
type bucket struct {
	rate  int64
	depth time.Duration // the time in which an empty bucket becomes full
	level tokens
	at    int64 // when level was right, in nanoseconds since the epoch
}

// newBucket begins with what flowed in while nothing was used, and with the second under way.
func newBucket(rate int64, depth, unused time.Duration, now time.Time) *bucket {
	b := &bucket{rate: min(max(rate, 1), rateMax), depth: depth, at: now.UnixNano()}
	b.level = b.flow(min(max(unused, 0)+time.Second, depth))
	return b
}

// flow is what flows in during a time, which is at most depth.
func (b *bucket) flow(d time.Duration) tokens { return tokens(b.rate * int64(d)) }

func (b *bucket) isFull() bool { return b.level >= b.flow(b.depth) }

// refill lets in what has flowed until now. Time that has gone back adds nothing.
func (b *bucket) refill(now time.Time) {
	elapsed := now.UnixNano() - b.at
	if elapsed <= 0 {
		return
	}
	b.at += elapsed
	if missing := int64(b.flow(b.depth) - b.level); elapsed > missing/b.rate { // a longer time could overflow
		b.level = b.flow(b.depth)
		return
	}
	b.level += tokens(b.rate * elapsed)
}

// change gives the bucket another rate. What it has is kept, up to its new depth.
func (b *bucket) change(rate int64, now time.Time) {
	b.refill(now)
	b.rate = min(max(rate, 1), rateMax)
	b.level = min(b.level, b.flow(b.depth))
}

func (b *bucket) giveBack(n tokens) { b.level = min(b.level+n, b.flow(b.depth)) }
