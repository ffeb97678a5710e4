package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// bigItemBytes is the maximum size of an item.
const bigItemBytes = 400 << 10

// createBigItems creates the table "big" with n items in partition "p".
func createBigItems(t *testing.T, e *engine.Engine, n int) {
	t.Helper()
	_, err := e.CreateTable(t.Context(), &api.CreateTableInput{
		TableName: new("big"), BillingMode: new("PAY_PER_REQUEST"),
		AttributeDefinitions: []api.AttributeDefinition{
			{AttributeName: new("pk"), AttributeType: new("S")},
			{AttributeName: new("sk"), AttributeType: new("S")},
			{AttributeName: new("ls"), AttributeType: new("S")},
		},
		KeySchema: []api.KeySchemaElement{
			{AttributeName: new("pk"), KeyType: new("HASH")},
			{AttributeName: new("sk"), KeyType: new("RANGE")},
		},
		LocalSecondaryIndexes: []api.LocalSecondaryIndex{{
			IndexName: new("keys"),
			KeySchema: []api.KeySchemaElement{
				{AttributeName: new("pk"), KeyType: new("HASH")},
				{AttributeName: new("ls"), KeyType: new("RANGE")},
			},
			Projection: &api.Projection{ProjectionType: new("KEYS_ONLY")},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		it := bigKey(i).With("ls", attr.String("x")).With("fill", attr.String(""))
		it = it.With("fill", attr.String(strings.Repeat("x", bigItemBytes-it.Size())))
		if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("big"), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
}

func bigKey(i int) attr.Item {
	return attr.Item{}.With("pk", attr.String("p")).With("sk", attr.String(fmt.Sprintf("%03d", i)))
}

// A page asks for room once it is large, and says that it takes long once it has read more than 300 KB.
func TestPageAsksForRoom(t *testing.T) {
	e := openEngine(t, memkv.New())
	createBigItems(t, e, 0)
	const items = 10
	for i := range items {
		it := bigKey(i).With("ls", attr.String("x")).With("fill", attr.String(strings.Repeat("x", 50<<10)))
		if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("big"), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int64][]string{1: nil, 2: {"page"}, 5: {"page"}, 7: {"page", "long"}, items: {"page", "long"}} {
		var asked []string
		ctx := api.WithRoom(t.Context(), func(bytes int64, long bool) error {
			switch {
			case bytes == 1<<20 && !long:
				asked = append(asked, "page")
			case bytes == 0 && long:
				asked = append(asked, "long")
			default:
				t.Errorf("asked for %d bytes, long: %t", bytes, long)
			}
			return nil
		})
		if _, err := e.Scan(ctx, &api.ScanInput{TableName: new("big"), Limit: &limit}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("a page of %d items (-want +got):\n%s", limit, diff)
		}
	}
}

// A page ends with the item that reaches 1 MB, whatever part of the items is returned.
func TestPageEndsAtOneMegabyte(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openEngine(t, s.open(t)())
			createBigItems(t, e, 5)
			in := api.QueryInput{
				TableName:                 new("big"),
				KeyConditionExpression:    new("pk = :p"),
				ExpressionAttributeValues: attr.Item{}.With(":p", attr.String("p")),
				ReturnConsumedCapacity:    new("TOTAL"),
			}
			f := func(name string, change func(in *api.QueryInput), units float64) {
				t.Helper()
				in := in
				change(&in)
				out, err := e.Query(t.Context(), &in)
				if err != nil {
					t.Fatal(name, err)
				}
				if *out.ScannedCount != 3 || !out.LastEvaluatedKey.Equal(bigKey(2)) && in.IndexName == nil {
					t.Errorf("%s: %d evaluated, LastEvaluatedKey %v", name, *out.ScannedCount, out.LastEvaluatedKey)
				}
				if got := *out.ConsumedCapacity.CapacityUnits; got != units {
					t.Errorf("%s: %g units, want %g", name, got, units)
				}
				in.ExclusiveStartKey = out.LastEvaluatedKey
				rest, err := e.Query(t.Context(), &in)
				if err != nil {
					t.Fatal(name, err)
				}
				if *rest.ScannedCount != 2 || rest.LastEvaluatedKey != nil {
					t.Errorf("%s: rest: %d evaluated, LastEvaluatedKey %v", name, *rest.ScannedCount, rest.LastEvaluatedKey)
				}
			}
			f("all", func(*api.QueryInput) {}, 150)
			f("count", func(in *api.QueryInput) { in.Select = new("COUNT") }, 150)
			f("projection", func(in *api.QueryInput) { in.ProjectionExpression = new("sk") }, 150)
			f("filter", func(in *api.QueryInput) { in.FilterExpression = new("attribute_not_exists(fill)") }, 150)
			f("fetched by a local index", func(in *api.QueryInput) {
				in.IndexName, in.Select = new("keys"), new("ALL_ATTRIBUTES")
			}, 150.5)
		})
	}
}

// A page of exactly 1 MB is full: "up to … a maximum of 1 MB of data" (API reference of Query).
func TestPageOfExactlyOneMegabyte(t *testing.T) {
	e := openEngine(t, memkv.New())
	createBigItems(t, e, 0)
	for i := range 5 {
		it := bigKey(i).With("fill", attr.String(""))
		it = it.With("fill", attr.String(strings.Repeat("x", 256<<10-it.Size())))
		if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("big"), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := e.Query(t.Context(), &api.QueryInput{
		TableName: new("big"), KeyConditionExpression: new("pk = :p"), Select: new("COUNT"),
		ExpressionAttributeValues: attr.Item{}.With(":p", attr.String("p")),
	})
	if err != nil || *out.ScannedCount != 4 || !out.LastEvaluatedKey.Equal(bigKey(3)) {
		t.Errorf("%v, %+v, want 4 items", err, out)
	}
}

// BatchGetItem returns what would exceed 16 MB as UnprocessedKeys, with all parameters of the request.
func TestBatchGetItemLeavesUnprocessed(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openEngine(t, s.open(t)())
			createBigItems(t, e, 45)
			request := api.KeysAndAttributes{ConsistentRead: new(true), ProjectionExpression: new("sk")}
			for i := range 45 {
				request.Keys = append(request.Keys, bigKey(i))
			}
			in := &api.BatchGetItemInput{RequestItems: map[string]api.KeysAndAttributes{"big": request}}
			out, err := e.BatchGetItem(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(out.Responses["big"]); n != 40 {
				t.Errorf("%d items in 16 MB, want 40", n)
			}
			request.Keys = request.Keys[40:]
			if diff := cmp.Diff(map[string]api.KeysAndAttributes{"big": request}, out.UnprocessedKeys); diff != "" {
				t.Errorf("UnprocessedKeys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBatchGetItemAcceptsHundredKeys(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openEngine(t, s.open(t)())
			in := &api.BatchGetItemInput{RequestItems: map[string]api.KeysAndAttributes{"one": {}, "two": {}}}
			for name, n := range map[string]int{"one": 60, "two": 41} {
				r := in.RequestItems[name]
				for i := range n {
					r.Keys = append(r.Keys, bigKey(i))
				}
				in.RequestItems[name] = r
			}
			_, err := e.BatchGetItem(t.Context(), in)
			want := apierr.Validation("Too many items requested for the BatchGetItem call")
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Errorf("101 keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTransactGetItemsAcceptsFourMegabytes(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openEngine(t, s.open(t)())
			createBigItems(t, e, 11)
			in := &api.TransactGetItemsInput{}
			for i := range 10 {
				in.TransactItems = append(in.TransactItems, api.TransactGetItem{Get: &api.Get{TableName: new("big"), Key: bigKey(i)}})
			}
			if _, err := e.TransactGetItems(t.Context(), in); err != nil {
				t.Error("4,000 KB:", err)
			}
			in.TransactItems = append(in.TransactItems, api.TransactGetItem{Get: &api.Get{TableName: new("big"), Key: bigKey(10)}})
			_, err := e.TransactGetItems(t.Context(), in)
			if err == nil || !strings.HasPrefix(err.Error(), "TransactionCanceledException: ") {
				t.Errorf("4,400 KB: %v", err)
			}
		})
	}
}
