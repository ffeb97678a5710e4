//go:build unix

// Command bench compares monotable with other servers of DynamoDB's API, in one run on one machine.
//
// It starts each server on loopback, loads the same table into each, and runs the same requests against each in turn, several
// rounds of them, so that a drift in the machine's speed affects all alike. It prints medians, percentiles, the server's cost
// per request, ratios to the best peer, whether the goals are met, and what has changed since the accepted run by more than
// the noise.
//
// The server is pinned to one core and the load generator to another where the machine has taskset and two cores. Requests are
// marshalled before the clock starts, and a handwritten client reads only as much of a response as it needs, so that the
// measurement does not include the load generator.
//
// A server (servers.go) is a process that can be started; a workload (workloads.go) is a set of request templates; load.go
// runs one workload against one server for a while, with package loadgen. A part (parts.go) is a question that a run answers by
// many measurements. The results (report.go) are printed, compared with the accepted run (accepted.go), and drawn (page.go,
// graphs.mjs).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// settings are the settings on the command line.
type settings struct {
	parts       string
	items       int
	rounds      int
	duration    time.Duration
	sustain     time.Duration
	rate        float64 // of the part sustained; 0 for a share of the highest
	connections string
	servers     string
	workloads   string
	jsonFile    string
	accepted    string
	accept      bool
	page        string
	check       bool
}

const (
	// itemsMin is more than the maximum number of connections.
	itemsMin = 1000
	// acceptedFile is the last accepted run, with which other runs are compared.
	acceptedFile = "bench/accepted.json"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "echo":
			fail(serveEcho(os.Args[2:]))
			return
		case "cluster":
			fail(measureCluster(ctx, os.Args[2:]))
			return
		}
	}
	s := settings{}
	flag.StringVar(&s.parts, "parts", "all", "comma-separated: "+strings.Join(partNames(), ", "))
	flag.IntVar(&s.items, "items", 100_000, "items of 1 KB to load before measuring")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds of the part compare; their median is reported, and the noise estimated from them")
	flag.DurationVar(&s.duration, "duration", 2*time.Second, "how long each workload runs against each server in a round, and each point of a graph")
	flag.DurationVar(&s.sustain, "sustain", 10*time.Minute, "how long the part sustained keeps up its writes")
	flag.Float64Var(&s.rate, "rate", 0, "writes per second of the part sustained, to compare builds at one rate (default 60 % of each build's highest)")
	flag.IntVar(&growItems, "grow", growItems, "items that the part growth loads in the end; measured at a hundredth of them, too")
	flag.StringVar(&s.connections, "connections", "32,1", "numbers of connections of the part compare")
	flag.StringVar(&s.servers, "servers", "all", "comma-separated: "+strings.Join(serverNames(), ", "))
	flag.StringVar(&s.workloads, "workloads", "all", "comma-separated: "+strings.Join(workloadNames(workloads()), ", "))
	flag.StringVar(&program, "program", "bin/monotable-release", "the build of monotable to measure")
	flag.StringVar(&before, "before", "", "another build of monotable to measure too, as server monotable-before")
	flag.StringVar(&s.jsonFile, "json", "", "also write the results to this file as JSON")
	flag.StringVar(&s.accepted, "accepted", acceptedFile, "the run to compare with")
	flag.BoolVar(&s.accept, "accept", false, "make this run the accepted one, and draw docs/performance.md from it")
	flag.StringVar(&s.page, "write", "", "only write this page, with its graphs, from the accepted run; measure nothing")
	flag.BoolVar(&s.check, "check", false, "exit with status 1 when a floor is missed")
	flag.Usage = usage
	flag.Parse()
	if s.page != "" {
		fail(writePage(s.page, s.accepted))
		return
	}
	fail(run(ctx, s))
}

