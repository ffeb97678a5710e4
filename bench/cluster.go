//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clusterSettings are the settings of the mode cluster on the command line.
type clusterSettings struct {
	settings
	clients int
	servers []int
	share   float64
	page    string
	stores  []string
}

const clusterUsage = `Measure what a store that servers share costs a request, and what each further server adds.

  make bench-cluster                                          everything (about twenty minutes)
  make bench-cluster BENCHFLAGS="-rounds 1 -duration 500ms -workloads get,put"
  make bench-cluster BENCHFLAGS="-stores postgresql"          without TiKV's stand-in
  make bench-cluster BENCHFLAGS="-servers 1,2,4,8 -clients 256 -share 0"
  make bench-cluster BENCHFLAGS="-write docs/scale.md"        and put the figures into the page

One server on its own directory (Pebble), then some that share a store, which is started for it: a PostgreSQL server, and TiKV's placement driver
with three nodes of a stand-in of TiKV, of which round trips and bytes tell something and speeds do not. Every one is measured with the whole machine
for all, and those that share a store once more, each held to a share of a core: what a further server adds shows where the machine has more than that
for each. Servers are started for each measurement, and a store that is not being measured is paused.

`

func measureCluster(ctx context.Context, args []string) error {
	s, err := parseCluster(args)
	if err != nil {
		return err
	}
	chosen, err := chooseWorkloads(clusterWorkloads(), s.workloads)
	if err != nil {
		return err
	}
	c := &cluster{settings: s, results: newClusterResults()}
	defer c.remove()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	for _, b := range c.stores {
		if err := c.count(ctx, b, chosen); err != nil {
			return err
		}
	}
	for round := range s.rounds {
		for _, w := range chosen {
			for _, set := range c.setups() {
				if err := c.measure(ctx, w, set); err != nil {
					return fmt.Errorf("%s, %s: %w", set.name(), w.name, err)
				}
			}
		}
		progress("round %d of %d done", round+1, s.rounds)
	}
	c.results.summarize()
	var failures []error
	for _, b := range c.stores {
		page := c.results.markdown(c.settings, b.name)
		fmt.Fprint(os.Stdout, page)
		if s.page != "" {
			failures = append(failures, writeFigures(s.page, "make bench-cluster, over "+b.name+",", page))
		}
	}
	err = errors.Join(failures...)
	if s.jsonFile != "" {
		err = errors.Join(err, writeJSON(s.jsonFile, c.results))
	}
	return err
}

