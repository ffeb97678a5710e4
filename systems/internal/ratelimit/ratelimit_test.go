package ratelimit

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/problem"
)

func TestBucket(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	l := New(0.5, 3, 10, func() time.Time { return now })
	for _, step := range []struct {
		pass  time.Duration
		after time.Duration // 0 if it is allowed
	}{
		{0, 0},
		{0, 0},
		{0, 0},
		{0, 2 * time.Second},
		{0, 2 * time.Second}, // a rejection takes no token
		{time.Second, time.Second},
		{time.Second, 0},
		{0, 2 * time.Second},
		{time.Hour, 0}, // full again, but not more than full
		{0, 0},
		{0, 0},
		{0, 2 * time.Second},
	} {
		now = now.Add(step.pass)
		err := l.Allow("u-1")
		refusal, refused := errors.AsType[*problem.Error](err)
		switch {
		case step.after == 0 && err != nil:
			t.Errorf("refused: %v", err)
		case step.after > 0 && (!refused || refusal.Status != 429 || refusal.RetryAfter != step.after):
			t.Errorf("%v, want 429 after %v", err, step.after)
		}
	}
	if err := l.Allow("u-2"); err != nil {
		t.Errorf("another key: %v", err)
	}
	if err := (*Limiter)(nil).Allow("u-1"); err != nil {
		t.Errorf("no limiter: %v", err)
	}
}

// TestReturn: a returned token can be taken again, and a bucket never exceeds its burst.
func TestReturn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	l := New(1, 2, 10, func() time.Time { return now })
	for range 10 { // successful attempts are unlimited
		if err := l.Allow("u-1"); err != nil {
			t.Fatal(err)
		}
		l.Return("u-1")
	}
	l.Return("u-1")
	for n, allowed := range []bool{true, true, false, false} {
		if err := l.Allow("u-1"); (err == nil) != allowed {
			t.Errorf("try %d: %v, want it allowed: %v", n, err, allowed)
		}
	}
	now = now.Add(time.Second)
	l.Return("u-1")
	for n, allowed := range []bool{true, true, false} {
		if err := l.Allow("u-1"); (err == nil) != allowed {
			t.Errorf("a second and a return later, try %d: %v, want it allowed: %v", n, err, allowed)
		}
	}
	(*Limiter)(nil).Return("u-1")
}

// TestMemory: the most recently used keys are kept, up to the capacity.
func TestMemory(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	l := New(0.001, 1, 100, func() time.Time { return now })
	if err := l.Allow("kept"); err != nil {
		t.Fatal(err)
	}
	for n := range 10_000 {
		if err := l.Allow(fmt.Sprint("key ", n)); err != nil {
			t.Fatal(err)
		}
		if l.Allow("kept") == nil {
			t.Fatalf("a key in use was forgotten after %d others", n)
		}
		if known := l.buckets.Len(); known > 100 {
			t.Fatalf("%d keys are known", known)
		}
	}
	if err := l.Allow("key 0"); err != nil {
		t.Errorf("a key that was not used for long: %v", err)
	}
}