func usage() {
	fmt.Fprint(os.Stderr, `Measure monotable beside other servers of DynamoDB's API.

  make bench                                            everything (about an hour); says what moved since the accepted run
  make bench BENCHFLAGS="-accept"                       and accept this run: bench/accepted.json, docs/performance.md
  make bench BENCHFLAGS="-parts compare -items 10000 -rounds 1 -duration 1s"
  make bench BENCHFLAGS="-parts compare -servers monotable,echo -workloads get,query"
  make bench BENCHFLAGS="-parts compare -servers monotable,monotable-before -before /tmp/old/bin/monotable"
  make bench BENCHFLAGS="-parts sustained -servers monotable -sustain 2m"
  make bench BENCHFLAGS="-parts sustained -rate 9000 -servers monotable,monotable-before -before /tmp/old/bin/monotable"
  make bench BENCHFLAGS="-parts growth -grow 1000000"   what grows with the table, in process
  make bench-cluster                                    servers that share a store (-h for choices)

Peers come from npm (bench/package-lock.json); DynamoDB Local also needs Java 17.

`)
	flag.PrintDefaults()
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the chosen parts and reports.
func run(ctx context.Context, s settings) error {
	r, err := newRun(s)
	if err != nil {
		return err
	}
	defer func() { stopServers(r.servers) }()
	for _, p := range parts() {
		if slices.Contains(r.parts, p.name) {
			progress("part %s: %s", p.name, p.about)
			if failure := p.measure(ctx, r); failure != nil { // report what the other parts have measured
				err = errors.Join(err, fmt.Errorf("%s: %w", p.name, failure))
			}
			if ctx.Err() != nil {
				return err
			}
		}
	}
	r.results.summarize()
	r.results.write(os.Stdout)
	accepted, failure := readResults(s.accepted)
	switch {
	case failure == nil:
		fmt.Fprint(os.Stdout, r.results.moved(accepted))
	case !errors.Is(failure, os.ErrNotExist):
		return errors.Join(err, failure)
	}
	if s.jsonFile != "" {
		err = errors.Join(err, writeJSON(s.jsonFile, r.results))
	}
	if s.accept {
		err = errors.Join(err, accept(s.accepted, accepted, r.results))
	}
	if missed := r.results.missedFloors(); s.check && len(missed) > 0 {
		err = errors.Join(err, fmt.Errorf("floors missed: %s", strings.Join(missed, ", ")))
	}
	return err
}

// benchRun is a run in progress.
type benchRun struct {
	settings    settings
	parts       []string
	connections []int
	workloads   []workload
	servers     []*server
	loaded      int // number of items of 1 KB on each server
	results     *results
}

func newRun(s settings) (*benchRun, error) {
	r := &benchRun{settings: s, results: newResults()}
	if s.items < itemsMin || s.rounds < 1 {
		return nil, fmt.Errorf("-items %d, -rounds %d: want at least %d items, so that each connection has some of its own, and a round", s.items, s.rounds, itemsMin)
	}
	var err error
	if r.parts, err = chooseParts(s.parts); err != nil {
		return nil, err
	}
	if r.connections, err = parseCounts(s.connections); err != nil {
		return nil, err
	}
	if r.workloads, err = chooseWorkloads(workloads(), s.workloads); err != nil {
		return nil, err
	}
	r.results.Conditions = conditionsOf(s)
	return r, pinSelf()
}

// measureWith measures with the table's stream enabled if the workload requires it.
func measureWith(ctx context.Context, servers []*server, w workload, d demand, items int, gauges ...gauge) (measurement, error) {
	if w.stream {
		if err := call(ctx, servers[0], "UpdateTable", `{"TableName":"bench","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`); err != nil {
			return measurement{}, err
		}
	}
	m, err := measure(ctx, servers, w, d, items, gauges...)
	if w.stream {
		err = errors.Join(err, call(ctx, servers[0], "UpdateTable", `{"TableName":"bench","StreamSpecification":{"StreamEnabled":false}}`))
		servers[0].settle(ctx, true) // for a while after a write a server uses more processors: see internal/tools/cli/processors.go
	}
	return m, err
}

// progress reports progress on standard error.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