func parseCluster(args []string) (s clusterSettings, err error) {
	flags := flag.NewFlagSet("bench cluster", flag.ExitOnError)
	flags.IntVar(&s.items, "items", 20_000, "items of 1 KB to load before measuring")
	flags.IntVar(&s.rounds, "rounds", 3, "rounds; the median of them is reported")
	flags.DurationVar(&s.duration, "duration", 1500*time.Millisecond, "how long each workload runs against each set of servers in a round")
	flags.IntVar(&s.clients, "clients", 32, "connections of clients, which the servers share evenly")
	stores := flags.String("stores", strings.Join(backendNames(), ","), "stores that servers share, separated by commas")
	servers := flags.String("servers", "1,2,3,4", "numbers of servers that share a store")
	flags.Float64Var(&s.share, "share", 0.2, "share of a core that a server is held to in the second part; 0 leaves the part out")
	flags.StringVar(&s.workloads, "workloads", "all", "comma-separated: "+strings.Join(workloadNames(clusterWorkloads()), ", "))
	flags.StringVar(&s.jsonFile, "json", "", "also write the results to this file as JSON")
	flags.StringVar(&s.page, "write", "", "also write the tables to this page, between its two marks")
	flags.Usage = func() {
		fmt.Fprint(os.Stderr, clusterUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for name := range strings.SplitSeq(*stores, ",") {
		if !slices.Contains(backendNames(), name) {
			return s, fmt.Errorf("-stores: no store %q: choose among %s", name, strings.Join(backendNames(), ", "))
		}
		s.stores = append(s.stores, name)
	}
	if s.servers, err = parseCounts(*servers); err != nil {
		return s, err
	}
	if most := slices.Max(s.servers); s.items < itemsMin || s.clients < most || s.clients > itemsMin {
		return s, fmt.Errorf("-items %d, -clients %d: want at least %d items, and from %d to %[3]d clients", s.items, s.clients, itemsMin, most)
	}
	return s, nil
}

// cluster is the subject of the measurement: servers on their own directories, and on each store that can be shared.
type cluster struct {
	settings clusterSettings
	dir      string
	stores   []*backend
	results  *clusterResults
}

// setup is a number of servers on a store.
type setup struct {
	store   *backend // nil means a directory
	servers int
	share   float64 // share of a core to which each server is limited, 0 for no limit
}

func (s setup) name() string {
	switch {
	case s.store == nil:
		return "Pebble"
	case s.share > 0:
		return fmt.Sprintf("%s × %d, held", s.store.name, s.servers)
	default:
		return fmt.Sprintf("%s × %d", s.store.name, s.servers)
	}
}

// setups are all setups, in the order of a round.
func (c *cluster) setups() []setup {
	list := []setup{{servers: 1}}
	for _, share := range slices.Compact([]float64{0, c.settings.share}) {
		for _, b := range c.stores {
			for _, n := range c.settings.servers {
				list = append(list, setup{b, n, share})
			}
		}
	}
	return list
}

// prepare starts the stores and loads the table into each of them.
func (c *cluster) prepare(ctx context.Context) (err error) {
	if c.dir, err = os.MkdirTemp("", "bench-cluster-"); err != nil {
		return err
	}
	for _, one := range backends {
		if !slices.Contains(c.settings.stores, one.name) {
			continue
		}
		b, err := one.start(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		c.stores = append(c.stores, b)
		b.pause()
	}
	sets := []setup{{servers: 1}}
	for _, b := range c.stores {
		sets = append(sets, setup{store: b, servers: 1})
	}
	for _, set := range sets {
		err := c.with(ctx, set, func(servers []*server) error { return load(ctx, servers[0], c.settings.items) })
		if err != nil {
			return fmt.Errorf("%s: %w", set.name(), err)
		}
	}
	if c.settings.share > 0 {
		err := c.with(ctx, setup{servers: 1, share: float64(runtime.NumCPU())}, func([]*server) error { return nil })
		if err != nil {
			progress("left out: servers that are held to a share of a core (%v)", err)
			c.settings.share = 0
		}
	}
	return nil
}

func (c *cluster) remove() {
	for _, b := range c.stores {
		b.resume()
		b.remove()
	}
	_ = os.RemoveAll(c.dir)
}

// with runs servers while do runs.
func (c *cluster) with(ctx context.Context, set setup, do func([]*server) error) (err error) {
	binary, env, place := "bin/monotable", []string(nil), []string{"--data", filepath.Join(c.dir, "data")}
	if b := set.store; b != nil {
		b.resume()
		defer b.pause()
		binary, env, place = b.binary, b.env, []string{"--store", b.url}
	}
	servers := make([]*server, set.servers)
	for i := range servers {
		if servers[i], err = startShared(ctx, i, binary, env, place); err != nil {
			return errors.Join(err, endServers(servers[:i]))
		}
		if set.share > 0 {
			release, err := hold(servers[i].process.Process.Pid, set.share)
			if err != nil {
				return errors.Join(err, endServers(servers[:i+1]))
			}
			defer release()
		}
	}
	return errors.Join(do(servers), endServers(servers))
}

// startShared starts a server on any core.
func startShared(ctx context.Context, n int, binary string, env, place []string) (*server, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	s := &server{name: fmt.Sprintf("monotable-%d", n), afloat: true, metrics: loopback(port), env: env}
	s.command = func(port int, dir string) []string {
		args := []string{binary, "serve", "--log-level", "warn", "--addr", loopback(port), "--metrics-addr", s.metrics, "--data", dir}
		return append(args, place...)
	}
	if err := s.start(ctx); err != nil {
		stopServers([]*server{s})
		return nil, err
	}
	return s, nil
}

// endServers stops the servers gracefully, so that the others do not wait for their leases to expire.
func endServers(servers []*server) (err error) {
	for _, s := range servers {
		err = errors.Join(err, s.process.Process.Signal(syscall.SIGTERM))
	}
	for _, s := range servers {
		err = errors.Join(err, s.process.Wait(), os.RemoveAll(s.dir))
	}
	return err
}

// measure runs a workload against a set of servers.
func (c *cluster) measure(ctx context.Context, w workload, set setup) error {
	return c.with(ctx, set, func(servers []*server) error {
		storeCPU, logBytes := none, func() (float64, error) { return servers[0].metric(`monotable_written_bytes_total{to="log"}`) }
		asked := func() (activity, error) { return activity{}, nil }
		if set.store != nil {
			storeCPU = func() (float64, error) { return float64(set.store.cpu()), nil }
			logBytes = orNone(set.store.logBytes)
			if set.store.activity != nil {
				asked = sample(ctx, set.store.activity)
			}
		}
		m, err := measureWith(ctx, servers, w, demand{connections: c.settings.clients, duration: c.settings.duration}, c.settings.items, storeCPU, logBytes)
		a, failure := asked()
		if err = errors.Join(err, failure); err != nil {
			return err
		}
		c.results.add(w.name, set, m, a)
		return nil
	})
}

func none() (float64, error) { return 0, nil }

func orNone(g gauge) gauge {
	if g == nil {
		return none
	}
	return g
}

// sample samples a store's activity, ten times per second, until stop, which returns the average.
func sample(ctx context.Context, look func(context.Context) (activity, error)) (stop func() (activity, error)) {
	ctx, cancel := context.WithCancel(ctx)
	type sum struct {
		all   activity
		looks float64
		err   error
	}
	result := make(chan sum)
	go func() {
		var s sum
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil && s.err == nil {
			a, err := look(ctx)
			if ctx.Err() == nil {
				s.all, s.looks, s.err = s.all.plus(a), s.looks+1, err
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
		result <- s
	}()
	return func() (activity, error) {
		cancel()
		s := <-result
		return s.all.times(1 / max(s.looks, 1)), s.err
	}
}

// count measures the cost of each workload's requests for a store: with one client and one server, minus the server's
// background activity.
func (c *cluster) count(ctx context.Context, b *backend, workloads []workload) error {
	if b.traffic == nil {
		return nil
	}
	counted := *b
	counted.url = b.counted
	return c.with(ctx, setup{store: &counted, servers: 1}, func(servers []*server) error {
		before, begin := b.traffic(), time.Now()
		const idleTime = 5 * time.Second
		select {
		case <-time.After(idleTime):
		case <-ctx.Done():
			return ctx.Err()
		}
		idle := b.traffic().minus(before).times(1 / time.Since(begin).Seconds())
		c.results.addIdle(b, idle)
		for _, w := range workloads {
			trips := func() (float64, error) { return b.traffic().trips, nil }
			up := func() (float64, error) { return b.traffic().up, nil }
			down := func() (float64, error) { return b.traffic().down, nil }
			clock := func() (float64, error) { return time.Since(begin).Seconds(), nil }
			m, err := measureWith(ctx, servers, w, demand{connections: 1, duration: c.settings.duration}, c.settings.items, trips, up, down, clock)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			all := traffic{m.perOp[0], m.perOp[1], m.perOp[2]}
			c.results.addTraffic(b, w.name, all.minus(idle.times(m.perOp[3])))
		}
		return nil
	})
}

// metric reads one of the server's metrics, by its name and labels.
func (s *server) metric(name string) (float64, error) {
	response, err := http.Get("http://" + s.metrics + "/metrics") //nolint:noctx // on the same machine
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("%w %s", errNoMetric, name)
}

var errNoMetric = errors.New("the server has no metric")
