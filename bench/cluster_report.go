//go:build unix

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// clusterResults are the medians of the rounds of all measurements.
type clusterResults struct {
	order  []clusterCell
	rounds map[clusterCell][]measurement
	done   map[clusterCell]activity // the sum over the rounds

	Load    string          `json:"load_average_before"`
	Results []clusterResult `json:"results"`
	Costs   []clusterCost   `json:"requests"`
	Idle    []clusterCost   `json:"idle_per_second"`
}

type clusterCell struct {
	workload string
	set      setup
}

// clusterResult is the median of the rounds of one workload against one set of servers.
type clusterResult struct {
	Workload        string   `json:"workload"`
	Store           string   `json:"store"`
	Servers         int      `json:"servers"`
	Share           float64  `json:"share_of_a_core,omitempty"`
	OpsPerSecond    float64  `json:"ops_per_second"`
	P50Millis       float64  `json:"p50_ms"`
	P99Millis       float64  `json:"p99_ms"`
	ServerCPUMicros float64  `json:"servers_cpu_us_per_op"`
	StoreCPUMicros  float64  `json:"store_cpu_us_per_op"`
	LogBytes        float64  `json:"log_bytes_per_op"`
	Conflicts       float64  `json:"conflicts_per_op"`
	Activity        activity `json:"store_processes"`
}

// clusterCost is the cost of a request for a store.
type clusterCost struct {
	Store    string  `json:"store"`
	Workload string  `json:"workload,omitempty"`
	Trips    float64 `json:"round_trips"`
	Up       float64 `json:"bytes_to_store"`
	Down     float64 `json:"bytes_from_store"`
}

func newClusterResults() *clusterResults {
	return &clusterResults{rounds: map[clusterCell][]measurement{}, done: map[clusterCell]activity{}, Load: loadAverage()}
}

func (r *clusterResults) add(workload string, set setup, m measurement, a activity) {
	cell := clusterCell{workload, set}
	if _, found := r.rounds[cell]; !found {
		r.order = append(r.order, cell)
	}
	r.rounds[cell], r.done[cell] = append(r.rounds[cell], m), r.done[cell].plus(a)
	progress("%-11s  %-20s %7.0f op/s  p50 %6.2f ms  p99 %6.2f ms  cpu %5.0f + %5.0f µs  log %6.0f B  conflicts %4.1f %%", workload, set.name(),
		m.opsPerSecond, millis(m.p50), millis(m.p99), micros(m.cpuPerOp), micros(time.Duration(m.perOp[0])), m.perOp[1], 100*m.conflicts)
}

func (r *clusterResults) addIdle(b *backend, t traffic) {
	r.Idle = append(r.Idle, clusterCost{Store: b.name, Trips: t.trips, Up: t.up, Down: t.down})
	progress("%s: %.1f round trips a second without requests", b.name, t.trips)
}

func (r *clusterResults) addTraffic(b *backend, workload string, t traffic) {
	r.Costs = append(r.Costs, clusterCost{b.name, workload, t.trips, t.up, t.down})
	progress("%-11s  %s: %.2f round trips, %.0f bytes to it, %.0f from it", workload, b.name, t.trips, t.up, t.down)
}

func (r *clusterResults) summarize() {
	for _, cell := range r.order {
		m, n := median(r.rounds[cell]), float64(len(r.rounds[cell]))
		store := "Pebble"
		if cell.set.store != nil {
			store = cell.set.store.name
		}
		r.Results = append(r.Results, clusterResult{
			cell.workload, store, cell.set.servers, cell.set.share, m.opsPerSecond, millis(m.p50), millis(m.p99),
			micros(m.cpuPerOp), micros(time.Duration(m.perOp[0])), m.perOp[1], m.conflicts, r.done[cell].times(1 / n),
		})
	}
}

// find returns a result, an empty one if there is none.
func (r *clusterResults) find(workload, store string, servers int, share float64) clusterResult {
	for _, one := range r.Results {
		if one.Workload == workload && one.Store == store && one.Servers == servers && one.Share == share {
			return one
		}
	}
	return clusterResult{}
}

// markdown is the report on a store: the cost of a request, then requests per second.
func (r *clusterResults) markdown(s clusterSettings, store string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d cores, load average before the run %s, %d clients, %d items of 1 KB with two indexes, medians of %d rounds of %v.\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), r.Load, s.clients, s.items, s.rounds, s.duration)
	var workloads []string
	for _, cell := range r.order {
		if !slices.Contains(workloads, cell.workload) {
			workloads = append(workloads, cell.workload)
		}
	}
	r.costs(&b, store, workloads, s)
	r.speeds(&b, store, workloads, s)
	if s.share > 0 {
		r.held(&b, store, workloads, s)
	}
	r.activities(&b, store, workloads, s)
	return b.String()
}

