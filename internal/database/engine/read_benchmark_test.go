package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// benchmarkStores are the stores to measure. An engine opened on one has a table "partitions" with 50
// partitions of 20 items of about 400 bytes, and a table "singles" with 100 partitions of one item of about
// 1 KB.
var benchmarkStores = []struct {
	name string
	open func(*testing.B) kv.Store
}{
	{"memkv", func(*testing.B) kv.Store { return memkv.New() }},
	{"pebblekv", func(b *testing.B) kv.Store {
		b.Helper()
		store, err := pebblekv.Open(b.TempDir(), pebblekv.Options{Durability: pebblekv.None})
		if err != nil {
			b.Fatal(err)
		}
		return store
	}},
}

func benchmarkEngine(b *testing.B, store kv.Store) *engine.Engine {
	b.Helper()
	e := openEngine(b, store)
	fillBenchmark(b, e)
	b.ReportAllocs()
	return e
}

func fillBenchmark(b *testing.B, e *engine.Engine) {
	b.Helper()
	for _, table := range []string{"partitions", "singles"} {
		_, err := e.CreateTable(b.Context(), &api.CreateTableInput{
			TableName: &table, BillingMode: new("PAY_PER_REQUEST"),
			AttributeDefinitions: []api.AttributeDefinition{
				{AttributeName: new("pk"), AttributeType: new("S")},
				{AttributeName: new("sk"), AttributeType: new("S")},
			},
			KeySchema: []api.KeySchemaElement{
				{AttributeName: new("pk"), KeyType: new("HASH")},
				{AttributeName: new("sk"), KeyType: new("RANGE")},
			},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for pk := range 50 {
		for sk := range 20 {
			putBenchmark(b, e, "partitions", pk, sk, 70)
		}
	}
	for pk := range 100 {
		putBenchmark(b, e, "singles", pk, 0, 190)
	}
}

func putBenchmark(b *testing.B, e *engine.Engine, table string, pk, sk, attributeBytes int) {
	b.Helper()
	it := attr.Item{}.With("pk", benchmarkKey("pk", pk)).With("sk", benchmarkKey("sk", sk))
	for i := range 5 {
		it = it.With(fmt.Sprintf("attr%d", i), attr.String(strings.Repeat("x", attributeBytes)))
	}
	if _, err := e.PutItem(b.Context(), &api.PutItemInput{TableName: &table, Item: it}); err != nil {
		b.Fatal(err)
	}
}

func benchmarkKey(prefix string, n int) attr.Value {
	return attr.String(fmt.Sprintf("%s#%06d", prefix, n))
}

func BenchmarkGetItem(b *testing.B) {
	for _, s := range benchmarkStores {
		b.Run(s.name, func(b *testing.B) {
			e := benchmarkEngine(b, s.open(b))
			in := &api.GetItemInput{
				TableName: new("singles"),
				Key:       attr.Item{}.With("pk", benchmarkKey("pk", 7)).With("sk", benchmarkKey("sk", 0)),
			}
			for b.Loop() {
				out, err := e.GetItem(b.Context(), in)
				if err != nil || out.Item == nil {
					b.Fatal(out, err)
				}
			}
		})
	}
}

func BenchmarkGetItemProjected(b *testing.B) {
	for _, s := range benchmarkStores {
		b.Run(s.name, func(b *testing.B) {
			e := benchmarkEngine(b, s.open(b))
			in := &api.GetItemInput{
				TableName:            new("singles"),
				Key:                  attr.Item{}.With("pk", benchmarkKey("pk", 7)).With("sk", benchmarkKey("sk", 0)),
				ProjectionExpression: new("attr1, attr3"),
			}
			for b.Loop() {
				out, err := e.GetItem(b.Context(), in)
				if err != nil || out.Item == nil {
					b.Fatal(out, err)
				}
			}
		})
	}
}

func BenchmarkQuery20(b *testing.B) {
	for _, s := range benchmarkStores {
		b.Run(s.name, func(b *testing.B) {
			e := benchmarkEngine(b, s.open(b))
			benchmarkQuery(b, e, &api.QueryInput{
				TableName:                 new("partitions"),
				KeyConditionExpression:    new("pk = :pk AND begins_with(sk, :sk)"),
				ExpressionAttributeValues: attr.Item{}.With(":pk", benchmarkKey("pk", 7)).With(":sk", attr.String("sk#")),
			})
		})
	}
}

func BenchmarkQuery20Filtered(b *testing.B) {
	for _, s := range benchmarkStores {
		b.Run(s.name, func(b *testing.B) {
			e := benchmarkEngine(b, s.open(b))
			benchmarkQuery(b, e, &api.QueryInput{
				TableName:                 new("partitions"),
				KeyConditionExpression:    new("pk = :pk"),
				FilterExpression:          new("attr1 > :sk"),
				ExpressionAttributeValues: attr.Item{}.With(":pk", benchmarkKey("pk", 7)).With(":sk", attr.String("sk#")),
			})
		})
	}
}

func benchmarkQuery(b *testing.B, e *engine.Engine, in *api.QueryInput) {
	b.Helper()
	for b.Loop() {
		out, err := e.Query(b.Context(), in)
		if err != nil || len(out.Items) != 20 {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkScan100(b *testing.B) {
	for _, s := range benchmarkStores {
		b.Run(s.name, func(b *testing.B) {
			e := benchmarkEngine(b, s.open(b))
			in := &api.ScanInput{TableName: new("singles"), Limit: new(int64(100))}
			for b.Loop() {
				out, err := e.Scan(b.Context(), in)
				if err != nil || len(out.Items) != 100 {
					b.Fatal(out, err)
				}
			}
		})
	}
}
