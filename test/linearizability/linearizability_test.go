// Package linearizability lets AWS SDK clients work concurrently on a few items and checks that the results are
// linearizable. A failure prints the seed and saves a picture of the history among the test's artifacts (go test
// -artifacts); run it again with
//
//	go test ./test/linearizability -seed N
package linearizability

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/test/internal/registers"
)

const (
	pairs   = 3
	clients = 8
	each    = 150 // operations per client
	values  = 4   // a small number, so that conditions often hold
	patient = 2 * time.Minute
)

var seedFlag = flag.Uint64("seed", 0, "seed of the histories; 0 draws one")

func TestLinearizable(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	for name, open := range map[string]func(*monotable.Options) (*monotable.DB, error){
		"memory": monotable.OpenMemory,
		"disk":   func(o *monotable.Options) (*monotable.DB, error) { return monotable.Open(t.TempDir(), o) },
	} {
		t.Run(name, func(t *testing.T) {
			db, err := open(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
			history := record(t, db, seed)
			result, info := porcupine.CheckOperationsVerbose(registers.Model, history, patient)
			if result == porcupine.Ok {
				return
			}
			picture := filepath.Join(t.ArtifactDir(), "history.html")
			if err := porcupine.VisualizePath(registers.Model, info, picture); err != nil {
				t.Error(err)
			}
			t.Errorf("the history of seed %d is %v, see %s", seed, result, picture)
		})
	}
}

// record runs the clients and returns the history of their operations.
func record(t *testing.T, db *monotable.DB, seed uint64) []porcupine.Operation {
	t.Helper()
	client := dynamodb.New(db.Client().Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	registers.Create(t, client)
	start := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var working sync.WaitGroup
	for id := range clients {
		random := rand.New(rand.NewPCG(seed, uint64(id)))
		working.Go(func() {
			for range each {
				r := randomRequest(random)
				call := time.Since(start)
				a, err := registers.Perform(t.Context(), client, r)
				end := time.Since(start)
				if err != nil {
					t.Errorf("%+v: %v", r, err)
					return
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: id, Input: r, Call: int64(call), Output: a, Return: int64(end)})
				mu.Unlock()
			}
		})
	}
	working.Wait()
	return history
}

func randomRequest(random *rand.Rand) registers.Request {
	return registers.Request{
		Pair:     random.IntN(pairs),
		Register: random.IntN(2),
		Kind:     registers.Kind(random.IntN(int(registers.Query) + 1)),
		Value:    random.IntN(values),
		Expect:   random.IntN(values+1) + registers.Absent,
	}
}
