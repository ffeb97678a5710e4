// Package retry does a thing again that others have overtaken.
//
// All of it may be used from any number of goroutines.
package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

// Policy is how often something is tried, and how long it rests between: at most First before the second try, and twice as
// long each time, up to Longest. The rests are of any length below these, so that who met once does not meet again.
type Policy struct {
	Tries          int
	First, Longest time.Duration
}

// Do tries until there is none of the errors. It returns what the last try did, or the context's error.
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
