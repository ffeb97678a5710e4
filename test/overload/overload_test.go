// Package overload drives a server in a separate process far beyond its capacity, and checks that it stays within its
// memory limit and keeps serving its other clients.
//
// The load consists of five kinds at the same time: clients that send 16 MB bodies slowly, clients that do not read large
// responses, thousands of HTTP/2 streams, 4 MB transactions on a table with 20 ALL indexes, and 40 MB transactions, which
// must be rejected. `make overload` runs all of it; `make test` a tenth for a few seconds.
package overload

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/monotable/monotable/test/internal/serverproc"
)

var full = flag.Bool("full", false, "run the whole load, and hold the other clients' p99 to 10 times their quiet one")

// load is the amount of load of each kind.
type load struct {
	Senders, Readers, Streams, Transactions, Oversized int

	// Apart is for a load under which latency is measured. Ideally all clients would have their own processors. Here the
	// attackers only get what the server and the other clients leave, and the other clients, which need little, get a processor
	// whenever they want one.
	Apart bool

	lasts, quiet time.Duration
}

const (
	memoryLimit = 1536 << 20
	limitFlag   = "1536MiB"
	// slowdownMax is the tolerated slowdown of the other clients' slowest requests.
	slowdownMax = 10
)

func TestOverload(t *testing.T) {
	l := load{Senders: 50, Readers: 50, Streams: 400, Transactions: 2, Oversized: 1, lasts: 5 * time.Second, quiet: 2 * time.Second}
	if *full {
		l = load{Senders: 500, Readers: 500, Streams: 2000, Transactions: 8, Oversized: 2, Apart: true, lasts: 60 * time.Second, quiet: 10 * time.Second}
	}
	server := serverproc.Start(t, serverproc.Build(t), "--data", t.TempDir(), "--memory-limit", limitFlag)
	idle, idlePeak := server.OwnMemory(), server.PeakMemory()
	c := clientOf(server.Endpoint)
	defer c.http.CloseIdleConnections()
	c.createTables(t)

	if l.Apart {
		if err := schedule(unix.SCHED_FIFO, 1); err != nil {
			t.Logf("the other clients share the processors with the server, and their latency is not its alone: %v", err)
		}
	}
	counts := newTally()
	quiet := c.others(t.Context(), l.quiet, counts)
	endAttack := beginAttack(t, server.Endpoint, l, counts)
	loud := c.others(t.Context(), l.lasts, counts)
	endAttack()
	peak := server.PeakMemory()

	t.Logf("memory: %d MB idle (%d MB with the program), %d MB at most, limit %d MB", idle>>20, idlePeak>>20, peak>>20, memoryLimit>>20)
	t.Logf("other clients, quiet:    %v", quiet)
	t.Logf("other clients, overload: %v", loud)
	t.Logf("the load met:\n%s", counts)
	if idle == 0 || peak == 0 {
		t.Fatal("the system does not say how much memory the server had")
	}
	if peak > memoryLimit {
		t.Errorf("the server took %d MB, its limit is %d MB", peak>>20, memoryLimit>>20)
	}
	if idle > 40<<20 {
		t.Errorf("an idle server takes %d MB beside its program, want less than 40 MB", idle>>20)
	}
	if loud.done == 0 || loud.failed > loud.done/100 {
		t.Errorf("of the other clients' requests %d failed and %d did not", loud.failed, loud.done)
	}
	if *full && loud.p99 > slowdownMax*quiet.p99 {
		t.Errorf("the other clients' p99 went from %v to %v, want at most %d times", quiet.p99, loud.p99, slowdownMax)
	}
	for kind, response := range expected {
		if !counts.met(kind, response) {
			t.Errorf("no request of the kind %q was answered with %s", kind, response)
		}
	}
}

// figures are the results of a series of requests.
type figures struct {
	done, failed  int
	p50, p99, max time.Duration
	p99Of         map[string]time.Duration // by operation
}

func figuresOf(latencies map[string][]time.Duration, failed int) figures {
	f := figures{failed: failed, p99Of: map[string]time.Duration{}}
	all := []time.Duration{}
	for operation, some := range latencies {
		slices.Sort(some)
		f.p99Of[operation] = some[len(some)*99/100].Round(10 * time.Microsecond)
		all = append(all, some...)
	}
	slices.Sort(all)
	if f.done = len(all); f.done > 0 {
		f.p50, f.p99, f.max = all[f.done/2], all[f.done*99/100], all[f.done-1]
	}
	return f
}

func (f figures) String() string {
	return fmt.Sprintf("%d requests, %d failed, p50 %v, p99 %v %v, max %v", f.done, f.failed, f.p50.Round(10*time.Microsecond),
		f.p99.Round(10*time.Microsecond), f.p99Of, f.max.Round(10*time.Microsecond))
}

// padded is a text of n bytes.
func padded(n int) string { return strings.Repeat("x", n) }