// costs has a row for each kind of request: its cost regardless of the machine.
func (r *clusterResults) costs(b *strings.Builder, store string, workloads []string, s clusterSettings) {
	fmt.Fprintf(b, "\n**What a request costs**, over %s and on a directory (Pebble):\n\n", store)
	row(b, "request", "round trips", "bytes to "+store, "bytes from it", "µs of a server", "µs of "+store, "bytes of its log", "µs of a server on Pebble", "bytes of Pebble's log")
	row(b, slices.Repeat([]string{"---"}, 9)...)
	for _, w := range workloads {
		cost := clusterCost{}
		if i := slices.IndexFunc(r.Costs, func(c clusterCost) bool { return c.Store == store && c.Workload == w }); i >= 0 {
			cost = r.Costs[i]
		}
		shared := r.find(w, store, s.servers[0], 0)
		own := r.find(w, "Pebble", 1, 0)
		row(b, w, fmt.Sprintf("%.1f", cost.Trips), figure(cost.Up), figure(cost.Down),
			figure(shared.ServerCPUMicros), figure(shared.StoreCPUMicros), figure(shared.LogBytes), figure(own.ServerCPUMicros), figure(own.LogBytes))
	}
	for _, idle := range r.Idle {
		if idle.Store == store {
			fmt.Fprintf(b, "\nAn idle server that is the leader: %.0f round trips a second, %s bytes to the store and %s from it.\n", idle.Trips, figure(idle.Up), figure(idle.Down))
		}
	}
}

// speeds has requests per second if all have the whole machine.
func (r *clusterResults) speeds(b *strings.Builder, store string, workloads []string, s clusterSettings) {
	fmt.Fprintf(b, "\n**Requests a second**, all sharing the machine (median and 99th percentile of a request, ms):\n\n")
	head := []string{"request", "Pebble"}
	for _, n := range s.servers {
		head = append(head, fmt.Sprintf("%s, %s", store, serversOf(n)))
	}
	row(b, head...)
	row(b, slices.Repeat([]string{"---"}, len(head))...)
	var conflicts []string
	for _, w := range workloads {
		own := r.find(w, "Pebble", 1, 0)
		cells, met := []string{w, speed(own)}, []string{w, share(own.Conflicts)}
		some := own.Conflicts > 0
		for _, n := range s.servers {
			one := r.find(w, store, n, 0)
			cells, met, some = append(cells, speed(one)), append(met, share(one.Conflicts)), some || one.Conflicts > 0
		}
		row(b, cells...)
		if some {
			conflicts = append(conflicts, fmt.Sprintf("\nTransactionConflict, %s: %s.\n", w, strings.Join(met[1:], ", ")))
		}
	}
	b.WriteString(strings.Join(conflicts, ""))
}

// held has requests per second if each server is limited to its share of a core, and the cores used by the store.
func (r *clusterResults) held(b *strings.Builder, store string, workloads []string, s clusterSettings) {
	fmt.Fprintf(b, "\n**Requests a second, each server limited to %g cores**, and as a multiple of %s:\n\n", s.share, serversOf(s.servers[0]))
	head := []string{"request"}
	for _, n := range s.servers {
		head = append(head, serversOf(n))
	}
	head = append(head, fmt.Sprintf("cores used by %s", store))
	row(b, head...)
	row(b, slices.Repeat([]string{"---"}, len(head))...)
	for _, w := range workloads {
		first := r.find(w, store, s.servers[0], s.share)
		cells, last := []string{w, figure(first.OpsPerSecond)}, first
		for _, n := range s.servers[1:] {
			last = r.find(w, store, n, s.share)
			cells = append(cells, fmt.Sprintf("%s (%.1f ×)", figure(last.OpsPerSecond), last.OpsPerSecond/max(first.OpsPerSecond, 1)))
		}
		requests := last.OpsPerSecond / max(1-last.Conflicts, 0.01)
		row(b, append(cells, fmt.Sprintf("%.2f", requests*last.StoreCPUMicros/1e6))...)
	}
}

// activities has the average activity of the store's processes.
func (r *clusterResults) activities(b *strings.Builder, store string, workloads []string, s clusterSettings) {
	n := s.servers[len(s.servers)-1]
	known := slices.ContainsFunc(workloads, func(w string) bool { return r.find(w, store, n, 0).Activity != activity{} })
	if !known {
		return
	}
	fmt.Fprintf(b, "\n**What the processes of %s do** on average, %s, all sharing the machine:\n\n", store, serversOf(n))
	row(b, "request", "computing", "waiting for the log", "for a lock", "in a transaction, for the server", "for anything else")
	row(b, slices.Repeat([]string{"---"}, 6)...)
	for _, w := range workloads {
		one := r.find(w, store, n, 0)
		a := one.Activity
		cells := []string{w}
		for _, processes := range []float64{a.Running, a.Log, a.Locks, a.Server, a.Other} {
			cells = append(cells, fmt.Sprintf("%.1f", processes))
		}
		row(b, cells...)
	}
}

func row(b *strings.Builder, cells ...string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }

func serversOf(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}

func speed(r clusterResult) string {
	return fmt.Sprintf("%s (%.1f, %.0f)", figure(r.OpsPerSecond), r.P50Millis, r.P99Millis)
}

func share(f float64) string { return fmt.Sprintf("%.0f %%", 100*f) }

// figure formats a number for people: 12,345, or – if it is missing.
func figure(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	if digits == "0" || digits == "-0" {
		return "–"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// writeFigures replaces a command's report in a page.
func writeFigures(name, command, figures string) error {
	begin, end := figuresBegin(command), figuresEnd
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		return fmt.Errorf("%s has no lines %q and %q, between which the figures stand", name, begin, end)
	}
	return os.WriteFile(name, []byte(before+begin+"\n"+figures+"\n"+end+after), 0o600)
}

// figuresBegin marks the beginning of the figures in a page, figuresEnd their end.
func figuresBegin(command string) string { return "<!-- " + command + " writes from here -->\n" }

const figuresEnd = "<!-- to here -->\n"
