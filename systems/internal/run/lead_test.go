package run

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/monotabletest"
)

// TestOneProcessLeads: one of several processes leads at a time. When it ends another takes over immediately; when it goes silent another
// takes over after a while, and the silent one learns that it no longer leads.
func TestOneProcessLeads(t *testing.T) {
	t.Parallel()
	db := monotabletest.New(t).Client()
	if err := consumer.NewTable(db, CheckpointTable, "x").Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	process := func() *leader {
		l := newLeader(db, "notes/seen")
		l.beatEvery, l.silence = time.Millisecond, 200*time.Millisecond
		return l
	}
	var leading, most, turns atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		l := process()
		all.Go(func() {
			for range 3 {
				err := l.lead(t.Context(), func(context.Context) error {
					most.Store(max(most.Load(), leading.Add(1)))
					turns.Add(1)
					defer leading.Add(-1)
					<-time.After(5 * time.Millisecond) // while others wait
					return errReturned
				})
				if !errors.Is(err, errReturned) {
					t.Errorf("a turn: %v", err)
				}
			}
		})
	}
	all.Wait()
	if most.Load() != 1 || turns.Load() != 12 {
		t.Errorf("%d led at the same time, and %d of 12 turns were taken", most.Load(), turns.Load())
	}

	silent := process()
	if err := silent.wait(t.Context()); err != nil { // it leads, and is killed before its next heartbeat
		t.Fatal(err)
	}
	begun := time.Now()
	if err := process().lead(t.Context(), func(context.Context) error {
		if time.Since(begun) < 200*time.Millisecond {
			t.Error("a process that was silent briefly was replaced")
		}
		if err := silent.beat(t.Context()); !errors.Is(err, errNotLeading) {
			t.Errorf("the silent process when it resumes: %v", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}

	replaced := process()
	if err := replaced.lead(t.Context(), func(ctx context.Context) error {
		other := process()
		other.silence = 0 // it takes over from any leader
		if err := other.wait(t.Context()); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}); !errors.Is(err, errNotLeading) {
		t.Errorf("the replaced process: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := process().lead(ctx, func(context.Context) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a process that ends while it waits: %v", err)
	}
}
