package kv_test

import (
	"math"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestSeqAt: numbers order as their times do, and the first number of a time has that time.
func TestSeqAt(t *testing.T) {
	before := kv.Seq(0)
	for _, ms := range []int64{1 << 34, 1_414_576_573_621, 1_414_576_573_622, 1_800_000_000_000, 1<<46 - 1} {
		at := kv.SeqAt(ms)
		if !at.Timed() || at.Millis() != ms || (at+1<<18-1).Millis() != ms || at <= before {
			t.Errorf("the first number of %d is %d, after %d; it has the time %d", ms, at, before, at.Millis())
		}
		before = at
	}
	for _, ms := range []int64{math.MinInt64, -1, 0} {
		if got := kv.SeqAt(ms); got != 0 {
			t.Errorf("the first number of %d is %d", ms, got)
		}
	}
	if got := kv.SeqAt(math.MaxInt64); got != math.MaxUint64 {
		t.Errorf("the first number of the end of time is %d", got)
	}
	if kv.Seq(1 << 51).Timed() {
		t.Error("a counted number is taken for a time")
	}
}
