package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

// maxItem is the largest size of an item.
const maxItem = 400 << 10

// openLimits opens an engine that is verified and closed when the test ends.
func openLimits(t *testing.T, store kv.Store) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), store, engine.Options{TTLInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Verify(context.Background(), func(f verify.Finding) { t.Error(f) }, nil); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// filled is an item of pk and an index key that is exactly size bytes large.
func filled(t *testing.T, pk, byte1 string, size int) attr.Item {
	t.Helper()
	it, ok := attr.NewItem([]attr.Field{field("pk", pk), field("a", "x"), field("filler", "")})
	if !ok {
		t.Fatal("a name repeats")
	}
	return it.With("filler", attr.String(strings.Repeat(byte1, size-it.Size())))
}

func indexNames(n int) []string {
	names := []string{"a"}
	for i := 1; i < n; i++ {
		names = append(names, fmt.Sprintf("a%d", i))
	}
	return names
}

// aOn makes all indexes of a table indexes by attribute a, so that one attribute puts an item into all of them.
func aOn(in *api.CreateTableInput) *api.CreateTableInput {
	in.AttributeDefinitions = in.AttributeDefinitions[:2]
	for i := range in.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes[i].KeySchema[0].AttributeName = new("a")
	}
	return in
}

// TestLargestItems writes items of exactly 400 KB into 20 indexes, singly, many at once, and over each other.
func TestLargestItems(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openLimits(t, s.open(t)())
			createTable(t, e, aOn(musicTable(indexNames(20)...)))
			for _, filler := range []string{"x", "y"} {
				if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("Music"), Item: filled(t, "1", filler, maxItem)}); err != nil {
					t.Fatal(err)
				}
			}
			_, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("Music"), Item: filled(t, "1", "z", maxItem+1)})
			if codeOf(err) != apierr.ValidationException {
				t.Errorf("a byte more: %v", err)
			}
			var requests []api.WriteRequest
			for i := range 3 {
				requests = append(requests, api.WriteRequest{PutRequest: &api.PutRequest{Item: filled(t, fmt.Sprint(i), "b", maxItem)}})
			}
			_, err = e.BatchWriteItem(t.Context(), &api.BatchWriteItemInput{RequestItems: map[string][]api.WriteRequest{"Music": requests}})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLargestTransaction executes 100 actions of 40 KB each.
func TestLargestTransaction(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openLimits(t, s.open(t)())
			createTable(t, e, musicTable("a"))
			for _, filler := range []string{"x", "y"} {
				var in api.TransactWriteItemsInput
				for i := range 100 {
					in.TransactItems = append(in.TransactItems, api.TransactWriteItem{
						Put: &api.Put{TableName: new("Music"), Item: filled(t, fmt.Sprint(i), filler, 40<<10)},
					})
				}
				if _, err := e.TransactWriteItems(t.Context(), &in); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestTransactionOfLargeItems: a small request may store at most 4 MB of items, and may check, shrink and delete larger ones.
func TestTransactionOfLargeItems(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openLimits(t, s.open(t)())
			createTable(t, e, musicTable("a"))
			transact := func(items int, action func(key attr.Item) api.TransactWriteItem) error {
				var in api.TransactWriteItemsInput
				for i := range items {
					in.TransactItems = append(in.TransactItems, action(attr.Item{field("pk", fmt.Sprint(i))}))
				}
				_, err := e.TransactWriteItems(t.Context(), &in)
				return err
			}
			update := func(expression string) func(attr.Item) api.TransactWriteItem {
				return func(key attr.Item) api.TransactWriteItem {
					return api.TransactWriteItem{Update: &api.Update{TableName: new("Music"), Key: key, UpdateExpression: &expression}}
				}
			}
			check := func(key attr.Item) api.TransactWriteItem {
				return api.TransactWriteItem{ConditionCheck: &api.ConditionCheck{
					TableName: new("Music"), Key: key, ConditionExpression: new("attribute_exists(filler)"),
				}}
			}
			remove := func(key attr.Item) api.TransactWriteItem {
				return api.TransactWriteItem{Delete: &api.Delete{TableName: new("Music"), Key: key}}
			}
			const size, largest = 400 << 10, 4 << 20
			const many = largest/size + 1
			fill := func() {
				for i := range many {
					if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("Music"), Item: filled(t, fmt.Sprint(i), "x", size-100)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			fill()
			err := transact(many, update("SET g = pk"))
			if codeOf(err) != apierr.TransactionCanceledException || !strings.Contains(err.Error(), "None, ValidationError]") {
				t.Errorf("above 4 MB: %v", err)
			}
			err = errors.Join(transact(largest/size, update("SET g = pk")), transact(many, check), transact(many, update("REMOVE filler")))
			fill()
			if err = errors.Join(err, transact(many, remove)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWalksEndWhenRequestIsCanceled: a read whose context has ended does not continue.
func TestWalksEndWhenRequestIsCanceled(t *testing.T) {
	e := openLimits(t, memkv.New())
	createTable(t, e, musicTable())
	if err := putMusic(t.Context(), e, field("pk", "1")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	key := attr.Item{field("pk", "1")}
	_, scan := e.Scan(ctx, &api.ScanInput{TableName: new("Music")})
	_, batch := e.BatchGetItem(ctx, &api.BatchGetItemInput{RequestItems: map[string]api.KeysAndAttributes{"Music": {Keys: []attr.Item{key}}}})
	_, transact := e.TransactGetItems(ctx, &api.TransactGetItemsInput{TransactItems: []api.TransactGetItem{{Get: &api.Get{TableName: new("Music"), Key: key}}}})
	for operation, err := range map[string]error{"Scan": scan, "BatchGetItem": batch, "TransactGetItems": transact} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", operation, err)
		}
	}
}

// TestLongestText stores an item that is small by DynamoDB's accounting, where a number costs its significant digits, and large
// as returned, where a number is plain decimal.
func TestLongestText(t *testing.T) {
	tiny := attr.Number("0." + strings.Repeat("0", 129) + "1")
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openEngine(t, s.open(t)())
			createTable(t, e, musicTable())
			it, _ := attr.NewItem([]attr.Field{field("pk", "1")})
			elements := (maxItem - it.Size() - len("n") - attr.DocumentSize) / (attr.ElementSize + tiny.Size())
			for range 2 { // the second time the change log contains it twice
				it = it.With("n", attr.List(repeated(tiny, elements)))
				if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("Music"), Item: it}); err != nil {
					t.Fatalf("an item of %d bytes: %v", it.Size(), err)
				}
				elements--
			}
		})
	}
}

