// Command bench measures monotable beside other servers of DynamoDB's API, in one run on one machine.
//
// It starts each server on loopback, loads the same table into each, and runs the same requests against
// each in turn, several rounds of them, so that a machine whose speed drifts treats all alike. It prints
// medians, p99s, server CPU per operation, ratios to the best peer, and whether the floors of floors.go hold.
//
// The server is pinned to one core and the load generator to another where the machine has taskset and two
// cores. Requests are marshalled before the clock starts, and a hand-written client reads only as much of an
// answer as it needs, so that the load generator is not what is measured.
//
// The model is four parts: a server (servers.go) is a process that can be started; a workload (workloads.go)
// is a set of request templates; load (load.go) runs one workload against one server for a while; the
// report (report.go) puts the measurements together.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// settings are what the command line decides.
type settings struct {
	items       int
	rounds      int
	duration    time.Duration
	connections string
	servers     string
	workloads   string
	jsonFile    string
	check       bool
}

// itemsMin is more than the most connections.
const itemsMin = 1000

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "echo":
			fail(serveEcho(os.Args[2:]))
			return
		case "scale":
			fail(measureScale(os.Stdout, os.Args[2:]))
			return
		case "cluster":
			fail(measureCluster(ctx, os.Args[2:]))
			return
		}
	}
	s := settings{}
	flag.IntVar(&s.items, "items", 100_000, "items of 1 KB to load before measuring")
	flag.IntVar(&s.rounds, "rounds", 3, "rounds; the median of them is reported")
	flag.DurationVar(&s.duration, "duration", 2*time.Second, "how long each workload runs against each server in a round")
	flag.StringVar(&s.connections, "connections", "32,1", "numbers of connections")
	flag.StringVar(&s.servers, "servers", "all", "comma-separated: "+strings.Join(serverNames(), ", "))
	flag.StringVar(&s.workloads, "workloads", "all", "comma-separated: "+strings.Join(workloadNames(workloads()), ", "))
	flag.StringVar(&before, "before", "", "another build of monotable to measure too, as server monotable-before")
	flag.StringVar(&s.jsonFile, "json", "", "also write the results to this file as JSON")
	flag.BoolVar(&s.check, "check", false, "exit with status 1 when a floor is missed")
	flag.Usage = usage
	flag.Parse()
	fail(run(ctx, s))
}

func usage() {
	fmt.Fprint(os.Stderr, `Measure monotable beside other servers of DynamoDB's API.

  make bench                                            everything (about 15 minutes)
  make bench BENCHFLAGS="-items 10000 -rounds 1 -duration 1s"
  make bench BENCHFLAGS="-servers monotable,echo -workloads get,query"
  make bench BENCHFLAGS="-servers monotable,monotable-before -before /tmp/old/bin/monotable"
  make bench BENCHFLAGS="scale -items 10000000"         what grows with the table, in process
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

func run(ctx context.Context, s settings) error {
	if s.items < itemsMin {
		return fmt.Errorf("-items %d: want at least %d, so that each connection has some of its own", s.items, itemsMin)
	}
	connections, err := parseCounts(s.connections)
	if err != nil {
		return err
	}
	chosen, err := chooseWorkloads(workloads(), s.workloads)
	if err != nil {
		return err
	}
	if err := pinSelf(); err != nil {
		return err
	}
	running, left, err := startServers(ctx, s.servers)
	defer stopServers(running)
	if err != nil {
		return err
	}
	for _, server := range running {
		if err := load(ctx, server, s.items); err != nil {
			return fmt.Errorf("%s: %w", server.name, err)
		}
	}
	for _, server := range running {
		if err := server.pause(); err != nil {
			return err
		}
	}
	results := newResults(left)
	for round := range s.rounds {
		for _, n := range connections {
			for _, w := range chosen {
				if err := measureAll(ctx, running, w, n, s, results); err != nil {
					return err
				}
			}
		}
		progress("round %d of %d done", round+1, s.rounds)
	}
	results.footprint(running)
	results.print(os.Stdout)
	if s.jsonFile != "" {
		if err := writeJSON(s.jsonFile, results); err != nil {
			return err
		}
	}
	if missed := results.missedFloors(); s.check && len(missed) > 0 {
		return fmt.Errorf("floors missed: %s", strings.Join(missed, ", "))
	}
	return nil
}

// measureAll runs one workload against every server in turn.
func measureAll(ctx context.Context, running []*server, w workload, connections int, s settings, r *results) error {
	for i, server := range running {
		if w.transaction && server.noTransactions || server.echo && w.echoBytes == 0 || w.stream && !server.own {
			continue
		}
		if err := server.resume(); err != nil {
			return err
		}
		m, err := measureWith(ctx, running[i:i+1], w, connections, s)
		if err := errors.Join(err, server.pause()); err != nil {
			return fmt.Errorf("%s, %s: %w", server.name, w.name, err)
		}
		r.add(server.name, w.name, connections, m)
	}
	return nil
}

// measureWith measures with the table's stream turned on where the workload wants it.
func measureWith(ctx context.Context, servers []*server, w workload, connections int, s settings, gauges ...gauge) (measurement, error) {
	if w.stream {
		if err := call(ctx, servers[0], "UpdateTable", `{"TableName":"bench","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`); err != nil {
			return measurement{}, err
		}
	}
	m, err := measure(ctx, servers, w, connections, s, gauges...)
	if w.stream {
		err = errors.Join(err, call(ctx, servers[0], "UpdateTable", `{"TableName":"bench","StreamSpecification":{"StreamEnabled":false}}`))
	}
	return m, err
}

// progress tells on standard error what is going on.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
