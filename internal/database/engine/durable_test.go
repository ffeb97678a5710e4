package engine_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

const registersTable = `{"TableName":"Registers","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
	"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
	"LocalSecondaryIndexes":[{"IndexName":"byNumber","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
	"GlobalSecondaryIndexes":[{"IndexName":"numbers","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`

// While the disk syncs nothing, the item a is being changed from n = 1 to n = 2, and the item b is being deleted. The responses
// to these requests depend on that, and contain want.
var durableRequests = []struct{ name, operation, body, want string }{
	{"IdenticalPut", "put-item", `{"TableName":"Registers","Item":{"pk":{"S":"p"},"sk":{"S":"a"},"n":{"N":"2"}}}`, "{}"},
	{
		"UpdateThatChangesNothing", "update-item",
		`{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"a"}},"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"2"}},"ReturnValues":"ALL_NEW"}`,
		`"n":{"N":"2"}`,
	},
	{"RepeatedDelete", "delete-item", `{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"b"}}}`, "{}"},
	{
		"BatchThatChangesNothing", "batch-write-item",
		`{"RequestItems":{"Registers":[{"PutRequest":{"Item":{"pk":{"S":"p"},"sk":{"S":"a"},"n":{"N":"2"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"p"},"sk":{"S":"b"}}}}]}}`,
		`"UnprocessedItems":{}`,
	},
	{
		"TransactionOfChecks", "transact-write-items",
		`{"TransactItems":[{"ConditionCheck":{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"b"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`, "{}",
	},
	{
		"TransactionCanceled", "transact-write-items",
		`{"TransactItems":[{"Put":{"TableName":"Registers","Item":{"pk":{"S":"p"},"sk":{"S":"a"}},"ConditionExpression":"n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}}]}`,
		"ConditionalCheckFailed",
	},
	{
		"ConditionFailed", "put-item",
		`{"TableName":"Registers","Item":{"pk":{"S":"p"},"sk":{"S":"a"}},"ConditionExpression":"n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`,
		"ConditionalCheckFailedException",
	},
	{"ConsistentGet", "get-item", `{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"a"}},"ConsistentRead":true}`, `"n":{"N":"2"}`},
	{"ConsistentGetOfDeleted", "get-item", `{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"b"}},"ConsistentRead":true}`, "{}"},
	{
		"ConsistentBatchGet", "batch-get-item",
		`{"RequestItems":{"Registers":{"Keys":[{"pk":{"S":"p"},"sk":{"S":"a"}}],"ConsistentRead":true}}}`, `"n":{"N":"2"}`,
	},
	{
		"TransactGet", "transact-get-items",
		`{"TransactItems":[{"Get":{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"a"}}}}]}`, `"n":{"N":"2"}`,
	},
	{
		"ConsistentQuery", "query",
		`{"TableName":"Registers","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},"ConsistentRead":true}`, `"Count":1`,
	},
	{
		"ConsistentQueryOfOneItem", "query",
		`{"TableName":"Registers","KeyConditionExpression":"pk = :p AND sk = :s","ExpressionAttributeValues":{":p":{"S":"p"},":s":{"S":"b"}},"ConsistentRead":true}`, `"Count":0`,
	},
	{
		"ConsistentQueryOfLocalIndex", "query",
		`{"TableName":"Registers","IndexName":"byNumber","KeyConditionExpression":"pk = :p AND n = :n","ExpressionAttributeValues":{":p":{"S":"p"},":n":{"N":"2"}},"ConsistentRead":true}`, `"Count":1`,
	},
	{
		"ConsistentQueryOfLocalIndexThatFetches", "query",
		`{"TableName":"Registers","IndexName":"byNumber","Select":"ALL_ATTRIBUTES","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},"ConsistentRead":true}`, `"Count":1`,
	},
	{"ConsistentScan", "scan", `{"TableName":"Registers","ConsistentRead":true}`, `"Count":1`},
}

