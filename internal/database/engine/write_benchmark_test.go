package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// benchmarkTable has a sort key and two indexes that project everything, as the side-by-side workloads do.
const benchmarkTable = `{"TableName":"Bench","BillingMode":"PAY_PER_REQUEST",
 "AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},
  {"AttributeName":"GSI1PK","AttributeType":"S"},{"AttributeName":"GSI1SK","AttributeType":"S"},
  {"AttributeName":"GSI2PK","AttributeType":"S"},{"AttributeName":"GSI2SK","AttributeType":"S"}],
 "KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
 "GlobalSecondaryIndexes":[
  {"IndexName":"GSI1","KeySchema":[{"AttributeName":"GSI1PK","KeyType":"HASH"},{"AttributeName":"GSI1SK","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
  {"IndexName":"GSI2","KeySchema":[{"AttributeName":"GSI2PK","KeyType":"HASH"},{"AttributeName":"GSI2SK","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`

func newBenchmark(b *testing.B) *engine.Engine {
	b.Helper()
	e, err := engine.Open(b.Context(), memkv.New(), engine.Options{TTLInterval: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	create := decoded[api.CreateTableInput](b, benchmarkTable)
	if _, err := e.CreateTable(b.Context(), create); err != nil {
		b.Fatal(err)
	}
	return e
}

// benchmarkItem has about 1 KB.
func benchmarkItem(i, version int) string {
	return fmt.Sprintf(`{"PK":{"S":"user#%06d"},"SK":{"S":"profile"},"GSI1PK":{"S":"city#%d"},"GSI1SK":{"S":"user#%06d"},
	 "GSI2PK":{"S":"status#active"},"GSI2SK":{"S":"2026-11-%02d#%06d"},"n":{"N":"%d"},"name":{"S":"Some Name"},
	 "tags":{"SS":["a","b","c"]},"address":{"M":{"street":{"S":"1 Main Street"},"zip":{"S":"12345"}}},"text":{"S":"%s"}}`,
		i, i%100, i, i%28, i, version, strings.Repeat("x", 750))
}

func decoded[T any](tb testing.TB, body string) *T {
	tb.Helper()
	in := new(T)
	if err := wire.Decode([]byte(body), in); err != nil {
		tb.Fatal(err)
	}
	if err := api.Validate(in); err != nil {
		tb.Fatal(err)
	}
	return in
}

const benchmarkItems = 1000

func BenchmarkPutItem(b *testing.B) {
	for _, condition := range []string{"", `,"ConditionExpression":"attribute_exists(PK)"`} {
		name := "unconditional"
		if condition != "" {
			name = "conditional"
		}
		b.Run(name, func(b *testing.B) {
			e := newBenchmark(b)
			// Two versions of each item, so that every put changes it.
			var puts [2][benchmarkItems]*api.PutItemInput
			for version := range puts {
				for i := range puts[version] {
					c := condition
					if version == 0 {
						c = ""
					}
					puts[version][i] = decoded[api.PutItemInput](b, `{"TableName":"Bench","Item":`+benchmarkItem(i, version)+c+`}`)
				}
			}
			for _, in := range puts[0] {
				if _, err := e.PutItem(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if _, err := e.PutItem(b.Context(), puts[(n/benchmarkItems+1)%2][n%benchmarkItems]); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}

func BenchmarkUpdateItem(b *testing.B) {
	e := newBenchmark(b)
	var updates [benchmarkItems]*api.UpdateItemInput
	for i := range updates {
		put := decoded[api.PutItemInput](b, `{"TableName":"Bench","Item":`+benchmarkItem(i, 0)+`}`)
		if _, err := e.PutItem(b.Context(), put); err != nil {
			b.Fatal(err)
		}
		updates[i] = decoded[api.UpdateItemInput](b, fmt.Sprintf(`{"TableName":"Bench","Key":{"PK":{"S":"user#%06d"},"SK":{"S":"profile"}},
		 "UpdateExpression":"SET #n = #n + :one","ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":one":{"N":"1"}}}`, i))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, err := e.UpdateItem(b.Context(), updates[n%benchmarkItems]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

func BenchmarkTransactWriteItems(b *testing.B) {
	e := newBenchmark(b)
	var transactions [benchmarkItems]*api.TransactWriteItemsInput
	for i := range transactions {
		var actions []string
		for a := range 4 {
			actions = append(actions, `{"Put":{"TableName":"Bench","Item":`+benchmarkItem(i*10+a, i)+`}}`)
		}
		actions = append(actions, fmt.Sprintf(`{"Update":{"TableName":"Bench","Key":{"PK":{"S":"user#%06d"},"SK":{"S":"profile"}},
		 "UpdateExpression":"ADD n :one","ConditionExpression":"attribute_not_exists(gone)","ExpressionAttributeValues":{":one":{"N":"1"}}}}`, i*10+5))
		transactions[i] = decoded[api.TransactWriteItemsInput](b, `{"TransactItems":[`+strings.Join(actions, ",")+`]}`)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, err := e.TransactWriteItems(b.Context(), transactions[n%benchmarkItems]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}
