package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// requests are requests of every kind on the table Accounts.
var requests = [][2]string{
	{"put-item", `{"TableName":"Accounts","Item":{"id":{"S":"{i}"},"branch":{"S":"{j}"}}}`},
	{"delete-item", `{"TableName":"Accounts","Key":{"id":{"S":"{i}"}}}`},
	{"get-item", `{"TableName":"Accounts","Key":{"id":{"S":"{i}"}}}`},
	{"batch-get-item", `{"RequestItems":{"Accounts":{"Keys":[{"id":{"S":"{i}"}},{"id":{"S":"x"}}]}}}`},
	{"transact-get-items", `{"TransactItems":[{"Get":{"TableName":"Accounts","Key":{"id":{"S":"{i}"}}}}]}`},
	{"scan", `{"TableName":"Accounts"}`},
	{"query", `{"TableName":"Accounts","IndexName":"branches","KeyConditionExpression":"branch = :b","ExpressionAttributeValues":{":b":{"S":"{j}"}}}`},
	{"transact-write-items", `{"ClientRequestToken":"{i}.{j}","TransactItems":[{"Put":{"TableName":"Accounts","Item":{"id":{"S":"{i}"},"branch":{"S":"{j}"}}}}]}`},
	{"describe-table", `{"TableName":"Accounts"}`},
	{"update-table", `{"TableName":"Accounts","AttributeDefinitions":[{"AttributeName":"city","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"cities","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`},
	{"update-table", `{"TableName":"Accounts","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"cities"}}]}`},
	{"list-tables", `{}`},
}

// TestCloseUnderLoad closes the engine during requests of every kind: each succeeds or returns that the store is closed, and the
// remaining data is consistent.
func TestCloseUnderLoad(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fs := vfs.NewMem()
	disk := func() kv.Store {
		store, err := pebblekv.Open("/data", pebblekv.Options{FS: fs, MemTableBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	for _, c := range []struct {
		name  string
		store func() kv.Store
		o     engine.Options
	}{
		{"memory", func() kv.Store { return memkv.New() }, engine.Options{}},
		{"memory, indexes late", func() kv.Store { return memkv.New() }, engine.Options{GSIDelay: 2 * time.Millisecond}},
		{"disk", disk, engine.Options{}},
		{"disk, indexes late", disk, engine.Options{GSIDelay: 2 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.TTLInterval = time.Millisecond
			e, err := engine.Open(t.Context(), c.store(), c.o)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = perform(t.Context(), e, "create-table", accountsTable)
			closeUnderLoad(t, e, seed)
			if c.name == "disk" {
				openLimits(t, disk())
			}
		})
	}
}

func closeUnderLoad(t *testing.T, e *engine.Engine, seed uint64) {
	t.Helper()
	var done atomic.Int64
	var clients sync.WaitGroup
	for worker := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, worker))
		clients.Go(func() {
			for {
				r := requests[random.IntN(len(requests))]
				_, err := perform(context.Background(), e, r[0], numbered(r[1], random.IntN(20), random.IntN(3)))
				if errors.Is(err, kv.ErrClosed) {
					return
				}
				if _, isAPI := errors.AsType[*apierr.Error](err); err != nil && !isAPI {
					t.Errorf("%s: %v", r[0], err)
				}
				if err == nil {
					done.Add(1)
				}
			}
		})
	}
	for done.Load() < 500 {
		runtime.Gosched()
	}
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	clients.Wait()
	if err := e.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	for _, r := range requests {
		_, err := perform(context.Background(), e, r[0], numbered(r[1], 1, 1))
		if _, isAPI := errors.AsType[*apierr.Error](err); !errors.Is(err, kv.ErrClosed) && !isAPI {
			t.Errorf("%s after Close: %v", r[0], err)
		}
	}
}

func numbered(body string, i, j int) string {
	return strings.NewReplacer("{i}", strconv.Itoa(i), "{j}", strconv.Itoa(j)).Replace(body)
}

// panicking is a store whose iterators panic; it counts the open ones.
type panicking struct {
	kv.Store
	open int
}

type panickingIterator struct {
	kv.Iterator
	store *panicking
}

func (s *panicking) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	it, err := s.Store.Iter(ctx, lo, hi, o)
	s.open++
	return panickingIterator{it, s}, err
}

func (it panickingIterator) Next() bool { panic("a defect") }

func (it panickingIterator) Close() error {
	it.store.open--
	return it.Iterator.Close()
}

// TestPanicLeavesNothingOpen: a server survives a panic in a request, and can still close its store, which waits for open
// iterators.
func TestPanicLeavesNothingOpen(t *testing.T) {
	store := &panicking{Store: memkv.New()}
	e := openLimits(t, store)
	send(t, e, "create-table", accountsTable)
	func() {
		defer func() { _ = recover() }()
		_, _ = perform(t.Context(), e, "scan", `{"TableName":"Accounts","ConsistentRead":true}`)
		t.Error("the store did not panic")
	}()
	if store.open != 0 {
		t.Errorf("%d iterators are open", store.open)
	}
}

// TestTableCreateAndDelete deletes a table and creates another with its name and different keys, while clients write to it: their
// writes are completely in the table that existed, or deleted with it.
func TestTableCreateAndDelete(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openLimits(t, s.open(t)())
			stop := make(chan struct{})
			var writers sync.WaitGroup
			for worker := range uint64(4) {
				random := rand.New(rand.NewPCG(seed, worker))
				writers.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							writeIfThere(t, e, random)
						}
					}
				})
			}
			for i := range 30 {
				send(t, e, "create-table", [...]string{
					accountsTable,
					`{"TableName":"Accounts","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
					 "KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}]}`,
				}[i%2])
				send(t, e, "update-time-to-live", `{"TableName":"Accounts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`)
				if _, err := e.ExpireNow(t.Context()); err != nil {
					t.Error(err)
				}
				if i < 29 {
					send(t, e, "delete-table", `{"TableName":"Accounts"}`)
				}
			}
			close(stop)
			writers.Wait()
			e.Settle()
		})
	}
}

func writeIfThere(t *testing.T, e *engine.Engine, random *rand.Rand) {
	t.Helper()
	item := fmt.Sprintf(`{"id":{"S":"%d"},"n":{"N":"%d"},"branch":{"S":"%d"},"exp":{"N":"%d"}}`,
		random.IntN(10), random.IntN(2), random.IntN(3), time.Now().Unix()-10+random.Int64N(20))
	directive, body := "put-item", fmt.Sprintf(`{"TableName":"Accounts","Item":%s}`, item)
	switch random.IntN(3) {
	case 0:
		directive, body = "transact-write-items", fmt.Sprintf(`{"TransactItems":[{"Put":{"TableName":"Accounts","Item":%s}}]}`, item)
	case 1:
		directive, body = "batch-write-item", fmt.Sprintf(`{"RequestItems":{"Accounts":[{"PutRequest":{"Item":%s}}]}}`, item)
	}
	_, err := perform(t.Context(), e, directive, body)
	switch codeOf(err) {
	case apierr.ResourceNotFoundException, apierr.TransactionConflictException, apierr.TransactionCanceledException:
	default:
		if err != nil {
			t.Errorf("%s %s: %v", directive, body, err)
		}
	}
}
