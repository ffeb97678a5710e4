//go:build unix

package main

import (
	"errors"
	"io/fs"
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

// TestAcceptKeepsDates tests that parts which a run has not measured keep their figures and their dates.
func TestAcceptKeepsDates(t *testing.T) {
	t.Chdir(t.TempDir()) // there is no page to draw
	run := func(date string, compared bool) *results {
		r := newResults()
		if compared {
			r = resultsOf(500)
		}
		r.Conditions.Date = date
		return r
	}
	whole := run("2026-01-01", true)
	whole.Sustained, whole.Growth = []sustained{{Server: "first"}}, []growth{{What: "first"}}
	compared := run("2026-01-02", true)
	grown := run("2026-01-03", false)
	grown.Growth = []growth{{What: "third"}}
	for _, step := range []struct {
		before, now *results
		date        string // of the comparison
		sustained   string // its date, if another
		growth      string
	}{
		{nil, whole, "2026-01-01", "", ""},
		{whole, compared, "2026-01-02", "2026-01-01", "2026-01-01"},
		{compared, grown, "2026-01-02", "2026-01-01", "2026-01-03"},
	} {
		if err := accept(acceptedName, step.before, step.now); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		got, err := readResults(acceptedName)
		if err != nil {
			t.Fatal(err)
		}
		if got.Conditions.Date != step.date || got.Dates["sustained"] != step.sustained || got.Dates["growth"] != step.growth {
			t.Errorf("compared on %s, other parts %v; want %s, sustained %q, growth %q", got.Conditions.Date, got.Dates, step.date, step.sustained, step.growth)
		}
		if len(got.Sustained) != 1 || len(got.Growth) != 1 {
			t.Errorf("lost a part: %d sustained, %d growth", len(got.Sustained), len(got.Growth))
		}
	}
}

const acceptedName = "accepted.json"
