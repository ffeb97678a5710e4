package run

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
)

var things = aws.String("things")

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func keyOf(s string) table.Item { return table.Item{"k": text(s)} }

// newThings returns a client of a database with the table things.
func newThings(tb testing.TB) *dynamodb.Client {
	tb.Helper()
	client := monotabletest.New(tb).Client()
	_, err := client.CreateTable(tb.Context(), &dynamodb.CreateTableInput{
		TableName: things, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("k"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("k"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

// TestDirect compares the outcome of each operation with that of the SDK's client.
func TestDirect(t *testing.T) {
	t.Parallel()
	type outcome struct{ Out, Err any }
	taken := aws.String("attribute_not_exists(k)")
	all := func(c table.Client) map[string]outcome {
		ctx, got := t.Context(), map[string]outcome{}
		keep := func(name string, out any, err error) {
			if err == nil {
				value := reflect.ValueOf(out).Elem()
				value.FieldByName("ResultMetadata").SetZero()
				got[name] = outcome{Out: value.Interface()}
				return
			}
			if _, ok := errors.AsType[*smithy.OperationError](err); !ok {
				t.Errorf("%s: %T: %v", name, err, err)
			}
			api, ok := errors.AsType[smithy.APIError](err)
			if !ok {
				t.Fatalf("%s: %v", name, err)
			}
			switch e := api.(type) {
			case *types.ConditionalCheckFailedException:
				got[name] = outcome{Err: &types.ConditionalCheckFailedException{Message: e.Message, Item: e.Item}}
			case *types.TransactionCanceledException:
				got[name] = outcome{Err: &types.TransactionCanceledException{Message: e.Message, CancellationReasons: e.CancellationReasons}}
			default:
				got[name] = outcome{Err: &smithy.GenericAPIError{Code: api.ErrorCode(), Message: api.ErrorMessage()}}
			}
		}
		put := func(name string, in *dynamodb.PutItemInput) {
			in.TableName, in.ReturnConsumedCapacity = things, types.ReturnConsumedCapacityTotal
			out, err := c.PutItem(ctx, in)
			keep(name, out, err)
		}
		write := func(in ...types.TransactWriteItem) (*dynamodb.TransactWriteItemsOutput, error) {
			return c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: in})
		}

		put("put", &dynamodb.PutItemInput{Item: table.Item{"k": text("one"), "n": &types.AttributeValueMemberN{Value: "1"}, "b": &types.AttributeValueMemberB{Value: []byte{0, 1}}}})
		put("put again", &dynamodb.PutItemInput{Item: keyOf("one"), ConditionExpression: taken, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld})
		put("put an invalid item", &dynamodb.PutItemInput{Item: table.Item{"other": text("one")}})
		got1, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: things, Key: keyOf("one"), ConsistentRead: aws.Bool(true)})
		keep("get", got1, err)
		missing, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: things, Key: keyOf("none")})
		keep("get a missing item", missing, err)
		unknown, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("unknown"), Key: keyOf("one")})
		keep("get from an unknown table", unknown, err)
		updated, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: things, Key: keyOf("one"), UpdateExpression: aws.String("SET n = n + :one"), ReturnValues: types.ReturnValueAllNew,
			ExpressionAttributeValues: table.Item{":one": &types.AttributeValueMemberN{Value: "1"}},
		})
		keep("update", updated, err)
		found, err := c.Query(ctx, &dynamodb.QueryInput{TableName: things, KeyConditionExpression: aws.String("k = :k"), ExpressionAttributeValues: table.Item{":k": text("one")}})
		keep("query", found, err)
		batch, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*things: {{PutRequest: &types.PutRequest{Item: keyOf("two")}}}}})
		keep("write a batch", batch, err)
		both, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*things: {Keys: []map[string]types.AttributeValue{keyOf("two")}}}})
		keep("get a batch", both, err)
		made, err := write(types.TransactWriteItem{Put: &types.Put{TableName: things, Item: keyOf("three"), ConditionExpression: taken}})
		keep("transaction", made, err)
		again, err := write(types.TransactWriteItem{Put: &types.Put{TableName: things, Item: keyOf("three"), ConditionExpression: taken}})
		keep("transaction that is canceled", again, err)
		removed, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: things, Key: keyOf("one"), ReturnValues: types.ReturnValueAllOld})
		keep("delete", removed, err)
		return got
	}
	want := all(newThings(t))
	got := all(directly(newThings(t)))
	if len(want) != 13 {
		t.Errorf("%d outcomes, want 13", len(want))
	}
	for name, w := range want {
		if !reflect.DeepEqual(got[name], w) {
			t.Errorf("%s: %+v, want %+v", name, got[name], w)
		}
	}
	if e := want["put again"].Err; !reflect.DeepEqual(e.(*types.ConditionalCheckFailedException).Item["k"], text("one")) { //nolint:forcetypeassert // as kept
		t.Errorf("the item that exists: %v", e)
	}
}

// failing is a database whose first responses are errors.
type failing struct{ status, failures, requests int }

func (f *failing) Do(r *http.Request) (*http.Response, error) {
	f.requests++
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}
	if f.requests <= f.failures {
		response.StatusCode = f.status
	}
	return response, nil
}

// TestDirectRetries: failures of the server are retried, others are not.
func TestDirectRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, failures, requests int
		ok                         bool
	}{
		{http.StatusInternalServerError, 2, 3, true},
		{http.StatusServiceUnavailable, 9, 3, false},
		{http.StatusBadRequest, 1, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) { // for the pauses
			failing := &failing{status: c.status, failures: c.failures}
			client := directly(dynamodb.New(dynamodb.Options{HTTPClient: failing}))
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: things, Item: keyOf("one")})
			if (err == nil) != c.ok || failing.requests != c.requests {
				t.Errorf("%d responses with %d: %d requests, %v", c.failures, c.status, failing.requests, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := directly(newThings(t)).GetItem(ctx, &dynamodb.GetItemInput{TableName: things, Key: keyOf("one")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was cancelled: %v", err)
	}
}

// BenchmarkDirect shows what a small read costs, and what it costs through the SDK's client.
func BenchmarkDirect(b *testing.B) {
	for name, client := range map[string]func(*dynamodb.Client) table.Client{"direct": directly, "sdk": func(c *dynamodb.Client) table.Client { return c }} {
		b.Run(name, func(b *testing.B) {
			c := client(newThings(b))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: things, Key: keyOf("one")}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