// eventualRequests get their responses immediately.
var eventualRequests = []struct{ name, operation, body, want string }{
	{"Get", "get-item", `{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"a"}}}`, `"n":{"N":"2"}`},
	{"BatchGet", "batch-get-item", `{"RequestItems":{"Registers":{"Keys":[{"pk":{"S":"p"},"sk":{"S":"a"}}]}}}`, `"n":{"N":"2"}`},
	{
		"Query", "query",
		`{"TableName":"Registers","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}}}`, `"Count":1`,
	},
	{
		"QueryOfLocalIndexThatFetches", "query",
		`{"TableName":"Registers","IndexName":"byNumber","Select":"ALL_ATTRIBUTES","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}}}`, `"Count":1`,
	},
	{
		"QueryOfGlobalIndex", "query",
		`{"TableName":"Registers","IndexName":"numbers","KeyConditionExpression":"n = :n","ExpressionAttributeValues":{":n":{"N":"2"}}}`, `"Count":1`,
	},
	{"Scan", "scan", `{"TableName":"Registers"}`, `"Count":1`},
	{"DescribeTable", "describe-table", `{"TableName":"Registers"}`, `"ItemCount":1`},
}

// changing returns an engine that is changing the items a and b, on a disk that syncs nothing until release is called.
func changing(t *testing.T) (e *engine.Engine, release func()) {
	t.Helper()
	disk := crashfs.New()
	store, err := pebblekv.Open("/data", pebblekv.Options{
		FS: disk, CacheBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	e = openLimits(t, store)
	send(t, e, "create-table", registersTable)
	for _, item := range []string{"a", "b"} {
		send(t, e, "put-item", `{"TableName":"Registers","Item":{"pk":{"S":"p"},"sk":{"S":"`+item+`"},"n":{"N":"1"}}}`)
	}
	sync := disk.HoldSyncs()
	ctx, changed := context.WithoutCancel(t.Context()), make(chan error, 2)
	for operation, body := range map[string]string{
		"put-item":    `{"TableName":"Registers","Item":{"pk":{"S":"p"},"sk":{"S":"a"},"n":{"N":"2"}}}`,
		"delete-item": `{"TableName":"Registers","Key":{"pk":{"S":"p"},"sk":{"S":"b"}}}`,
	} {
		go func() {
			_, err := perform(ctx, e, operation, body)
			changed <- err
		}()
	}
	for {
		items := responseTo(t.Context(), e, "scan", `{"TableName":"Registers"}`)
		if strings.Contains(items, `"N":"2"`) && strings.Contains(items, `"Count":1`) {
			break
		}
		runtime.Gosched()
	}
	return e, func() {
		sync()
		for range 2 {
			if err := <-changed; err != nil {
				t.Error(err)
			}
		}
	}
}

// TestResponsesWaitForSync: no response depends on a change that a power failure can still undo, whether to a read, a write that
// changes nothing, or one whose condition fails.
func TestResponsesWaitForSync(t *testing.T) {
	for _, r := range durableRequests {
		t.Run(r.name, func(t *testing.T) {
			e, release := changing(t)
			responded := make(chan string, 1)
			go func() { responded <- responseTo(context.WithoutCancel(t.Context()), e, r.operation, r.body) }()
			select {
			case got := <-responded:
				t.Errorf("a response before the change was synced: %s", got)
				responded <- got
			case <-time.After(20 * time.Millisecond): // a wait of any length passes
			}
			release()
			if got := <-responded; !strings.Contains(got, r.want) {
				t.Errorf("got %s, want %s", got, r.want)
			}
		})
	}
}

// TestEventualReadsDoNotWait: reads that are not strongly consistent see a change before it is durable.
func TestEventualReadsDoNotWait(t *testing.T) {
	e, release := changing(t)
	for _, r := range eventualRequests {
		if got := responseTo(t.Context(), e, r.operation, r.body); !strings.Contains(got, r.want) {
			t.Errorf("%s: got %s, want %s", r.name, got, r.want)
		}
	}
	release()
}

// responseTo returns the response without white space, or the error's text.
func responseTo(ctx context.Context, e *engine.Engine, operation, body string) string {
	out, err := perform(ctx, e, operation, body)
	if err != nil {
		out = err.Error()
	}
	return strings.Join(strings.Fields(out), "")
}
