//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// part is a question that a run answers.
type part struct {
	name, about string
	measure     func(context.Context, *benchRun) error
}

// parts lists them in the order of a run: size first, because it loads the table step by step.
func parts() []part {
	return []part{
		{"size", "the processor time of reads by the size of the table", measureSizes},
		{"compare", "all workloads against all servers", measureAll},
		{"connections", "throughput by the number of connections", measureConnections},
		{"load", "latency by load, in an open loop", measureLoad},
		{"sustained", "writes at 60 % of the highest rate, in an open loop", measureSustained},
		{"growth", "what grows with the data, in process", measureGrowth},
	}
}

func partNames() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

func chooseParts(choice string) ([]string, error) {
	if choice == "all" {
		return partNames(), nil
	}
	chosen := strings.Split(choice, ",")
	for _, name := range chosen {
		if !slices.Contains(partNames(), name) {
			return nil, fmt.Errorf("no part %q: choose among %s", name, strings.Join(partNames(), ", "))
		}
	}
	return chosen, nil
}

// ready starts the servers unless they are started, loads the table up to a number of items, and pauses all.
func (r *benchRun) ready(ctx context.Context, items int) (err error) {
	first := r.servers == nil
	if first {
		if r.servers, r.results.LeftOut, err = startServers(ctx, r.settings.servers); err != nil {
			return err
		}
		for _, s := range r.servers {
			r.results.Start[s.name], r.results.Idle[s.name], r.results.OwnIdle[s.name] = s.started.Milliseconds(), s.residentBytes(), s.ownBytes()
		}
	}
	for _, s := range r.servers {
		if !first {
			err = s.resume()
		} else if err = load(ctx, s, items); err == nil {
			r.loaded = 0
		}
		if err == nil && !first && items > r.loaded && !s.echo {
			err = store(ctx, s, items1K(r.loaded, items))
		}
		s.settle(ctx, true)
		if err := r.dropPeer(s, errors.Join(err, s.pause())); err != nil && !errors.Is(err, errLeftOut) {
			return err
		}
	}
	r.loaded = max(r.loaded, items)
	return nil
}

// with measures a workload against one server, while the others are paused. The error is errLeftOut for a peer that no longer
// serves.
func (r *benchRun) with(ctx context.Context, s *server, w workload, d demand) (m measurement, err error) {
	if !slices.Contains(r.servers, s) {
		return m, errLeftOut
	}
	if err = s.resume(); err == nil {
		m, err = measureWith(ctx, []*server{s}, w, d, r.loaded)
		err = errors.Join(err, s.pause())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", w.name, err)
	}
	return m, r.dropPeer(s, err)
}

// errLeftOut is the error for a peer that failed: the run continues without it.
var errLeftOut = errors.New("left out")

// dropPeer leaves out a peer that failed. For other servers it returns the error, with the server's output.
func (r *benchRun) dropPeer(s *server, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w\n%s", s.name, err, s.said())
	if s.own || s.echo || errors.Is(err, context.Canceled) {
		return err
	}
	progress("left out from here on: %v", err)
	r.results.LeftOut = append(r.results.LeftOut, fmt.Sprintf("%s (from the point where it failed: %.200s)", s.name, err))
	r.servers = slices.DeleteFunc(slices.Clone(r.servers), func(other *server) bool { return other == s })
	stopServers([]*server{s})
	return errLeftOut
}

// cannot reports whether a server does not support a workload, or the result would say nothing.
func (s *server) cannot(w workload) bool {
	return w.transaction && s.noTransactions || s.echo && w.echoBytes == 0 || s.stores && w.entries == 0 || w.stream && !s.own
}

// measureAll runs all workloads against all servers in turn, several times. Each round begins with another server, since what ran
// just before can matter.
func measureAll(ctx context.Context, r *benchRun) error {
	if err := r.ready(ctx, r.settings.items); err != nil {
		return err
	}
	for round := range r.settings.rounds {
		for _, n := range r.connections {
			for _, w := range r.workloads {
				first := round % len(r.servers)
				for _, s := range slices.Concat(r.servers[first:], r.servers[:first]) {
					if s.cannot(w) {
						continue
					}
					m, err := r.with(ctx, s, w, demand{connections: n, duration: r.settings.duration})
					if errors.Is(err, errLeftOut) {
						continue
					}
					if err != nil {
						return err
					}
					r.results.add(s.name, w.name, n, m)
				}
			}
		}
		progress("round %d of %d done", round+1, r.settings.rounds)
	}
	for _, s := range r.servers {
		r.results.Memory[s.name] = s.residentBytes()
	}
	return nil
}

// point is a point in a graph.
type point struct {
	Server       string  `json:"server"`
	Workload     string  `json:"workload"`
	Connections  int     `json:"connections"`
	Items        int     `json:"items"`
	Due          float64 `json:"due_per_second,omitempty"`
	OpsPerSecond float64 `json:"ops_per_second"`
	P50Millis    float64 `json:"p50_ms"`
	P99Millis    float64 `json:"p99_ms"`
	P999Millis   float64 `json:"p999_ms"`
	CPUMicros    float64 `json:"server_cpu_us_per_op"`
}

