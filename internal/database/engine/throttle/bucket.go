package throttle

import "time"

// tokens are billionths of a unit, so that a rate in whole units a second adds whole tokens each nanosecond.
type tokens int64

const (
	unit      = 1e9
	unlimited = float64(rateMax)
	// rateMax keeps arithmetic within 63 bits: 300 seconds of it are 3·10¹⁷ tokens. It is far above AWS's quotas.
	rateMax = 1_000_000
)

// Burst is how much unused throughput is saved.
const Burst = 300 * time.Second

// depths are the depths of a limit's buckets, in seconds of their rate.
var depths = [Limits]time.Duration{Provisioned: Burst, MaxOnDemand: Burst, AccountLimit: time.Second, KeyRange: time.Second}

func tokensOf(units float64) tokens { return tokens(units * unit) }

// disorderMax is by how much the times of calls may be out of order.
const disorderMax = time.Minute

// bucket is a token bucket, refilled at rate units a second up to its depth.
type bucket struct {
	rate  int64
	depth time.Duration // the time in which an empty bucket fills up
	level tokens
	at    int64 // the time of level, in nanoseconds since the epoch
}

// newBucket returns a bucket filled with the refill of the unused time and of the current second.
func newBucket(rate int64, depth, unused time.Duration, now time.Time) *bucket {
	b := &bucket{rate: min(max(rate, 1), rateMax), depth: depth, at: now.UnixNano()}
	b.level = b.flow(min(max(unused, 0)+time.Second, depth))
	return b
}

// flow returns the refill during a time, which is at most depth.
func (b *bucket) flow(d time.Duration) tokens { return tokens(b.rate * int64(d)) }

func (b *bucket) isFull() bool { return b.level >= b.flow(b.depth) }

// refill adds the refill up to now. If time has gone back it adds nothing. It continues from there if the clock was set back, not if a
// request asks for the time at which it began.
func (b *bucket) refill(now time.Time) {
	elapsed := now.UnixNano() - b.at
	if elapsed <= 0 {
		if elapsed < -int64(disorderMax) {
			b.at = now.UnixNano()
		}
		return
	}
	b.at += elapsed
	if missing := int64(b.flow(b.depth) - b.level); elapsed > missing/b.rate { // a longer time could overflow
		b.level = b.flow(b.depth)
		return
	}
	b.level += tokens(b.rate * elapsed)
}

// change sets another rate. The level is kept, up to the new depth.
func (b *bucket) change(rate int64, now time.Time) {
	b.refill(now)
	b.rate = min(max(rate, 1), rateMax)
	b.level = min(b.level, b.flow(b.depth))
}

func (b *bucket) refund(n tokens) { b.level = min(b.level+n, b.flow(b.depth)) }
