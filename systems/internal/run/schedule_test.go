package run

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/systems/internal/system"
)

// TestScheduled: a schedule runs immediately, then at its interval, and soon again after a failure.
func TestScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		begun := time.Now()
		var runs []time.Duration
		w := scheduled("shop", system.Schedule{Name: "expiry", Every: time.Minute, Run: func(context.Context) error {
			runs = append(runs, time.Since(begun))
			switch len(runs) {
			case 3:
				return errors.New("broken")
			case 5:
				stop()
			}
			return nil
		}})
		supervise(ctx, []system.Worker{w}, slog.New(slog.DiscardHandler), func(name string) {
			if name != "shop/expiry" {
				t.Errorf("%q failed", name)
			}
		})
		failed := 2*time.Minute + restMin
		if want := []time.Duration{0, time.Minute, 2 * time.Minute, failed, failed + time.Minute}; !slices.Equal(runs, want) {
			t.Errorf("it ran after %v, want %v", runs, want)
		}
	})
}
