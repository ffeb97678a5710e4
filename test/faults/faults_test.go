// Package faults breaks a cluster while clients use it, and checks all responses: three servers over one store, all of them
// processes, with a simulated network (package link) between clients, servers and the store's processes.
//
//	clients ──link──► server 0..2 ──links──► PostgreSQL: primary ──► synchronous standby
//	                                         TiKV: placement driver, three nodes of a stand-in, with links among them
//
// Faults are drawn from a seed: any process is killed or paused; any link is cut, held in one direction or both, or silently
// drops its connections; the standby is promoted; a node of TiKV is disconnected. After each fault all servers must be able to
// write again. In the end
//
//   - the history of each pair of registers is linearizable (package registers), index queries
//     included, whichever server responded;
//   - the stream's records of each item lead without gaps to the content of the table, in order, for a reader
//     who followed all the time and for one who starts from the beginning;
//   - monotable verify finds nothing, although an index was added and removed all the time.
//
// Meanwhile tables are created and deleted at one server, and the others must know it once it is acknowledged.
//
// A failure prints the seed. Timing depends on the machine, so a seed repeats the faults but not the history:
//
//	go test ./test/faults -time 10m -seed N
//	go test -tags tikv ./test/faults -run OnTiKV -time 10m -seed N
package faults

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	timeFlag = flag.Duration("time", 0, "how long to draw faults; 0 for one of each of a short list")
	seedFlag = flag.Uint64("seed", 0, "seed of the faults; 0 draws one")
)

// patience is how long a cluster may take to accept writes again after a fault. It is long because the machine may be busy.
const patience = 2 * time.Minute

// breakAndCheck breaks a cluster, and checks everything.
func breakAndCheck(t *testing.T, startStore func() (store, error), flags ...string) {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	begun := time.Now()
	c := start(t, startStore, flags...)
	w := newWorkload(t, c, seed)
	w.start(t)
	t.Logf("started in %v", time.Since(begun).Round(time.Millisecond))
	begun = time.Now()
	faults := 0
	for n := 0; !t.Failed(); n++ {
		var list []fault
		if *timeFlag > 0 {
			if list = draw(random, c.store.breakages()); time.Since(begun) > *timeFlag {
				break
			}
		} else if list = shortList(random, c.store.breakages(), n); list == nil {
			break
		}
		faults += len(list)
		c.causeFaults(t, random, list)
		w.progress(t)
	}
	t.Logf("%d faults end after %v", faults, time.Since(begun).Round(time.Millisecond))
	w.stop(t)
	c.settle(t)
	t.Logf("settled after %v", time.Since(begun).Round(time.Millisecond))
	w.check(t)
	if t.Failed() {
		t.Logf("run it again with -seed %d -time %v", seed, *timeFlag)
	}
}
