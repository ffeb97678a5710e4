package linearizability

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
	"github.com/monotable/monotable/test/internal/registers"
)

const (
	cuts    = 12
	workers = 2 * clients // writers soon block on their writes
	// lastMoments is the time before the power failure in which the disk syncs nothing.
	lastMoments = 3 * time.Millisecond
)

// TestLinearizableAcrossPowerCuts cuts the power while clients work, and lets them continue with the remaining data. All of it
// must be one linearizable history: every response before a power failure – to a read, a failed write or a successful write –
// remains valid after it. A request without a response took effect either before the power failure or never.
func TestLinearizableAcrossPowerCuts(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1<<32))
	r := &recorder{start: time.Now(), encrypted: seed%2 == 1}
	t.Logf("encrypted: %v", r.encrypted)
	fs := crashfs.New()
	for cut := range cuts {
		fs = r.live(t, fs, rand.New(rand.NewPCG(seed, uint64(cut))), random)
	}
	result, info := porcupine.CheckOperationsVerbose(registers.PowerCutModel, r.history, patient)
	if result == porcupine.Ok {
		return
	}
	picture := filepath.Join(t.ArtifactDir(), "history.html")
	if err := porcupine.VisualizePath(registers.PowerCutModel, info, picture); err != nil {
		t.Error(err)
	}
	t.Errorf("the history of seed %d is %v, see %s", seed, result, picture)
}

// recorder records the clients' operations until the power fails.
type recorder struct {
	start     time.Time
	encrypted bool // whether the database is encrypted

	mu      sync.Mutex
	history []porcupine.Operation
	pending map[int]porcupine.Operation // pending requests by client
	dead    bool                        // the power has failed, so there are no more responses
}

// live opens the database on the disk, lets clients work on it, cuts the power, and returns the remaining disk.
func (r *recorder) live(t *testing.T, fs *crashfs.FS, workload, crash *rand.Rand) *crashfs.FS {
	t.Helper()
	client := serve(t, fs, r.encrypted)
	if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(registers.Table)}); err != nil {
		registers.Create(t, client)
	}
	r.pending, r.dead = map[int]porcupine.Operation{}, false
	var working sync.WaitGroup
	answered := make(chan struct{}, workers*each)
	for id := range workers {
		random := rand.New(rand.NewPCG(workload.Uint64(), 0))
		working.Go(func() {
			for r.perform(t, client, id, randomRequest(random)) {
				answered <- struct{}{}
			}
		})
	}
	stopped := make(chan struct{})
	go func() {
		working.Wait()
		close(stopped)
	}()
	for range 50 + crash.IntN(100) {
		select {
		case <-answered:
		case <-stopped:
			t.Fatal("the clients stopped while there was power")
		}
	}
	release := fs.HoldSyncs()
	<-time.After(lastMoments)
	r.powerOff()
	left := fs.Crash(crash)
	r.giveUp()
	release()
	<-stopped
	return left
}

// perform executes one request, and reports whether the power is still on.
func (r *recorder) perform(t *testing.T, client *dynamodb.Client, id int, request registers.Request) bool {
	t.Helper()
	r.mu.Lock()
	if r.dead || len(r.history) >= cuts*workers*each {
		r.mu.Unlock()
		return false
	}
	o := porcupine.Operation{ClientId: id, Input: request, Call: int64(time.Since(r.start))}
	r.pending[id] = o
	r.mu.Unlock()

	output, err := registers.Perform(context.WithoutCancel(t.Context()), client, request)

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead {
		return false
	}
	if err != nil {
		t.Errorf("%+v: %v", request, err)
		return false
	}
	o.Output, o.Return = output, int64(time.Since(r.start))
	r.history = append(r.history, o)
	delete(r.pending, id)
	return true
}

func (r *recorder) powerOff() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = true
}

// giveUp records the requests without a response.
func (r *recorder) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.pending {
		o.Output, o.Return = registers.Response{Lost: true}, int64(time.Since(r.start))
		r.history = append(r.history, o)
	}
}

// serve opens the database on a disk and returns a client of it; both end with the test.
func serve(t *testing.T, fs *crashfs.FS, encrypted bool) *dynamodb.Client {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	store, err := pebblekv.Open("/data", pebblekv.Options{
		FS: fs, CacheBytes: 1 << 20, Logger: logger, Encrypt: encrypted, MasterKey: bytes.Repeat([]byte{1}, 32),
	})
	if err != nil {
		t.Fatal(err)
	}
	counts := observe.New(server.OperationNames()...)
	e, err := engine.Open(t.Context(), store, engine.Options{Logger: logger, Observe: counts})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(server.New(e, server.Options{Logger: logger, Observe: counts}))
	t.Cleanup(func() {
		listening.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(listening.URL), Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 1,
	})
}
