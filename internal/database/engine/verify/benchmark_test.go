package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// request decodes an operation's input as sent by a client.
func request[In any](tb testing.TB, body string) *In {
	tb.Helper()
	in := new(In)
	if err := wire.Decode([]byte(body), in); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	return in
}

// BenchmarkRun verifies a store of items of 600 bytes with a local and two global indexes and TTL. One iteration is
// one item, with its entries and its record in the change log.
func BenchmarkRun(b *testing.B) {
	store, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.Open(b.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	_, err = e.CreateTable(b.Context(), request[api.CreateTableInput](b, `{"TableName":"Bench","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},
			{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[
			{"IndexName":"all","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
			{"IndexName":"some","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["f1","f2"]}}]}`))
	if err != nil {
		b.Fatal(err)
	}
	_, err = e.UpdateTimeToLive(b.Context(), request[api.UpdateTimeToLiveInput](b,
		`{"TableName":"Bench","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"exp"}}`))
	if err != nil {
		b.Fatal(err)
	}
	const items = 20_000
	for i := 0; i < items; i += 25 {
		puts := make([]string, 25)
		for j := range puts {
			n := i + j
			puts[j] = fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%06d"},"sk":{"N":"%d"},"a":{"S":"%d"},"n":{"N":"%d"},"exp":{"N":"2000000000"},
				"f1":{"S":%q},"f2":{"L":[{"N":"1"},{"SS":["x","y"]},{"M":{"k":{"S":"v"}}}]},"f3":{"BOOL":true}}}}`,
				n/10, n%10, n%100, n%1000, strings.Repeat("x", 500))
		}
		_, err := e.BatchWriteItem(b.Context(), request[api.BatchWriteItemInput](b, `{"RequestItems":{"Bench":[`+strings.Join(puts, ",")+`]}}`))
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	b.ReportAllocs()
	for done := 0; done < b.N; done += items {
		v, err := verify.Run(b.Context(), store, func(f verify.Finding) { b.Error(f) }, verify.Options{})
		if err != nil || v.Items != items {
			b.Fatal(v, err)
		}
	}
}
