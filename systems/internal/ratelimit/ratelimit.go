// Package ratelimit limits the rate of actions per key: a token bucket for each key, in bounded memory.
//
// A Limiter remembers the most recently used keys, up to its capacity. A forgotten key starts with a full bucket, so callers are
// not limited if they use more keys than the capacity within the time in which a bucket fills. Keys must therefore be costly to
// obtain, such as users or addresses.
//
// Allow returns nil, or a *problem.Error with 429 and the time to retry. To limit only failures, take a token before an attempt,
// and give it back with Return if the attempt succeeds. A Limiter is safe for concurrent use.
package ratelimit

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/monotable/monotable/systems/internal/problem"
)

// DefaultCapacity is about 2 MB of buckets.
const DefaultCapacity = 20_000

// Limiter has a bucket for each key.
type Limiter struct {
	rate    rate.Limit
	burst   int
	now     func() time.Time
	buckets *lru.Cache[string, *rate.Limiter]
}

// New returns a limiter with a burst and a rate per second for each key. A nil clock means the system clock.
func New(perSecond float64, burst, capacity int, now func() time.Time) *Limiter {
	if now == nil {
		now = time.Now
	}
	buckets, _ := lru.New[string, *rate.Limiter](max(capacity, 1)) // only fails for a smaller size
	return &Limiter{rate: rate.Limit(perSecond), burst: max(burst, 1), now: now, buckets: buckets}
}

// Allow takes a token from a key's bucket, or returns an error with the time until there is one. A nil Limiter allows everything.
func (l *Limiter) Allow(key string) error {
	if l == nil {
		return nil
	}
	now := l.now()
	reservation := l.bucket(key).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	return problem.TooMany("too many requests", wait)
}

// Return gives back a token that Allow has taken, because the action turned out not to be limited.
func (l *Limiter) Return(key string) {
	if l != nil {
		l.bucket(key).ReserveN(l.now(), -1) // a bucket never exceeds its burst
	}
}

func (l *Limiter) bucket(key string) *rate.Limiter {
	if b, known := l.buckets.Get(key); known {
		return b
	}
	fresh := rate.NewLimiter(l.rate, l.burst)
	if b, known, _ := l.buckets.PeekOrAdd(key, fresh); known { // another goroutine was first
		return b
	}
	return fresh
}
