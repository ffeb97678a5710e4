// Package ratelimit bounds how often somebody may do something: a token bucket for each key, in bounded memory.
//
// A Limiter knows the keys that were used last, at most its capacity of them. A key that is forgotten begins with a full
// bucket, so whoever can use more keys than the capacity within the time in which a bucket fills up is not bounded: keys
// must be what costs something to have, a user or an address.
//
// Allow returns nil, or a *problem.Error with 429 and when to come again. Return takes it back, so that failures can be
// bounded alone: a token is taken before it is known what becomes of a try, and put back if it succeeds. A Limiter may be used from any number of
// goroutines.
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

// New is a limiter of so many events a second and key after a first burst. A nil clock is the system's.
func New(perSecond float64, burst, capacity int, now func() time.Time) *Limiter {
	if now == nil {
		now = time.Now
	}
	buckets, _ := lru.New[string, *rate.Limiter](max(capacity, 1)) // fails for less
	return &Limiter{rate: rate.Limit(perSecond), burst: max(burst, 1), now: now, buckets: buckets}
}

// Allow takes one token of a key's bucket, or says when there will be one. A nil Limiter allows all.
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

// Return puts a token back that Allow has taken: what was done has turned out to be what is not bounded.
func (l *Limiter) Return(key string) {
	if l != nil {
		l.bucket(key).ReserveN(l.now(), -1) // a bucket never has more than its burst
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
