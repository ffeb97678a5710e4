package run

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/monotable/monotable/design/table"
)

// direct calls a database in this process. It encodes, decodes and retries like the SDK's client, but skips what only a network
// needs: endpoints, signatures, checksums, and the SDK's chain of steps, which is assembled again for each request. That chain is
// two thirds of the allocations of a small read.
type direct struct {
	http    dynamodb.HTTPClient
	encode  smithyhttp.ClientProtocol
	retryer aws.RetryerV2
}

// directly returns a client that sends requests like an SDK client of a database in this process.
func directly(client *dynamodb.Client) table.Client {
	o := client.Options()
	return direct{http: o.HTTPClient, encode: o.Protocol, retryer: retry.NewStandard()}
}

// The operations of table.Client.
//
//nolint:gochecknoglobals // made once, never changed
var (
	getItem            = smithy.NewOperationSchema(schemas.GetItem, schemas.GetItemInput, schemas.GetItemOutput)
	batchGetItem       = smithy.NewOperationSchema(schemas.BatchGetItem, schemas.BatchGetItemInput, schemas.BatchGetItemOutput)
	query              = smithy.NewOperationSchema(schemas.Query, schemas.QueryInput, schemas.QueryOutput)
	putItem            = smithy.NewOperationSchema(schemas.PutItem, schemas.PutItemInput, schemas.PutItemOutput)
	updateItem         = smithy.NewOperationSchema(schemas.UpdateItem, schemas.UpdateItemInput, schemas.UpdateItemOutput)
	deleteItem         = smithy.NewOperationSchema(schemas.DeleteItem, schemas.DeleteItemInput, schemas.DeleteItemOutput)
	batchWriteItem     = smithy.NewOperationSchema(schemas.BatchWriteItem, schemas.BatchWriteItemInput, schemas.BatchWriteItemOutput)
	transactWriteItems = smithy.NewOperationSchema(schemas.TransactWriteItems, schemas.TransactWriteItemsInput, schemas.TransactWriteItemsOutput)
)

// Options of single calls are ignored: package table passes none.

func (d direct) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return call(ctx, d, getItem, in, &dynamodb.GetItemOutput{})
}

func (d direct) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return call(ctx, d, batchGetItem, in, &dynamodb.BatchGetItemOutput{})
}

func (d direct) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return call(ctx, d, query, in, &dynamodb.QueryOutput{})
}

func (d direct) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return call(ctx, d, putItem, in, &dynamodb.PutItemOutput{})
}

func (d direct) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return call(ctx, d, updateItem, in, &dynamodb.UpdateItemOutput{})
}

func (d direct) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return call(ctx, d, deleteItem, in, &dynamodb.DeleteItemOutput{})
}

func (d direct) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return call(ctx, d, batchWriteItem, in, &dynamodb.BatchWriteItemOutput{})
}

func (d direct) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if in.ClientRequestToken == nil { // so that an attempt that is repeated has one effect
		named := *in
		named.ClientRequestToken = aws.String(rand.Text())
		in = &named
	}
	return call(ctx, d, transactWriteItems, in, &dynamodb.TransactWriteItemsOutput{})
}

// call sends a request until its error, if any, cannot be retried.
func call[Out smithy.Deserializable](ctx context.Context, d direct, operation *smithy.OperationSchema, in smithy.Serializable, out Out) (Out, error) {
	var none Out
	for attempt := 1; ; attempt++ {
		err := d.attempt(ctx, operation, in, out)
		if err == nil {
			return out, nil
		}
		err = &smithy.OperationError{ServiceID: dynamodb.ServiceID, OperationName: operation.ID().Name, Err: err}
		if attempt >= d.retryer.MaxAttempts() || !d.retryer.IsErrorRetryable(err) {
			return none, err
		}
		pause, fault := d.retryer.RetryDelay(attempt, err)
		if fault != nil {
			return none, err
		}
		select {
		case <-ctx.Done():
			return none, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// attempt sends a request once.
func (d direct) attempt(ctx context.Context, operation *smithy.OperationSchema, in smithy.Serializable, out smithy.Deserializable) error {
	request := smithyhttp.NewStackRequest().(*smithyhttp.Request) //nolint:forcetypeassert // it is always one
	request.URL.Scheme, request.URL.Host = "http", "monotable.localhost"
	if err := d.encode.SerializeRequest(ctx, operation, in, request); err != nil {
		return err
	}
	request.Body = io.NopCloser(request.GetStream())
	response, err := d.http.Do(request.WithContext(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is in memory
	err = d.encode.DeserializeResponse(ctx, operation, dynamodb.TypeRegistry, &smithyhttp.Response{Response: response}, out)
	if err != nil && response.StatusCode >= http.StatusBadRequest {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: response}, Err: err}
	}
	return err
}
