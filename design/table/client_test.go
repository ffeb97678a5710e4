package table_test

import (
	"context"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/design/table"
)

// client counts requests to the database, and lets a test act after a Query or before a batch.
type client struct {
	table.Client
	gets, queries, batches int64
	// afterQuery is called with the response of each Query, beforeBatch with each BatchGetItem, for which it may return a
	// response itself.
	afterQuery  func(*dynamodb.QueryOutput)
	beforeBatch func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error)
}

func (c *client) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	atomic.AddInt64(&c.gets, 1)
	return c.Client.GetItem(ctx, in, o...)
}

func (c *client) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	atomic.AddInt64(&c.queries, 1)
	out, err := c.Client.Query(ctx, in, o...)
	if c.afterQuery != nil {
		c.afterQuery(out)
	}
	return out, err
}

func (c *client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	atomic.AddInt64(&c.batches, 1)
	if c.beforeBatch != nil {
		if out, err := c.beforeBatch(in); out != nil || err != nil {
			return out, err
		}
	}
	return c.Client.BatchGetItem(ctx, in, o...)
}
