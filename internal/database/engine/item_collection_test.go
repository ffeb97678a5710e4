package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const collectionsTable = `{"TableName":"Collections","BillingMode":"PAY_PER_REQUEST",
	 "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},{"AttributeName":"l","AttributeType":"S"}],
	 "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
	 "LocalSecondaryIndexes":[{"IndexName":"byl","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"l","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`

// A collection at its limit of 10 GB cannot grow, but can shrink and be rewritten.
func TestItemCollectionLimit(t *testing.T) {
	store := stores()[0].open(t)()
	e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	send(t, e, "create-table", collectionsTable)
	id, err := tableID(t.Context(), store, "Collections")
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
		txn.Add(keyenc.Collection(id, attr.String("full")), 10<<30-15)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	send(t, e, "put-item", `{"TableName":"Collections","Item":{"pk":{"S":"full"},"sk":{"S":"a"},"v":{"S":"1"}}}`)

	const put = `{"TableName":"Collections","Item":{"pk":{"S":"full"},"sk":{"S":"b"}}}`
	if _, err := perform(t.Context(), e, "put-item", put); codeOf(err) != apierr.ItemCollectionSizeLimitExceededException ||
		!strings.Contains(err.Error(), "Collection size exceeded.") {
		t.Errorf("put: %v", err)
	}
	_, err = perform(t.Context(), e, "transact-write-items", `{"TransactItems":[
	 {"Put":{"TableName":"Collections","Item":{"pk":{"S":"empty"},"sk":{"S":"b"}}}},{"Put":`+put+`}]}`)
	if got, want := reasonCodes(err), []string{"None", "ItemCollectionSizeLimitExceeded"}; !slices.Equal(got, want) {
		t.Errorf("transaction: reasons %v, want %v", got, want)
	}
	send(t, e, "put-item", `{"TableName":"Collections","Item":{"pk":{"S":"full"},"sk":{"S":"a"},"v":{"S":"2"}}}`)
	got := send(t, e, "delete-item", `{"TableName":"Collections","Key":{"pk":{"S":"full"},"sk":{"S":"a"}},"ReturnItemCollectionMetrics":"SIZE"}`)
	want := `{"ItemCollectionMetrics":{"ItemCollectionKey":{"pk":{"S":"full"}},"SizeEstimateRangeGB":[9.0,10.0]}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delete (-want +got)\n%s", diff)
	}
}

// countedCounters counts how often updates read a counter.
type countedCounters struct {
	kv.Store
	reads *atomic.Int64
}

func (s countedCounters) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	return s.Store.Update(ctx, in, func(txn kv.Txn) error { return fn(countedReads{txn, s.reads}) })
}

type countedReads struct {
	kv.Txn
	reads *atomic.Int64
}

func (t countedReads) Counter(key []byte) ([]int64, error) {
	t.reads.Add(1)
	return t.Txn.Counter(key)
}

// TestItemCollectionSizeIsCached: a put does not read the size of its collection each time, for which the store would have to add
// up the terms of all earlier puts.
func TestItemCollectionSizeIsCached(t *testing.T) {
	var reads atomic.Int64
	e, err := engine.Open(t.Context(), countedCounters{stores()[0].open(t)(), &reads}, engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	send(t, e, "create-table", collectionsTable)
	begun := time.Now()
	before := reads.Load()
	for i := range 500 {
		send(t, e, "put-item", fmt.Sprintf(`{"TableName":"Collections","Item":{"pk":{"S":"one"},"sk":{"S":"%d"}}}`, i))
	}
	if got, most := reads.Load()-before, 2+int64(time.Since(begun)/time.Second); got > most {
		t.Errorf("500 puts read counters %d times, want %d at most", got, most)
	}
}
