package races

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// errPaused ends a run at the first request that has no recorded response.
var errPaused = errors.New("the request is waiting for its turn")

// replay is a table.Client that returns recorded responses to a process's first requests and stops it at the next
// request.
type replay struct {
	tables    map[string]keyNames // by their physical names
	responses []*response
	sent      int // requests of this run that got a response
	// pattern and repeatable describe the running pattern.
	pattern    string
	repeatable bool
	next       *request // the first request without a response
	// read describes the result of the read that ended with the last recorded response; "" if none did.
	read string
}

// found records the result of a read.
func (c *replay) found(words string) {
	if c.sent == len(c.responses) && c.next == nil {
		c.read = words
	}
}

// keyNames are the attributes of a table's primary key.
type keyNames []string

func (k keyNames) of(item map[string]types.AttributeValue) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(k))
	for _, name := range k {
		out[name] = item[name]
	}
	return out
}

// do returns the recorded response to a request, or stops the run at it.
func do[In, Out any](c *replay, r *request, in *In, send func(*dynamodb.Client, context.Context, *In) (*Out, error)) (*Out, error) {
	if c.next != nil {
		return nil, errPaused
	}
	if c.sent < len(c.responses) {
		a := c.responses[c.sent]
		c.sent++
		if a.err != nil {
			return nil, a.err
		}
		out, _ := copied(a.output).(*Out)
		return out, nil
	}
	var key strings.Builder
	key.WriteString(r.operation)
	encode(&key, reflect.ValueOf(in))
	r.key, r.pattern, r.repeatable = key.String(), c.pattern, c.repeatable && r.touched != nil
	r.send = func(ctx context.Context, client *dynamodb.Client) (any, error) { return send(client, ctx, in) }
	c.next = r
	return nil, errPaused
}

func (c *replay) one(table *string, key map[string]types.AttributeValue) map[string][]map[string]types.AttributeValue {
	return map[string][]map[string]types.AttributeValue{*table: {key}}
}

// GetItem is a request of the process.
func (c *replay) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	r := &request{operation: "GetItem", eventual: !aws.ToBool(in.ConsistentRead)}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
		return client.GetItem(ctx, in)
	})
}

// BatchGetItem is a request of the process.
func (c *replay) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	r := &request{operation: "BatchGetItem"}
	for _, of := range in.RequestItems {
		r.eventual = r.eventual || !aws.ToBool(of.ConsistentRead)
	}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
		return client.BatchGetItem(ctx, in)
	})
}

// Query is a request of the process.
func (c *replay) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	r := &request{operation: "Query", eventual: !aws.ToBool(in.ConsistentRead)}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		return client.Query(ctx, in)
	})
}

// PutItem is a request of the process.
func (c *replay) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r := &request{operation: "PutItem", touched: c.one(in.TableName, c.tables[*in.TableName].of(in.Item))}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
		return client.PutItem(ctx, in)
	})
}

// UpdateItem is a request of the process.
func (c *replay) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	r := &request{operation: "UpdateItem", touched: c.one(in.TableName, in.Key)}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
		return client.UpdateItem(ctx, in)
	})
}

// DeleteItem is a request of the process.
func (c *replay) DeleteItem(_ context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	r := &request{operation: "DeleteItem", touched: c.one(in.TableName, in.Key)}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
		return client.DeleteItem(ctx, in)
	})
}

// BatchWriteItem is a request of the process.
func (c *replay) BatchWriteItem(_ context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	r := &request{operation: "BatchWriteItem", touched: map[string][]map[string]types.AttributeValue{}}
	for name, writes := range in.RequestItems {
		for _, w := range writes {
			if w.PutRequest != nil {
				r.touched[name] = append(r.touched[name], c.tables[name].of(w.PutRequest.Item))
			}
			if w.DeleteRequest != nil {
				r.touched[name] = append(r.touched[name], w.DeleteRequest.Key)
			}
		}
	}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
		return client.BatchWriteItem(ctx, in)
	})
}

// TransactWriteItems is a request of the process. The SDK generates its token, a new one each time: when the exploration
// makes the request again, on other items, it is not a retry.
func (c *replay) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	r := &request{operation: "TransactWriteItems", touched: map[string][]map[string]types.AttributeValue{}}
	for _, w := range in.TransactItems {
		switch {
		case w.Put != nil:
			r.touched[*w.Put.TableName] = append(r.touched[*w.Put.TableName], c.tables[*w.Put.TableName].of(w.Put.Item))
		case w.Update != nil:
			r.touched[*w.Update.TableName] = append(r.touched[*w.Update.TableName], w.Update.Key)
		case w.Delete != nil:
			r.touched[*w.Delete.TableName] = append(r.touched[*w.Delete.TableName], w.Delete.Key)
		}
	}
	return do(c, r, in, func(client *dynamodb.Client, ctx context.Context, in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
		own := *in
		own.ClientRequestToken = nil
		return client.TransactWriteItems(ctx, &own)
	})
}
