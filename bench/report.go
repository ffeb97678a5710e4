//go:build unix

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

// floor is a goal with 32 connections and durable writes against the best peer of the same run.
type floor struct {
	workload string
	ratio    float64
	aim      float64
}

// floors are the project's goals; see bench/README.md.
var floors = []floor{
	{"get", 3, 5},
	{"put", 3, 8},
	{"condput", 3, 8},
	{"update", 3, 8},
	{"delete", 1, 4},
	{"query", 7, 12},
	{"querygsi", 5, 10},
	{"scan", 10, 20},
	{"batchget", 3, 8},
	{"batchwrite", 3.5, 10},
	{"transact", 3.5, 8},
}

// readAims are the maximum processor time of reads, in multiples of the echo's.
var readAims = []struct {
	workload string
	cpu      float64
}{{"get", 1.5}, {"query", 2}, {"querygsi", 2.5}}

// echoShare is the minimum share of the bare echo's throughput for get, echoAim the desired one; readsCPU the maximum
// processor time of a read, in multiples of the echo's; fairness the maximum ratio of a read's p99 to its mean latency.
// streamShare is the minimum share of a write's throughput that remains with a stream on the table, signedShare that of a
// get's if signatures are verified.
const (
	echoShare     = 0.55
	echoAim       = 0.75
	fairness      = 4.0
	idleMemory    = 40 << 20
	firstResponse = 50 // milliseconds
	readsCPU      = 2.0
	streamShare   = 0.75
	signedShare   = 0.92
)

// result is the result of the rounds of one workload against one server.
type result struct {
	Server       string  `json:"server"`
	Workload     string  `json:"workload"`
	Connections  int     `json:"connections"`
	OpsPerSecond float64 `json:"ops_per_second"`
	MeanMillis   float64 `json:"mean_ms"`
	P50Millis    float64 `json:"p50_ms"`
	P99Millis    float64 `json:"p99_ms"`
	P999Millis   float64 `json:"p999_ms"`
	MaxMillis    float64 `json:"max_ms"`
	CPUMicros    float64 `json:"server_cpu_us_per_op"`
	Allocations  float64 `json:"allocations_per_op,omitempty"`
	Written      float64 `json:"bytes_written_per_op,omitempty"`
	// Travels are the figures that are comparable across machines, and across days on one machine.
	Travels map[string]figureWithNoise `json:"travels,omitempty"`
}

// results are all measurements of a run.
type results struct {
	order      []cell
	rounds     map[cell][]measurement
	Conditions conditions       `json:"conditions"`
	LeftOut    []string         `json:"left_out,omitempty"`
	Results    []result         `json:"results,omitempty"`
	Start      map[string]int64 `json:"start_ms,omitempty"`
	Idle       map[string]int64 `json:"resident_bytes_idle,omitempty"`
	OwnIdle    map[string]int64 `json:"own_bytes_idle,omitempty"` // Idle without the pages of the program and its libraries
	Memory     map[string]int64 `json:"resident_bytes_after,omitempty"`

	Connections []point     `json:"by_connections,omitempty"`
	Load        []point     `json:"by_load,omitempty"`
	Size        []point     `json:"by_size,omitempty"`
	Sustained   []sustained `json:"sustained,omitempty"`
	Growth      []growth    `json:"growth,omitempty"`
	// Dates are those of parts that were measured on another day than Conditions says.
	Dates map[string]string `json:"dates,omitempty"`
}

type cell struct {
	workload    string
	connections int
	server      string
}

func newResults() *results {
	return &results{
		rounds: map[cell][]measurement{},
		Start:  map[string]int64{}, Idle: map[string]int64{}, OwnIdle: map[string]int64{}, Memory: map[string]int64{},
	}
}

func (r *results) add(server, workload string, connections int, m measurement) {
	c := cell{workload, connections, server}
	if !slices.Contains(r.order, c) {
		r.order = append(r.order, c)
	}
	r.rounds[c] = append(r.rounds[c], m)
	progress("%-11s %2d conn  %-16s %9.0f op/s  p50 %7.2f ms  p99 %7.2f ms  cpu %6.1f µs", workload, connections, server,
		m.opsPerSecond, millis(m.p50), millis(m.p99), micros(m.cpuPerOp))
}

// summarize takes the medians of all rounds.
func (r *results) summarize() {
	for _, c := range r.order {
		m := median(r.rounds[c])
		r.Results = append(r.Results, result{
			Server: c.server, Workload: c.workload, Connections: c.connections, OpsPerSecond: m.opsPerSecond,
			MeanMillis: millis(m.mean), P50Millis: millis(m.p50), P99Millis: millis(m.p99), P999Millis: millis(m.p999), MaxMillis: millis(m.longest),
			CPUMicros: micros(m.cpuPerOp), Allocations: m.allocations, Written: m.written, Travels: r.travels(c),
		})
	}
}

