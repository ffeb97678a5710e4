package latch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv/latch"
)

// TestWaitsAreRecorded: a request learns for how long it waited, and one that did not wait notes nothing.
func TestWaitsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := latch.New()
		quick, slow := &observe.Context{Context: t.Context()}, &observe.Context{Context: t.Context()}
		held, err := table.Acquire(quick, writing("k"))
		if err != nil {
			t.Fatal(err)
		}
		waiter := start(slow, table, writing("k"))
		<-time.After(time.Second)
		held.Release()
		waiter.expect(t, true, nil)
		waiter.held.Release()
		if w := quick.Request.Latch; w.Times != 0 {
			t.Errorf("the first one waited %+v", w)
		}
		if w := slow.Request.Latch; w.Times != 1 || w.Total != time.Second {
			t.Errorf("the second one waited %+v", w)
		}
	})
}
