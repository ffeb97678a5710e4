//go:build tikv

// Package tikv runs servers over a cluster of TiKV's real placement driver and three nodes of a stand-in, see package tikvtest. Nodes and servers are
// killed and paused while clients use them, and everything the clients were told is checked.
package tikv

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv/tikvtest"
	"github.com/monotable/monotable/test/internal/registers"
	"github.com/monotable/monotable/test/internal/serverproc"
)

var (
	cluster    *tikvtest.Cluster
	seedFlag   = flag.Uint64("seed", 0, "seed of the requests and faults; 0 draws one")
	faultsFlag = flag.Int("faults", 6, "how many faults there are")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(tikvtest.Run(func(c *tikvtest.Cluster) int {
		cluster = c
		return m.Run()
	}))
}

const (
	servers   = 3
	clients   = 6
	pairsEach = 4 // registers in use at a time; each fault has others, so that a history has few requests without a response
	patience  = time.Minute
	restless  = 15 * time.Second // how long a request may take
)

// frontEnd is a server, in its present process.
type frontEnd struct {
	mu      sync.Mutex
	dir     string
	process *serverproc.Server
}

func (f *frontEnd) client() *dynamodb.Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &f.process.Endpoint, Credentials: aws.AnonymousCredentials{}, HTTPClient: http.DefaultClient, RetryMaxAttempts: 1,
	})
}

// workload is what the clients do.
type workload struct {
	begun     time.Time
	frontEnds [servers]*frontEnd
	epoch     atomic.Int64 // of registers
	mu        sync.Mutex
	history   []porcupine.Operation
	lost      int
}

func TestFaults(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	binary := serverproc.Build(t, "-tags=tikv")
	w := &workload{begun: time.Now()}
	start := func(i int) {
		f := w.frontEnds[i]
		process := serverproc.Start(t, binary, "--store", cluster.Address("faults"), "--data", f.dir, "--log-level", "error")
		f.mu.Lock()
		f.process = process
		f.mu.Unlock()
	}
	for i := range w.frontEnds {
		w.frontEnds[i] = &frontEnd{dir: filepath.Join(t.TempDir(), fmt.Sprint(i))}
		start(i)
	}
	registers.Create(t, w.frontEnds[0].client())
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for id := range clients {
		random := rand.New(rand.NewPCG(seed, uint64(id)))
		working.Go(func() { w.work(ctx, id, random) })
	}
	random := rand.New(rand.NewPCG(seed, clients))
	for n := range *faultsFlag {
		w.goOn(t, 60)
		i, before := random.IntN(3), time.Now()
		var what string
		switch n % 4 {
		case 0:
			what = "a node is paused"
			cluster.Pause(i)
			w.goOn(t, 40)
			cluster.Resume(i)
		case 1:
			what = "a server is killed"
			w.frontEnds[i].process.Kill(t)
			w.goOn(t, 40)
			start(i)
		case 2:
			what = "a node is killed"
			cluster.Kill(i)
			w.goOn(t, 40)
			if err := cluster.Restart(i); err != nil {
				t.Fatal(err)
			}
		case 3:
			what = "a server is paused"
			w.frontEnds[i].process.Signal(t, syscall.SIGSTOP)
			w.goOn(t, 40)
			w.frontEnds[i].process.Signal(t, syscall.SIGCONT)
		}
		t.Logf("%s (%d): %v", what, i, time.Since(before).Round(time.Millisecond))
		if err := cluster.AwaitHealthy(); err != nil {
			t.Fatal(err)
		}
		w.epoch.Add(1)
	}
	w.goOn(t, 60)
	cancel()
	working.Wait()
	w.check(t)
	printed, err := exec.CommandContext(t.Context(), binary, "verify", w.frontEnds[0].dir).CombinedOutput()
	if err != nil {
		t.Errorf("verify: %v\n%s", err, printed)
	}
}

// goOn returns when so many more requests have been answered.
func (w *workload) goOn(t *testing.T, n int) {
	t.Helper()
	count := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.history) - w.lost
	}
	for want, begun := count()+n, time.Now(); count() < want; <-time.After(10 * time.Millisecond) {
		if time.Since(begun) > 3*time.Minute {
			t.Fatalf("of %d requests %d were answered in three minutes", n, n-want+count())
		}
	}
}

// work sends requests, one after the other, to one server and another.
func (w *workload) work(ctx context.Context, id int, random *rand.Rand) {
	for ctx.Err() == nil {
		r := registers.Request{
			Pair:     int(w.epoch.Load())*pairsEach + random.IntN(pairsEach),
			Register: random.IntN(2),
			Kind:     registers.Kind(random.IntN(int(registers.QueryIndex) + 1)),
			Value:    random.IntN(5),
			Expect:   random.IntN(6) + registers.Absent,
		}
		client := w.frontEnds[random.IntN(servers)].client()
		o := porcupine.Operation{ClientId: id, Input: r, Call: int64(time.Since(w.begun))}
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), restless)
		a, err := registers.Perform(limited, client, r)
		cancel()
		o.Return = int64(time.Since(w.begun))
		if err != nil {
			if !r.Kind.Writes() {
				continue
			}
			a = registers.Answer{Lost: true}
		}
		o.Output = a
		w.mu.Lock()
		w.history = append(w.history, o)
		if a.Lost {
			w.lost++
		}
		w.mu.Unlock()
	}
}

// check reads all pairs and checks the whole history.
func (w *workload) check(t *testing.T) {
	t.Helper()
	client := w.frontEnds[0].client()
	for p := range registers.ByPair(w.history) {
		o := porcupine.Operation{Input: registers.Request{Pair: p, Kind: registers.GetBoth}, Call: int64(time.Since(w.begun))}
		a, err := registers.Perform(t.Context(), client, o.Input.(registers.Request))
		if err != nil {
			t.Fatal(err)
		}
		o.Output, o.Return = a, int64(time.Since(w.begun))
		w.history = append(w.history, o)
	}
	end := int64(time.Since(w.begun))
	conflicts := 0
	for i, o := range w.history {
		a := o.Output.(registers.Answer)
		if a.Lost {
			w.history[i].Return = end
		}
		if a.Conflict {
			conflicts++
		}
	}
	for p, history := range registers.ByPair(w.history) {
		result := porcupine.CheckOperationsTimeout(registers.Model, history, patience)
		if result == porcupine.Ok {
			continue
		}
		picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("pair%d.html", p))
		_, info := porcupine.CheckOperationsVerbose(registers.Model, history, patience)
		if err := porcupine.VisualizePath(registers.Model, info, picture); err != nil {
			t.Error(err)
		}
		t.Errorf("the history of pair %d is %v, see %s", p, result, picture)
	}
	t.Logf("%d requests, %d without a response, %d conflicts", len(w.history), w.lost, conflicts)
}
