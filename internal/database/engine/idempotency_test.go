package engine_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// TestTokenAtWindowBoundary sends a request twice around the moment at which token records start a new window: the second one has
// read the clock before the first, and is executed after it.
func TestTokenAtWindowBoundary(t *testing.T) {
	const lifetime = 10 * time.Minute
	threshold := time.Unix(0, 0).Add(1_000_000 * lifetime)
	slow := make(chan chan struct{}, 1) // the next reader of the clock waits
	var mu sync.Mutex
	now := threshold.Add(-time.Second)
	clock := func() time.Time {
		mu.Lock()
		read := now
		mu.Unlock()
		select {
		case wait := <-slow:
			<-wait
		default:
		}
		return read
	}
	e, err := engine.Open(t.Context(), memkv.New(), engine.Options{TTLInterval: -1, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	send(t, e, "create-table", accountsTable)
	const request = `{"ClientRequestToken":"once","TransactItems":[{"Update":{"TableName":"Accounts","Key":{"id":{"S":"a"}},
	 "UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`

	wait := make(chan struct{})
	slow <- wait
	var late sync.WaitGroup
	late.Go(func() { send(t, e, "transact-write-items", request) })
	for len(slow) > 0 { // until the late request has read the clock
		runtime.Gosched()
	}
	mu.Lock()
	now = threshold.Add(time.Second)
	mu.Unlock()
	_, err = perform(t.Context(), e, "transact-write-items", request)
	if err != nil && codeOf(err) != apierr.TransactionInProgressException {
		t.Error(err)
	}
	close(wait)
	late.Wait()
	got := send(t, e, "get-item", `{"TableName":"Accounts","Key":{"id":{"S":"a"}}}`)
	if want := `{"Item":{"id":{"S":"a"},"n":{"N":"1"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// silent is a store that does not respond to the commits of transactions: it loses those after the first ones that it executes.
type silent struct {
	kv.Store
	silent   bool
	executes int
}

func (s *silent) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if !s.silent || !in.Transaction {
		return s.Store.Update(ctx, in, fn)
	}
	lost := s.executes == 0
	s.executes--
	err := s.Store.Update(ctx, in, func(txn kv.Txn) error {
		if err := fn(txn); err != nil || !lost {
			return err
		}
		return kv.ErrUndetermined
	})
	if err == nil {
		err = kv.ErrUndetermined
	}
	return err
}

// TestCommitWithoutResponse: a transaction whose commit got no response succeeds if the record of its token shows that it was
// executed. Otherwise, or without a token, it is an internal error, and repeating it with its token executes it once.
func TestCommitWithoutResponse(t *testing.T) {
	store := &silent{Store: memkv.New(), executes: 2}
	e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	send(t, e, "create-table", accountsTable)
	const add = `"ReturnConsumedCapacity":"TOTAL","TransactItems":[{"Update":{"TableName":"Accounts","Key":{"id":{"S":"a"}},
	 "UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`
	n := func(want string) {
		t.Helper()
		got := send(t, e, "get-item", `{"TableName":"Accounts","Key":{"id":{"S":"a"}}}`)
		if want = `{"Item":{"id":{"S":"a"},"n":{"N":"` + want + `"}}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	plain := send(t, e, "transact-write-items", `{`+add)

	store.silent = true
	if got := send(t, e, "transact-write-items", `{"ClientRequestToken":"executed",`+add); got != plain {
		t.Errorf("executed, without a response: %s, want %s", got, plain)
	}
	n("2")
	if _, err := perform(t.Context(), e, "transact-write-items", `{`+add); !errors.Is(err, kv.ErrUndetermined) {
		t.Errorf("executed, without a response or token: %v", err)
	}
	n("3")
	if _, err := perform(t.Context(), e, "transact-write-items", `{"ClientRequestToken":"lost",`+add); !errors.Is(err, kv.ErrUndetermined) {
		t.Errorf("lost: %v", err)
	}
	n("3")

	store.silent = false
	for _, token := range []string{"executed", "lost", "lost"} {
		send(t, e, "transact-write-items", `{"ClientRequestToken":"`+token+`",`+add)
	}
	n("4")
}
