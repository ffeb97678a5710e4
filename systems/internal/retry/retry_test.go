package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/systems/internal/retry"
)

var errOvertaken = errors.New("overtaken")

func TestDo(t *testing.T) {
	policy := retry.Policy{Tries: 5, First: 4 * time.Millisecond, Longest: 10 * time.Millisecond}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		responses []error // the last one is repeated
		want      error
		tries     int
	}{
		"at once":              {[]error{nil}, nil, 1},
		"the third time":       {[]error{errOvertaken, fmt.Errorf("write: %w", errOvertaken), nil}, nil, 3},
		"something else":       {[]error{errOvertaken, broken}, broken, 2},
		"overtaken every time": {[]error{errOvertaken}, errOvertaken, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries, begun := 0, time.Now()
				err := policy.Do(t.Context(), func() error {
					tries++
					return c.responses[min(tries, len(c.responses))-1]
				}, errOvertaken)
				if !errors.Is(err, c.want) || tries != c.tries {
					t.Errorf("%d tries, %v; want %d, %v", tries, err, c.tries, c.want)
				}
				// At most 4 ms, 8, 10 and 10; no wait after the last try.
				if took := time.Since(begun); took > 32*time.Millisecond || (took > 0) != (c.tries > 1) {
					t.Errorf("%d tries took %v", tries, took)
				}
			})
		})
	}
}

// TestDoEndsWithContext: a wait ends with the context.
func TestDoEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := retry.Policy{Tries: 2, First: time.Hour, Longest: time.Hour}.Do(ctx, func() error { cancel(); return errOvertaken }, errOvertaken)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v, want that the context has", err)
		}
	})
}
