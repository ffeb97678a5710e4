// Package soak runs the server under a steady load for a long time, kills it repeatedly, and then checks it against what
// it acknowledged.
//
// The load is an open loop: requests start at fixed times, at 70 % of the rate that the server reaches in a closed loop. A
// request that has to wait for a free client is late, and the delay counts as latency. Each client owns its items (see
// package ledger), so everything it reads must be exactly what it wrote last.
//
// At the end, every item is read, the stream of one table is replayed from its beginning, and `monotable verify` checks
// the directory. A failure prints the seed; set it with -seed.
package soak

import (
	"context"
	"flag"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/test/internal/serverproc"
)

var (
	timeFlag   = flag.Duration("time", 9*time.Second, "how long to keep up the load")
	killFlag   = flag.Duration("kill", 3*time.Second, "how long the server runs before it is killed")
	loadFlag   = flag.Float64("load", 0.7, "the load, as a part of the highest")
	memoryFlag = flag.Int64("memory", 2<<30, "how much memory the server may have resident")
	seedFlag   = flag.Uint64("seed", 0, "seed of the run; 0 draws one")
)

const (
	clients = 64
	// calibration is the maximum duration of measuring the highest load.
	calibration = 5 * time.Second
	// requestWait limits the last requests of a round.
	requestWait = time.Minute
)

// soak is a run.
type soak struct {
	binary, dir string
	clients     []*client
	rate        float64 // requests a second

	restarts []time.Duration
	peak     int64 // memory
}

func TestSoak(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := &soak{binary: serverproc.Build(t), dir: filepath.Join(t.TempDir(), "data")}
	for i := range clients {
		s.clients = append(s.clients, newClient(i, seed))
	}
	server := s.start(t)
	stream := createTables(t, connect(server))
	s.calibrate(t)
	for left := *timeFlag; left > 0 && !t.Failed(); left -= min(left, *killFlag) {
		round := min(left, *killFlag)
		acknowledged := s.load(t, server, round, random)
		server = s.start(t)
		s.settle(t)
		t.Logf("%v left; killed after %d requests, back after %v, at most %d MiB of memory",
			left-round, acknowledged, s.restarts[len(s.restarts)-1].Round(time.Millisecond), s.peak>>20)
	}
	replay(t, server, stream)
	s.peak = max(s.peak, server.PeakMemory())
	server.Stop(t)
	if output, err := exec.CommandContext(t.Context(), s.binary, "verify", s.dir).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, output)
	}
	s.report(t)
}

// start starts the server and connects the clients to it.
func (s *soak) start(t *testing.T) *serverproc.Server {
	t.Helper()
	begun := time.Now()
	server := serverproc.Start(t, s.binary, "--data", s.dir, "--log-level", "warn")
	s.restarts = append(s.restarts, time.Since(begun))
	connection := connect(server)
	for _, c := range s.clients {
		c.writer.Client = connection
	}
	return server
}

// calibrate measures the highest load: every client sends its next request as soon as it has the response to the previous one.
func (s *soak) calibrate(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), min(calibration, *killFlag/2))
	defer cancel()
	begun := time.Now()
	var all sync.WaitGroup
	requests := make([]int, len(s.clients))
	for i, c := range s.clients {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := c.request(t.Context()); err != nil {
					t.Errorf("calibrating: %v", err)
					return
				}
				requests[i]++
			}
		})
	}
	all.Wait()
	total := 0
	for _, n := range requests {
		total += n
	}
	highest := float64(total) / time.Since(begun).Seconds()
	s.rate = *loadFlag * highest
	t.Logf("the highest load is %.0f requests a second, of which %.0f are kept up", highest, s.rate)
}

// load keeps up the load for a time, kills the server, and returns how many requests succeeded.
func (s *soak) load(t *testing.T, server *serverproc.Server, length time.Duration, random *rand.Rand) (succeeded int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), length+requestWait)
	defer cancel()
	killed := make(chan struct{})
	due := make(chan time.Time, int(s.rate*length.Seconds())+1)
	var all sync.WaitGroup
	counts := make([]int, len(s.clients))
	for i, c := range s.clients {
		all.Go(func() {
			for at := range due {
				err := c.request(ctx)
				select {
				case <-killed:
					return
				default:
				}
				if err != nil {
					t.Errorf("a request to a living server: %v", err)
					return
				}
				c.latencies = append(c.latencies, time.Since(at))
				counts[i]++
			}
		})
	}
	// The kill occurs at a random moment of the clients' work.
	arrive(due, s.rate, length-time.Duration(random.Int64N(int64(length)/10)))
	s.peak = max(s.peak, server.PeakMemory())
	close(killed)
	server.Kill(t)
	close(due)
	all.Wait()
	for _, n := range counts {
		succeeded += n
	}
	return succeeded
}

// arrive makes requests due at a rate, for a time.
func arrive(due chan<- time.Time, rate float64, length time.Duration) {
	begun := time.Now()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for sent := 0; ; <-tick.C {
		elapsed := time.Since(begun)
		if elapsed >= length {
			return
		}
		for ; float64(sent) < rate*elapsed.Seconds(); sent++ {
			due <- begun.Add(time.Duration(float64(sent) / rate * float64(time.Second)))
		}
	}
}

// settle lets every client compare its items with its ledger.
func (s *soak) settle(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	for _, c := range s.clients {
		all.Go(func() {
			faults, err := c.settle(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, fault := range faults {
				t.Error(fault)
			}
		})
	}
	all.Wait()
}

// report logs the results of the run, and fails it if the server used too much memory.
func (s *soak) report(t *testing.T) {
	t.Helper()
	var latencies []time.Duration
	for _, c := range s.clients {
		latencies = append(latencies, c.latencies...)
	}
	if len(latencies) == 0 {
		t.Error("no request succeeded")
		return
	}
	slices.Sort(latencies)
	at := func(part float64) time.Duration { return latencies[int(part*float64(len(latencies)-1))] }
	t.Logf("%d requests at %.0f a second: p50 %v, p99 %v, p99.9 %v, max %v",
		len(latencies), s.rate, at(0.5), at(0.99), at(0.999), at(1))
	recoveries := slices.Sorted(slices.Values(s.restarts[1:]))
	t.Logf("%d kills, back after %v (median), %v (max)", len(recoveries), recoveries[len(recoveries)/2], recoveries[len(recoveries)-1])
	t.Logf("at most %d MiB of memory", s.peak>>20)
	if s.peak > *memoryFlag {
		t.Errorf("the server had %d MiB of memory, want at most %d MiB", s.peak>>20, *memoryFlag>>20)
	}
}
