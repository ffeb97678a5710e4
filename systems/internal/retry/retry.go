// Package retry repeats operations that lost a race against others.
//
// The package is safe for concurrent use.
package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

// Policy is how often to try and how long to wait in between: at most First before the second try, doubling each time up to
// Longest. The waits are random up to that limit, so that two callers that have collided once do not collide again.
type Policy struct {
	Tries          int
	First, Longest time.Duration
}

// Do retries as long as try returns one of the given errors. It returns the last try's error, or the context's.
func (p Policy) Do(ctx context.Context, try func() error, when ...error) error {
	most := p.First
	for n := 1; ; n++ {
		err := try()
		if err == nil || n >= p.Tries || !slices.ContainsFunc(when, func(e error) bool { return errors.Is(err, e) }) {
			return err
		}
		timer := time.NewTimer(rand.N(most)) //nolint:gosec // it only spreads
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		most = min(2*most, p.Longest)
	}
}
