//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	performancePage = "docs/performance.md"
	graphs          = "bench/graphs.mjs"
)

// writePage draws a run's graphs next to a page, and inserts its figures into the page.
func writePage(page, run string) error {
	r, err := readResults(run)
	if err != nil {
		return err
	}
	draw := exec.Command("node", graphs, run, strings.TrimSuffix(page, filepath.Ext(page))) //nolint:noctx,gosec // ends soon; our own script
	draw.Stderr = os.Stderr
	return errors.Join(draw.Run(), writeFigures(page, "make bench", r.markdown()))
}

// markdown is the part of the page that a run writes.
func (r *results) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Another run may have other figures; ratios carry over between machines, absolute figures do not.\n", r.Conditions)
	if load, err := strconv.ParseFloat(r.Conditions.Load, 64); err != nil || load > 1 {
		fmt.Fprint(&b, "\n**The machine was busy with other work**, so all servers have lower throughput and longer latencies than on a quiet one.\n")
	}
	for _, left := range r.LeftOut {
		fmt.Fprintf(&b, "\nLeft out: %s.\n", left)
	}
	r.compared(&b)
	for _, graph := range []struct {
		there             bool
		file, title, text string
	}{
		{r.Connections != nil, "connections", "Throughput by connections", "Requests per second, in a closed loop. Both axes are logarithmic."},
		{r.Load != nil, "load", "Latency by load", "The 99th percentile in an open loop: requests are due at random times at the rate below, and latency is measured from when a request was due. A line ends at 90 % of the server's highest rate."},
		{r.Size != nil, "size", "Cost by table size", "Processor time of the server per request."},
	} {
		if graph.there {
			fmt.Fprintf(&b, "\n## %s\n\n%s%s\n\n![%s](performance/%s.svg)\n", graph.title, graph.text, r.measured(graph.file), graph.title, graph.file)
		}
	}
	if r.Sustained != nil {
		fmt.Fprint(&b, "\n## Sustained writes\n\nPuts at 60 % of the highest rate, in an open loop, on 64 connections, each durable before its response. The echoes get the same rate for a minute: their latency comes from the machine, the load generator and the store alone."+r.measured("sustained")+"\n\n")
		row(&b, "server", "seconds", "puts per second", "median fsync", "p50", "p99", "p99.9", "longest", "bytes written per put")
		row(&b, slices.Repeat([]string{"---"}, 9)...)
		for _, s := range r.Sustained {
			row(&b, s.Server, fmt.Sprintf("%.0f", s.Seconds), figure(s.OpsPerSecond), short(s.FsyncMillis), short(s.P50Millis), short(s.P99Millis), short(s.P999Millis), short(s.MaxMillis), figure(s.Written))
		}
	}
	if r.Growth != nil {
		fmt.Fprint(&b, "\n## Cost by amount of data\n\nIn one process, without a socket."+r.measured("growth")+"\n\n")
		row(&b, "cost", "small", "large", "ratio", "at most")
		row(&b, "---", "---", "---", "---", "---")
		for _, g := range r.Growth {
			row(&b, g.What, fmt.Sprintf("%.3g %s", g.Small, g.Unit), fmt.Sprintf("%.3g %s", g.Large, g.Unit), fmt.Sprintf("%.2f", g.Large/g.Small), fmt.Sprintf("%.3g", g.Limit))
		}
	}
	return b.String()
}

// measured says when a part was measured, if on another day than the comparison.
func (r *results) measured(part string) string {
	if date := r.Dates[part]; date != "" {
		return " Measured on " + date + "."
	}
	return ""
}

// compared has a row for each workload with 32 connections.
func (r *results) compared(b *strings.Builder) {
	if r.Results == nil {
		return
	}
	fmt.Fprint(b, "\n## Side by side\n\n32 connections, the server on one core, the load generator on another.\n\n")
	row(b, "request", "per second", "p50", "p99", "p99.9", "processor time", "allocations", "bytes written", "share of a bare net/http echo", "share of a bare server on the same store", "over the best peer", "aim", "processor time of the cheapest peer")
	row(b, slices.Repeat([]string{"---"}, 13)...)
	for _, w := range plainWorkloads() {
		own, found := r.find("monotable", w.name, 32)
		if !found {
			continue
		}
		share, ofStore, over, aim := "–", "–", "–", "–"
		if echo, ok := r.find("echo", w.name, 32); ok {
			share = fmt.Sprintf("%.0f %%", 100*own.OpsPerSecond/echo.OpsPerSecond)
		}
		if bare, ok := r.find("echo+store", w.name, 32); ok {
			ofStore = fmt.Sprintf("%.0f %%", 100*own.OpsPerSecond/bare.OpsPerSecond)
		}
		if peer, ok := r.bestPeer(w.name, 32); ok {
			over = fmt.Sprintf("%.1f × (%s)", own.OpsPerSecond/peer.OpsPerSecond, peer.Server)
		}
		for _, f := range floors {
			if f.workload == w.name {
				aim = fmt.Sprintf("%.0f ×", f.aim)
			}
		}
		times := "–"
		if peer, ok := r.cheapestPeer(w.name, 32); ok {
			times = fmt.Sprintf("%.1f × (%s)", peer.CPUMicros/own.CPUMicros, peer.Server)
		}
		row(b, w.name, figure(own.OpsPerSecond), short(own.P50Millis), short(own.P99Millis), short(own.P999Millis), fmt.Sprintf("%.0f µs", own.CPUMicros),
			figure(own.Allocations), figure(own.Written), share, ofStore, over, aim, times)
	}
	fmt.Fprintln(b)
	for _, v := range r.verdicts() {
		fmt.Fprintf(b, "- %s\n", v.text)
	}
}

func short(ms float64) string { return fmt.Sprintf("%.3g ms", ms) }