// median takes the median of each figure separately.
func median(rounds []measurement) measurement {
	pick := func(figure func(measurement) float64) float64 {
		var values []float64
		for _, m := range rounds {
			values = append(values, figure(m))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	span := func(figure func(measurement) time.Duration) time.Duration {
		return time.Duration(pick(func(m measurement) float64 { return float64(figure(m)) }))
	}
	var perOp []float64
	for i := range rounds[0].perOp {
		perOp = append(perOp, pick(func(m measurement) float64 { return m.perOp[i] }))
	}
	return measurement{
		opsPerSecond: pick(func(m measurement) float64 { return m.opsPerSecond }),
		mean:         span(func(m measurement) time.Duration { return m.mean }),
		p50:          span(func(m measurement) time.Duration { return m.p50 }),
		p99:          span(func(m measurement) time.Duration { return m.p99 }),
		p999:         span(func(m measurement) time.Duration { return m.p999 }),
		longest:      span(func(m measurement) time.Duration { return m.longest }),
		cpuPerOp:     span(func(m measurement) time.Duration { return m.cpuPerOp }),
		allocations:  pick(func(m measurement) float64 { return m.allocations }),
		written:      pick(func(m measurement) float64 { return m.written }),
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

// bestPeer returns the fastest other server.
func (r *results) bestPeer(workload string, connections int) (best result, ok bool) {
	for _, s := range servers() {
		one, found := r.find(s.name, workload, connections)
		if found && !s.own && !s.echo && one.OpsPerSecond > best.OpsPerSecond {
			best, ok = one, true
		}
	}
	return best, ok
}

// cheapestPeer returns the other server with the least processor time. On a busy machine, that is more reliable than throughput.
func (r *results) cheapestPeer(workload string, connections int) (cheapest result, ok bool) {
	for _, s := range servers() {
		one, found := r.find(s.name, workload, connections)
		if found && !s.own && !s.echo && one.CPUMicros > 0 && (!ok || one.CPUMicros < cheapest.CPUMicros) {
			cheapest, ok = one, true
		}
	}
	return cheapest, ok
}

// write writes the table: one row per workload and number of connections, then the floors.
func (r *results) write(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "workload\tconn\tserver\top/s\tp50 ms\tp99 ms\tp99.9 ms\tcpu µs/op\tallocs/op\twritten B/op\tmonotable is\tof the echo\t")
	for _, c := range r.order {
		one, _ := r.find(c.server, c.workload, c.connections)
		ratio, echo := "", ""
		if own, ok := r.find("monotable", c.workload, c.connections); ok && c.server != "monotable" && one.OpsPerSecond > 0 {
			ratio = fmt.Sprintf("%.2f ×", own.OpsPerSecond/one.OpsPerSecond)
		}
		if bare, ok := r.find("echo", c.workload, c.connections); ok && c.server != "echo" {
			echo = fmt.Sprintf("%.0f %%", 100*one.OpsPerSecond/bare.OpsPerSecond)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%.0f\t%.2f\t%.2f\t%.2f\t%.1f\t%s\t%s\t%s\t%s\t\n", c.workload, c.connections, c.server,
			one.OpsPerSecond, one.P50Millis, one.P99Millis, one.P999Millis, one.CPUMicros, figure(one.Allocations), figure(one.Written), ratio, echo)
	}
	_ = table.Flush()
	fmt.Fprintln(w)
	for _, line := range r.verdicts() {
		fmt.Fprintln(w, line.text)
	}
	for _, s := range servers() {
		if start, ok := r.Start[s.name]; ok {
			fmt.Fprintf(w, "%s: first response after %d ms, %d MB resident when idle, %d MB of them its own, %d MB at the end\n", s.name, start, r.Idle[s.name]>>20, r.OwnIdle[s.name]>>20, r.Memory[s.name]>>20)
		}
	}
	for _, s := range r.Sustained {
		fmt.Fprintln(w, s)
	}
	for _, g := range r.Growth {
		fmt.Fprintln(w, g)
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

// verdicts report for each goal whether it is met.
func (r *results) verdicts() []verdict {
	var all []verdict
	add := func(subject string, holds, aim bool, format string, args ...any) {
		word := "floor holds, aim missed"
		switch {
		case !holds:
			word = "floor MISSED           "
		case aim:
			word = "aim reached            "
		}
		all = append(all, verdict{subject, holds, word + "  " + fmt.Sprintf(format, args...)})
	}
	for _, f := range floors {
		own, found := r.find("monotable", f.workload, 32)
		peer, other := r.bestPeer(f.workload, 32)
		if found && other {
			ratio := own.OpsPerSecond / peer.OpsPerSecond
			add(f.workload, ratio >= f.ratio, ratio >= f.aim || r.nearCeiling(own), "%s: %.1f × the best peer (%s); floor %.1f, aim %.1f%s", f.workload, ratio, peer.Server, f.ratio, f.aim, r.ofBareStore(own, peer))
		}
		single, found := r.find("monotable", f.workload, 1)
		if peer, other := r.bestPeer(f.workload, 1); found && other {
			ratio := single.OpsPerSecond / peer.OpsPerSecond
			add(f.workload+" (1)", ratio >= 1, ratio >= 1, "%s on one connection: %.1f × the best peer (%s); floor 1", f.workload, ratio, peer.Server)
		}
	}
	for _, read := range readAims {
		own, found := r.find("monotable", read.workload, 32)
		if !found {
			continue
		}
		wait := own.P99Millis / own.MeanMillis
		add(read.workload+" fairness", true, wait <= fairness, "%s: p99 is %.1f × the mean; aim %.0f", read.workload, wait, fairness)
		if echo, other := r.find("echo", read.workload, 32); other {
			if share := own.OpsPerSecond / echo.OpsPerSecond; read.workload == "get" {
				add("get/echo", share >= echoShare, share >= echoAim, "get: %.0f %% of the bare net/http echo; floor 55 %%, aim 75 %%", 100*share)
			}
			multiple := own.CPUMicros / echo.CPUMicros
			add(read.workload+" cpu", multiple <= max(read.cpu, readsCPU), multiple <= read.cpu, "%s: %.2f × the echo's processor time; ceiling %.1f, aim %.1f",
				read.workload, multiple, max(read.cpu, readsCPU), read.cpu)
		}
	}
	keeps := func(subject, of, with, without string, floor float64) {
		one, found := r.find(subject, with, 32)
		if other, there := r.find("monotable", without, 32); found && there {
			share := one.OpsPerSecond / other.OpsPerSecond
			add(with+of, share >= floor, share >= floor, "%s: %.0f %% of the throughput without%s; floor %.0f %%", with, 100*share, of, 100*floor)
		}
	}
	keeps("monotable-signed", " signatures", "get", "get", signedShare)
	for _, name := range []string{"put", "transact"} {
		keeps("monotable", " a stream", name+streamSuffix, name, streamShare)
	}
	for _, s := range r.Sustained {
		if s.Server == "monotable" {
			add("sustained "+s.Workload, true, s.holds(), "%s%s", s, r.ofEchoes(s))
		}
	}
	for name, bytes := range r.Idle {
		if name == "monotable" {
			if own := r.OwnIdle[name]; own > 0 { // missing in runs before 2026-11-27
				add("idle memory", own < idleMemory, own < idleMemory, "%d MB of its own when idle, beside %d MB of the program; ceiling 40", own>>20, (bytes-own)>>20)
			} else {
				add("idle memory", bytes < idleMemory, bytes < idleMemory, "%d MB resident when idle; ceiling 40", bytes>>20)
			}
			add("start", r.Start[name] <= firstResponse, r.Start[name] <= firstResponse, "first response after %d ms; ceiling 50", r.Start[name])
		}
	}
	return all
}

// nearCeiling reports whether a read has as much throughput as can be expected: the aim is a ratio to the best peer or this,
// whichever is less.
func (r *results) nearCeiling(own result) bool {
	reads := []string{"get", "query", "querygsi", "scan", "batchget"}
	echo, found := r.find("echo", own.Workload, own.Connections)
	return found && slices.Contains(reads, own.Workload) && own.OpsPerSecond >= echoAim*echo.OpsPerSecond
}

// ofBareStore compares with the echo that also uses the store.
func (r *results) ofBareStore(own, peer result) string {
	bare, found := r.find("echo+store", own.Workload, own.Connections)
	if !found {
		return ""
	}
	return fmt.Sprintf("; %.0f %% of a bare server on the same store, which has %.1f ×", 100*own.OpsPerSecond/bare.OpsPerSecond, bare.OpsPerSecond/peer.OpsPerSecond)
}

// ofEchoes reports the latency of the echoes at the rate of a sustained load.
func (r *results) ofEchoes(own sustained) (text string) {
	for _, s := range r.Sustained {
		if s.Highest == 0 && s.Due == own.Due {
			text += fmt.Sprintf("; %s has p99.9 %.1f ms at this rate", s.Server, s.P999Millis)
		}
	}
	return text
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
