package consumer_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/consumer"
)

// TestLag tests that the lag is small while the consumer keeps up, grows while the handler fails, and excludes finished
// shards.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newStream(1), &audience{}
		var failing atomic.Bool
		a.refuse = func(consumer.Batch) error {
			if failing.Load() {
				return errors.New("not now")
			}
			return nil
		}
		c := newConsumer(t, s, a.handle, consumer.Options{PollInterval: time.Second, RetryMin: time.Second, RetryMax: time.Second})
		if lags := c.Lag(); len(lags) != 0 {
			t.Errorf("before the run: %v", lags)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		expect := func(what string, least, most time.Duration) {
			t.Helper()
			synctest.Wait()
			lags := slices.Collect(maps.Values(c.Lag()))
			if len(lags) != 1 || lags[0] < least || lags[0] > most {
				t.Errorf("%s: lag %v, want %v to %v", what, lags, least, most)
			}
		}
		wait(10 * time.Second)
		expect("caught up", 0, time.Second)
		failing.Store(true)
		s.write(0, "x")
		wait(time.Minute)
		expect("failing", time.Minute-time.Second, time.Minute+2*time.Second)
		failing.Store(false)
		wait(5 * time.Second)
		expect("caught up again", 0, time.Second)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if lags := c.Lag(); len(lags) != 0 {
			t.Errorf("after the run: %v", lags)
		}
	})
}