func repeated(v attr.Value, n int) []attr.Value {
	values := make([]attr.Value, n)
	for i := range values {
		values[i] = v
	}
	return values
}

// full is a store without room for transactions.
type full struct{ kv.Store }

func (f full) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	large := func(key []byte) bool { return bytes.Contains(key, []byte("large")) }
	if in.Transaction || slices.ContainsFunc(in.Write, large) {
		return kv.ErrTooLarge
	}
	return f.Store.Update(ctx, in, fn)
}

// TestExceedingStoreLimitsIsClientError: what exceeds a store's limits is rejected as a client's error.
func TestExceedingStoreLimitsIsClientError(t *testing.T) {
	e := openLimits(t, full{memkv.New()})
	createTable(t, e, musicTable())
	err := putMusic(t.Context(), e, field("pk", "large"))
	if codeOf(err) != apierr.ValidationException {
		t.Errorf("PutItem: %v", err)
	}
	put := &api.Put{TableName: new("Music"), Item: attr.Item{field("pk", "1")}}
	_, err = e.TransactWriteItems(t.Context(), &api.TransactWriteItemsInput{TransactItems: []api.TransactWriteItem{{Put: put}}})
	if codeOf(err) != apierr.ValidationException {
		t.Errorf("TransactWriteItems: %v", err)
	}
	requests := []api.WriteRequest{
		{PutRequest: &api.PutRequest{Item: attr.Item{field("pk", "1")}}},
		{PutRequest: &api.PutRequest{Item: attr.Item{field("pk", "large")}}},
	}
	_, err = e.BatchWriteItem(t.Context(), &api.BatchWriteItemInput{RequestItems: map[string][]api.WriteRequest{"Music": requests}})
	if codeOf(err) != apierr.ValidationException {
		t.Errorf("BatchWriteItem: %v", err)
	}
}

// TestLongestKeys writes keys of maximum length in which every byte must be escaped.
func TestLongestKeys(t *testing.T) {
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			e := openLimits(t, s.open(t)())
			createTable(t, e, &api.CreateTableInput{
				TableName:   new("Music"),
				BillingMode: new("PAY_PER_REQUEST"),
				AttributeDefinitions: []api.AttributeDefinition{
					{AttributeName: new("pk"), AttributeType: new("B")},
					{AttributeName: new("sk"), AttributeType: new("B")},
					{AttributeName: new("x"), AttributeType: new("B")},
					{AttributeName: new("y"), AttributeType: new("B")},
				},
				KeySchema: []api.KeySchemaElement{
					{AttributeName: new("pk"), KeyType: new("HASH")}, {AttributeName: new("sk"), KeyType: new("RANGE")},
				},
				GlobalSecondaryIndexes: []api.GlobalSecondaryIndex{{
					IndexName: new("xy"), Projection: &api.Projection{ProjectionType: new("ALL")},
					KeySchema: []api.KeySchemaElement{
						{AttributeName: new("x"), KeyType: new("HASH")}, {AttributeName: new("y"), KeyType: new("RANGE")},
					},
				}},
			})
			zeros := func(n int) attr.Value { return attr.Binary(strings.Repeat("\x00", n)) }
			for n := range 3 {
				it := attr.Item{
					{Name: "pk", Value: zeros(2048)},
					{Name: "sk", Value: zeros(1024 - n)},
					{Name: "x", Value: zeros(2048)},
					{Name: "y", Value: zeros(1024)},
				}
				if _, err := e.PutItem(t.Context(), &api.PutItemInput{TableName: new("Music"), Item: it}); err != nil {
					t.Fatal(err)
				}
			}
			var start attr.Item
			for page := range 4 {
				out, err := e.Scan(t.Context(), &api.ScanInput{TableName: new("Music"), IndexName: new("xy"), Limit: new(int64(1)), ExclusiveStartKey: start})
				if err != nil {
					t.Fatal(err)
				}
				start = out.LastEvaluatedKey
				if (page < 3) != (start != nil) {
					t.Errorf("page %d: %d items, goes on: %t", page, *out.Count, start != nil)
				}
			}
		})
	}
}
