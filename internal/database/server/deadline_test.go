package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadline: a deadline ends like context.WithTimeoutCause, whether it is waited for or polled.
func TestDeadline(t *testing.T) {
	type key struct{}
	for name, end := range map[string]func(d *deadline, cancel context.CancelFunc){
		"time":   func(*deadline, context.CancelFunc) { <-time.After(2 * time.Second) },
		"parent": func(_ *deadline, cancel context.CancelFunc) { cancel() },
		"end":    func(d *deadline, _ context.CancelFunc) { d.end() },
	} {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
				defer cancel()
				d := newDeadline(parent, time.Second)
				defer d.end()
				if d.Err() != nil || context.Cause(d) != nil || d.Value(key{}) != "value" {
					t.Errorf("%s: ended before its time: %v", name, d.Err())
				}
				if at, ok := d.Deadline(); !ok || at != time.Now().Add(time.Second) {
					t.Errorf("%s: deadline %v", name, at)
				}
				child, stop := context.Context(d), func() {}
				if waits {
					child, stop = context.WithCancel(d)
				}
				defer stop()
				end(d, cancel)
				synctest.Wait()
				want, cause := context.Canceled, context.Canceled
				if name == "time" {
					want, cause = context.DeadlineExceeded, errTimeout
				}
				if !errors.Is(child.Err(), want) || !errors.Is(context.Cause(child), cause) || !errors.Is(d.Err(), want) || !errors.Is(context.Cause(d), cause) {
					t.Errorf("%s, waits %v: error %v, cause %v; want %v, %v", name, waits, child.Err(), context.Cause(child), want, cause)
				}
				select {
				case <-d.Done():
				default:
					t.Errorf("%s, waits %v: not done", name, waits)
				}
			})
		}
	}
}
