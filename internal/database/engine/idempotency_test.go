package engine_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine"
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
