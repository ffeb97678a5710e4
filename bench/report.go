package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// floor is what must hold with 32 connections and durable writes against the best peer of the same run.
type floor struct {
	workload string
	ratio    float64
	aim      float64
}

// floors are the project's promises; see bench/README.md.
var floors = []floor{
	{"get", 3, 5},
	{"put", 3, 8},
	{"condput", 3, 8},
	{"update", 3, 8},
	{"query", 7, 12},
	{"querygsi", 5, 10},
	{"scan", 10, 20},
	{"batchwrite", 3.5, 8},
	{"transact", 3.5, 8},
}

// echoShare is the least share of the bare echo's throughput that get must reach; readsCPU the most that a
// read's processor time may be, in multiples of the echo's.
// streamShare is the least share of a write's throughput that must be left with a stream on the table, signedShare of a get's where
// signatures are verified.
const (
	echoShare   = 0.55
	readsCPU    = 2.0
	streamShare = 0.75
	signedShare = 0.92
)

// result is the median of the rounds of one workload against one server.
type result struct {
	Server       string  `json:"server"`
	Workload     string  `json:"workload"`
	Connections  int     `json:"connections"`
	OpsPerSecond float64 `json:"ops_per_second"`
	P99Millis    float64 `json:"p99_ms"`
	CPUMicros    float64 `json:"server_cpu_us_per_op"`
}

type results struct {
	order   []cell
	rounds  map[cell][]measurement
	LeftOut []string         `json:"left_out,omitempty"`
	Results []result         `json:"results"`
	Start   map[string]int64 `json:"start_ms"`
	Memory  map[string]int64 `json:"resident_bytes_after"`
}

type cell struct {
	workload    string
	connections int
	server      string
}

func newResults(left []string) *results {
	return &results{rounds: map[cell][]measurement{}, LeftOut: left, Start: map[string]int64{}, Memory: map[string]int64{}}
}

func (r *results) add(server, workload string, connections int, m measurement) {
	c := cell{workload, connections, server}
	if !slices.Contains(r.order, c) {
		r.order = append(r.order, c)
	}
	r.rounds[c] = append(r.rounds[c], m)
	progress("%-11s %2d conn  %-16s %9.0f op/s  p99 %7.2f ms  cpu %6.1f µs", workload, connections, server,
		m.opsPerSecond, millis(m.p99), micros(m.cpuPerOp))
}

// footprint notes start-up time and memory of each server.
func (r *results) footprint(running []*server) {
	for _, s := range running {
		r.Start[s.name] = s.started.Milliseconds()
		r.Memory[s.name] = s.residentBytes()
	}
	for _, c := range r.order {
		m := median(r.rounds[c])
		r.Results = append(r.Results, result{c.server, c.workload, c.connections, m.opsPerSecond, millis(m.p99), micros(m.cpuPerOp)})
	}
}

// median takes each figure's median on its own.
func median(rounds []measurement) measurement {
	middle := len(rounds) / 2
	pick := func(figure func(measurement) float64) float64 {
		var values []float64
		for _, m := range rounds {
			values = append(values, figure(m))
		}
		slices.Sort(values)
		return values[middle]
	}
	var perOp []float64
	for i := range rounds[0].perOp {
		perOp = append(perOp, pick(func(m measurement) float64 { return m.perOp[i] }))
	}
	return measurement{
		opsPerSecond: pick(func(m measurement) float64 { return m.opsPerSecond }),
		p50:          time.Duration(pick(func(m measurement) float64 { return float64(m.p50) })),
		p99:          time.Duration(pick(func(m measurement) float64 { return float64(m.p99) })),
		cpuPerOp:     time.Duration(pick(func(m measurement) float64 { return float64(m.cpuPerOp) })),
		conflicts:    pick(func(m measurement) float64 { return m.conflicts }),
		perOp:        perOp,
	}
}

func (r *results) find(server, workload string, connections int) (result, bool) {
	for _, one := range r.Results {
		if one.Server == server && one.Workload == workload && one.Connections == connections {
			return one, true
		}
	}
	return result{}, false
}

// bestPeer is the fastest server that is not ours.
func (r *results) bestPeer(workload string, connections int) (best result, ok bool) {
	for _, s := range servers() {
		one, found := r.find(s.name, workload, connections)
		if found && !s.own && !s.echo && one.OpsPerSecond > best.OpsPerSecond {
			best, ok = one, true
		}
	}
	return best, ok
}

