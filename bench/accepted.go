//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// figureWithNoise is a median of rounds with its relative standard error, estimated from the differences between the rounds.
type figureWithNoise struct {
	Value float64 `json:"value"`
	Noise float64 `json:"noise"`
}

// travels returns the figures of a cell that are comparable across machines. Times and throughput are divided by those of the
// echo in the same round, so that a slower machine changes neither.
func (r *results) travels(c cell) map[string]figureWithNoise {
	own, echo := r.rounds[c], r.rounds[cell{c.workload, c.connections, "echo"}]
	if !strings.HasPrefix(c.server, "monotable") {
		return nil
	}
	out := map[string]figureWithNoise{}
	note := func(name string, of func(i int) float64) {
		var values []float64
		for i := range own {
			if v := of(i); v > 0 && !math.IsInf(v, 0) {
				values = append(values, v)
			}
		}
		if len(values) == len(own) {
			out[name] = figureOf(values)
		}
	}
	if len(echo) == len(own) {
		note("share of the echo's throughput", func(i int) float64 { return own[i].opsPerSecond / echo[i].opsPerSecond })
		note("times the echo's processor time", func(i int) float64 { return float64(own[i].cpuPerOp) / float64(echo[i].cpuPerOp) })
	}
	note("allocations a request", func(i int) float64 { return own[i].allocations })
	note("bytes written a request", func(i int) float64 { return own[i].written })
	return out
}

// figureOf returns the median of the values above 0. The median of n normally distributed values has 1.25 times the standard
// error of their mean.
func figureOf(values []float64) figureWithNoise {
	n := float64(len(values))
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += math.Log(v)
		squares += math.Log(v) * math.Log(v)
	}
	f := figureWithNoise{Value: slices.Sorted(slices.Values(values))[len(values)/2], Noise: 1} // a single value says nothing about noise
	if n > 1 {
		f.Noise = 1.25 * math.Sqrt(max(0, squares-sum*sum/n)/(n-1)/n)
	}
	return f
}

// A figure has changed if it differs by more than movedErrors standard errors, and by more than movedLeast: rounds of one run
// are more alike than runs.
const (
	movedErrors = 3
	movedLeast  = 0.03
)

// moved lists the figures that differ from another run's by more than the noise of both.
func (r *results) moved(from *results) string {
	var b strings.Builder
	compared := 0
	for _, now := range r.Results {
		then, found := from.find(now.Server, now.Workload, now.Connections)
		if !found {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(now.Travels)) {
			a, both := then.Travels[name]
			n := now.Travels[name]
			if !both {
				continue
			}
			compared++
			change := math.Log(n.Value / a.Value)
			noise := math.Hypot(n.Noise, a.Noise)
			if math.Abs(change) > max(movedErrors*noise, movedLeast) {
				fmt.Fprintf(&b, "moved: %s, %s, %d connections, %s: %.4g → %.4g (%+.0f %%, noise %.1f %%)\n",
					now.Server, now.Workload, now.Connections, name, a.Value, n.Value, 100*(n.Value/a.Value-1), 100*noise)
			}
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("nothing has moved by more than the noise since the accepted run of %s (%d figures compared)\n", from.Conditions.Date, compared)
	}
	return fmt.Sprintf("since the accepted run of %s:\n%s", from.Conditions.Date, b.String())
}

// readResults reads a run in JSON; nil with an error of fs.ErrNotExist if there is none.
func readResults(name string) (*results, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := newResults()
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// accept makes a run the accepted one, and keeps parts that it has not measured.
func accept(name string, before, now *results) error {
	if before != nil {
		dates := before.dates()
		maps.Copy(dates, now.dates())
		if now.Results == nil {
			now.Conditions, now.Results = before.Conditions, before.Results
			now.Start, now.Idle, now.OwnIdle, now.Memory, now.LeftOut = before.Start, before.Idle, before.OwnIdle, before.Memory, before.LeftOut
		}
		now.Connections = orBefore(now.Connections, before.Connections)
		now.Load = orBefore(now.Load, before.Load)
		now.Size = orBefore(now.Size, before.Size)
		now.Sustained = orBefore(now.Sustained, before.Sustained)
		now.Growth = orBefore(now.Growth, before.Growth)
		maps.DeleteFunc(dates, func(_, date string) bool { return date == now.Conditions.Date })
		now.Dates = dates
	}
	if err := writeJSON(name, now); err != nil {
		return err
	}
	err := writePage(performancePage, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the run is accepted, but not drawn: %w", err)
	}
	return err
}

func orBefore[T any](now, before []T) []T {
	if now == nil {
		return before
	}
	return now
}

// dates are the dates of the parts beside the comparison.
func (r *results) dates() map[string]string {
	dates := map[string]string{}
	for part, measured := range map[string]bool{
		"connections": r.Connections != nil, "load": r.Load != nil, "size": r.Size != nil, "sustained": r.Sustained != nil, "growth": r.Growth != nil,
	} {
		if measured {
			dates[part] = cmp.Or(r.Dates[part], r.Conditions.Date)
		}
	}
	return dates
}