// point measures a point.
func (r *benchRun) point(ctx context.Context, s *server, w workload, d demand) (point, error) {
	m, err := r.with(ctx, s, w, d)
	p := point{
		Server: s.name, Workload: w.name, Connections: d.connections, Items: r.loaded, Due: d.rate, OpsPerSecond: m.opsPerSecond,
		P50Millis: millis(m.p50), P99Millis: millis(m.p99), P999Millis: millis(m.p999), CPUMicros: micros(m.cpuPerOp),
	}
	if err == nil {
		progress("%-11s %3d conn  %-16s %8d items  %9.0f op/s  p50 %7.2f ms  p99 %7.2f ms  cpu %6.1f µs", w.name, d.connections, s.name,
			r.loaded, p.OpsPerSecond, p.P50Millis, p.P99Millis, p.CPUMicros)
	}
	return p, err
}

// drawn returns the servers in the graphs.
func (r *benchRun) drawn() []*server {
	names := []string{"monotable", "dynoxide", "dynalite", "dynamodb-local", "echo"}
	return slices.DeleteFunc(slices.Clone(r.servers), func(s *server) bool { return !slices.Contains(names, s.name) })
}

// named returns the workloads with these names.
func named(names ...string) []workload {
	return slices.DeleteFunc(workloads(), func(w workload) bool { return !slices.Contains(names, w.name) })
}

// measureSizes measures reads while the table grows tenfold twice.
func measureSizes(ctx context.Context, r *benchRun) error {
	for _, share := range []int{100, 10, 1} {
		if r.settings.items/share < itemsMin {
			continue
		}
		if err := r.ready(ctx, r.settings.items/share); err != nil {
			return err
		}
		for _, w := range named("get", "query") {
			for _, s := range r.drawn() {
				p, err := r.point(ctx, s, w, demand{connections: 32, duration: r.settings.duration})
				if errors.Is(err, errLeftOut) {
					continue
				}
				if err != nil {
					return err
				}
				r.results.Size = append(r.results.Size, p)
			}
		}
	}
	return nil
}

// measureConnections measures with 1 to 256 connections.
func measureConnections(ctx context.Context, r *benchRun) error {
	if err := r.ready(ctx, r.settings.items); err != nil {
		return err
	}
	for n := 1; n <= 256; n *= 2 {
		for _, w := range named("get", "put", "query") {
			for _, s := range r.drawn() {
				p, err := r.point(ctx, s, w, demand{connections: n, duration: r.settings.duration})
				if errors.Is(err, errLeftOut) {
					continue
				}
				if err != nil {
					return err
				}
				r.results.Connections = append(r.results.Connections, p)
			}
		}
	}
	return nil
}

// measureLoad measures latency at shares of the highest rate of each server.
func measureLoad(ctx context.Context, r *benchRun) error {
	if err := r.ready(ctx, r.settings.items); err != nil {
		return err
	}
	for _, w := range named("get", "put") {
		for _, s := range r.drawn() {
			d := demand{connections: 32, duration: r.settings.duration}
			highest, err := r.point(ctx, s, w, d)
			if errors.Is(err, errLeftOut) {
				continue
			}
			if err != nil {
				return err
			}
			for _, share := range []float64{0.1, 0.3, 0.5, 0.7, 0.8, 0.9} {
				d.rate = highest.OpsPerSecond * share
				p, err := r.point(ctx, s, w, d)
				if errors.Is(err, errLeftOut) {
					break
				}
				if err != nil {
					return err
				}
				r.results.Load = append(r.results.Load, p)
			}
		}
	}
	return nil
}

// sustainedShare is the share of the highest rate that a server should sustain without stalls.
const sustainedShare = 0.6

// measureSustained writes for minutes, at a rate that leaves room for flushes and compactions. The echoes get the same rate for a
// minute: it shows what this machine and the load generator add to any server's latency.
func measureSustained(ctx context.Context, r *benchRun) error {
	if err := r.ready(ctx, r.settings.items); err != nil {
		return err
	}
	const probe, echoed = 10 * time.Second, time.Minute
	rate := 0.0
	for _, s := range r.servers {
		own := s.name == "monotable" || s.name == "monotable-before"
		if !own && (!s.echo || rate == 0) {
			continue
		}
		fsync, err := medianFsync(s.dir)
		if err != nil {
			return err
		}
		w, duration := named("put")[0], min(r.settings.sustain, echoed)
		var highest measurement
		if own {
			duration = r.settings.sustain
		}
		if own && r.settings.rate > 0 {
			rate = r.settings.rate
		} else if own {
			if highest, err = r.with(ctx, s, w, demand{connections: 32, duration: min(probe, duration)}); err != nil {
				return err
			}
			rate = highest.opsPerSecond * sustainedShare
		}
		m, err := r.with(ctx, s, w, demand{connections: 64, duration: duration, rate: rate})
		if err != nil {
			return err
		}
		done := sustained{
			Server: s.name, Workload: w.name, Seconds: duration.Seconds(), Highest: highest.opsPerSecond, Due: rate, OpsPerSecond: m.opsPerSecond,
			FsyncMillis: millis(fsync), P50Millis: millis(m.p50), P99Millis: millis(m.p99), P999Millis: millis(m.p999), MaxMillis: millis(m.longest),
			CPUMicros: micros(m.cpuPerOp), Written: m.written,
		}
		progress("%s", done)
		r.results.Sustained = append(r.results.Sustained, done)
	}
	return nil
}
