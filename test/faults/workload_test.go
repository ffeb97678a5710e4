package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	nethttp "net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/test/internal/registers"
)

const (
	workers = 9
	// restLongest is the maximum pause of a client after a lost request: a link that refuses connections would otherwise
	// have thousands of them.
	restLongest = 100 * time.Millisecond
	// progressOps is the number of responses between two faults.
	progressOps = 200
)

// workload is the clients, with all their results.
type workload struct {
	cluster   *cluster
	seed      uint64
	begun     time.Time
	clients   [frontEnds]*dynamodb.Client
	pairs     *pairs
	values    atomic.Int64 // used in requests
	responses atomic.Int64
	halt      context.CancelFunc
	running   sync.WaitGroup

	follower *follower
	indexes  atomic.Int64 // that were filled
	tables   atomic.Int64 // that were created, used and deleted

	mu      sync.Mutex
	history []porcupine.Operation
	lost    int
}

func newWorkload(t *testing.T, c *cluster, seed uint64) *workload {
	t.Helper()
	w := &workload{cluster: c, seed: seed, begun: time.Now(), pairs: newPairs()}
	for n, f := range c.frontEnds {
		w.clients[n] = newClient(f.clients, c.store.pace().client)
	}
	registers.Create(t, w.clients[0])
	w.follower = newFollower(t, c)
	return w
}

func (w *workload) start(t *testing.T) {
	t.Helper()
	var ctx context.Context
	ctx, w.halt = context.WithCancel(t.Context())
	t.Cleanup(func() { w.halt(); w.running.Wait() })
	for id := range workers {
		w.running.Go(func() { w.work(ctx, t, id) })
	}
	w.running.Go(func() { w.changeIndexes(ctx, t) })
	w.running.Go(func() { w.changeTables(ctx, t) })
	w.running.Go(func() { w.follower.follow(ctx, t) })
	w.progress(t)
}

func (w *workload) stop(t *testing.T) {
	t.Helper()
	w.halt()
	w.running.Wait()
}

// progress waits until clients have received some more responses.
func (w *workload) progress(t *testing.T) {
	t.Helper()
	until := w.responses.Load() + progressOps
	poll(t, "the clients go on", func() error {
		if w.responses.Load() < until && !t.Failed() {
			return errors.New("few responses come")
		}
		return nil
	})
}

// work sends requests, mostly to one server.
func (w *workload) work(ctx context.Context, t *testing.T, id int) {
	t.Helper()
	random := rand.New(rand.NewPCG(w.seed, uint64(id)+1))
	own := id % frontEnds
	for client := id; ctx.Err() == nil && !t.Failed(); {
		server := own
		if random.IntN(4) == 0 {
			server = random.IntN(frontEnds)
		}
		lost, err := w.perform(client, server, w.draw(random))
		if err != nil {
			t.Error(err)
			return
		}
		if lost {
			client += workers // the first one's request may still be in progress
			rest(ctx, time.Duration(random.Int64N(int64(restLongest))))
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// draw draws a request. Each value is written by a single request; sums are between two of them.
func (w *workload) draw(random *rand.Rand) registers.Request {
	const spread = 1000
	p, seen := w.pairs.take(random)
	r := registers.Request{
		Pair: p, Register: random.IntN(2), Kind: registers.Kind(random.IntN(int(registers.QueryIndex) + 1)),
		Value: int(w.values.Add(1)) * spread,
	}
	if r.Expect = seen[r.Register]; random.IntN(4) == 0 {
		r.Expect = registers.Absent
	}
	if (r.Kind == registers.SwapBoth || r.Kind == registers.Move) && random.IntN(2) == 0 {
		r.Token = newToken(random)
	}
	return r
}

func newToken(random *rand.Rand) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	token := make([]byte, 32)
	for i := range token {
		token[i] = letters[random.IntN(len(letters))]
	}
	return string(token)
}

// perform sends a request and records the result.
func (w *workload) perform(client, server int, r registers.Request) (lost bool, err error) {
	o := porcupine.Operation{ClientId: client, Input: r, Call: int64(time.Since(w.begun))}
	a, err := w.send(server, r)
	if a.Lost && r.Token != "" { // as SDKs do, but to another server
		// Unless the response is a success, the first request may still be executed.
		if again, refused := w.send((server+1)%frontEnds, r); refused == nil && again == (registers.Response{}) {
			a = again
		}
	}
	o.Output, o.Return = a, int64(time.Since(w.begun))
	w.pairs.done(r, a)
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Lost {
		w.lost++
	} else {
		w.responses.Add(1)
	}
	if !a.Lost || r.Kind.Writes() {
		w.history = append(w.history, o)
	}
	return a.Lost, err
}

// send returns an error if the response is one that no fault may cause.
func (w *workload) send(server int, r registers.Request) (registers.Response, error) {
	a, err := registers.Perform(context.Background(), w.clients[server], r)
	if err == nil {
		return a, nil
	}
	if !mayHappen(err) {
		return registers.Response{Lost: true}, err
	}
	return registers.Response{Lost: true}, nil
}

// mayHappen reports whether a fault explains an error: there was no response, or it is a server error.
func mayHappen(err error) bool {
	if errors.Is(err, registers.ErrTwice) {
		return false
	}
	refused, is := errors.AsType[smithy.APIError](err)
	if !is || refused.ErrorCode() == "TransactionInProgressException" {
		return true
	}
	response, is := errors.AsType[*http.ResponseError](err)
	return is && response.HTTPStatusCode() >= nethttp.StatusInternalServerError
}
