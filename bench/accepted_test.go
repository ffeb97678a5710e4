package main

import (
	"strings"
	"testing"
	"time"
)

// resultsOf returns results of a workload with these throughputs, with an echo of 1000 per second.
func resultsOf(throughputs ...float64) *results {
	r := newResults()
	for i, ops := range throughputs {
		speed := 1 + float64(i)/2 // the machine's speed, which drifts
		r.add("monotable", "get", 32, measurement{opsPerSecond: ops * speed, cpuPerOp: time.Duration(1e6 / speed), allocations: 30})
		r.add("echo", "get", 32, measurement{opsPerSecond: 1000 * speed, cpuPerOp: time.Duration(1e6 / speed)})
	}
	r.summarize()
	return r
}

// TestMoved tests that neither a drifting machine nor differences within the noise count as changes, but a change
// in all rounds does.
func TestMoved(t *testing.T) {
	accepted := resultsOf(500, 510, 505, 495, 500)
	for _, test := range []struct {
		now  *results
		want string
	}{
		{resultsOf(505, 500, 500, 510, 495), "nothing has moved"},
		{resultsOf(505, 500, 900, 510, 300), "nothing has moved"},
		{resultsOf(600, 610, 600, 605, 595), "share of the echo's throughput: 0.5 → 0.6 (+20 %"},
		{resultsOf(400), "nothing has moved"}, // one round has no noise estimate
	} {
		if got := test.now.moved(accepted); !strings.Contains(got, test.want) || strings.Contains(got, "processor") || strings.Contains(got, "allocations") {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
