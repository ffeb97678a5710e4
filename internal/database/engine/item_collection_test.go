package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// A collection at its ceiling of 10 GB takes nothing more, but can shrink and be rewritten.
func TestItemCollectionCeiling(t *testing.T) {
	store := stores()[0].open(t)()
	e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	send(t, e, "create-table", `{"TableName":"Collections","BillingMode":"PAY_PER_REQUEST",
	 "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},{"AttributeName":"l","AttributeType":"S"}],
	 "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
	 "LocalSecondaryIndexes":[{"IndexName":"byl","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"l","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`)
	send(t, e, "put-item", `{"TableName":"Collections","Item":{"pk":{"S":"full"},"sk":{"S":"a"},"v":{"S":"1"}}}`)
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