// print writes the table: a row a workload and number of connections, then the floors.
func (r *results) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "workload\tconn\tserver\top/s\tp99 ms\tcpu µs/op\tmonotable is\t")
	for _, c := range r.order {
		one, _ := r.find(c.server, c.workload, c.connections)
		ratio := ""
		if own, ok := r.find("monotable", c.workload, c.connections); ok && c.server != "monotable" && one.OpsPerSecond > 0 {
			ratio = fmt.Sprintf("%.2f ×", own.OpsPerSecond/one.OpsPerSecond)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%.0f\t%.2f\t%.1f\t%s\t\n", c.workload, c.connections, c.server,
			one.OpsPerSecond, one.P99Millis, one.CPUMicros, ratio)
	}
	_ = table.Flush()
	fmt.Fprintln(w)
	for _, line := range r.verdicts() {
		fmt.Fprintln(w, line.text)
	}
	for _, s := range servers() {
		if start, ok := r.Start[s.name]; ok {
			fmt.Fprintf(w, "%s: first answer after %d ms, %d MB resident at the end\n", s.name, start, r.Memory[s.name]>>20)
		}
	}
	for _, left := range r.LeftOut {
		fmt.Fprintf(w, "left out: %s\n", left)
	}
}

type verdict struct {
	subject string
	holds   bool
	text    string
}

func (r *results) verdicts() []verdict {
	var all []verdict
	add := func(subject string, holds bool, text string) {
		word := "holds "
		if !holds {
			word = "MISSED"
		}
		all = append(all, verdict{subject, holds, "floor " + word + " " + text})
	}
	for _, f := range floors {
		own, found := r.find("monotable", f.workload, 32)
		peer, other := r.bestPeer(f.workload, 32)
		if found && other {
			ratio := own.OpsPerSecond / peer.OpsPerSecond
			add(f.workload, ratio >= f.ratio, fmt.Sprintf("%s: %.1f × the best peer (%s); floor %.1f, aim %.1f", f.workload, ratio, peer.Server, f.ratio, f.aim))
		}
		single, found := r.find("monotable", f.workload, 1)
		if peer, other := r.bestPeer(f.workload, 1); found && other {
			ratio := single.OpsPerSecond / peer.OpsPerSecond
			add(f.workload+" (1)", ratio >= 1, fmt.Sprintf("%s on one connection: %.1f × the best peer (%s); floor 1", f.workload, ratio, peer.Server))
		}
	}
	for _, name := range []string{"get", "query", "querygsi"} {
		own, found := r.find("monotable", name, 32)
		echo, other := r.find("echo", name, 32)
		if !found || !other {
			continue
		}
		if share := own.OpsPerSecond / echo.OpsPerSecond; name == "get" {
			add("get/echo", share >= echoShare, fmt.Sprintf("get: %.0f %% of the bare net/http echo; floor 55 %%, aim 75 %%", 100*share))
		}
		multiple := own.CPUMicros / echo.CPUMicros
		add(name+" cpu", multiple <= readsCPU, fmt.Sprintf("%s: %.2f × the echo's processor time; ceiling 2", name, multiple))
	}
	signed, found := r.find("monotable-signed", "get", 32)
	if own, other := r.find("monotable", "get", 32); found && other {
		share := signed.OpsPerSecond / own.OpsPerSecond
		add("get signed", share >= signedShare, fmt.Sprintf("get: %.0f %% of the throughput where signatures are verified; floor 92 %%", 100*share))
	}
	for _, name := range []string{"put", "transact"} {
		with, found := r.find("monotable", name+streamSuffix, 32)
		if without, other := r.find("monotable", name, 32); found && other {
			share := with.OpsPerSecond / without.OpsPerSecond
			add(name+streamSuffix, share >= streamShare, fmt.Sprintf("%s: %.0f %% of the throughput without a stream; floor 75 %%", name+streamSuffix, 100*share))
		}
	}
	return all
}

func (r *results) missedFloors() []string {
	var missed []string
	for _, v := range r.verdicts() {
		if !v.holds {
			missed = append(missed, v.subject)
		}
	}
	return missed
}

func writeJSON(name string, results any) error {
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o600)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
