package table

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/design/table/internal/write"
)

// writeBatch sends one BatchWriteItem and returns the unprocessed requests: all of them if DynamoDB throttled it. c may be nil.
func (db *DB) writeBatch(ctx context.Context, c *call, requests map[string][]types.WriteRequest) (map[string][]types.WriteRequest, error) {
	in := &dynamodb.BatchWriteItemInput{RequestItems: requests}
	if c != nil {
		in.ReturnConsumedCapacity = c.capacity()
	}
	response, err := db.client.BatchWriteItem(ctx, in)
	if err != nil {
		if throttled(err) {
			return requests, nil
		}
		return nil, err
	}
	if c != nil {
		c.wrote(schema.Each(response.ConsumedCapacity, func(u types.ConsumedCapacity) *types.ConsumedCapacity { return &u })...)
	}
	return response.UnprocessedItems, nil
}

// batch writes the items of a batch independently, as many per request as allowed.
func (a trial) batch(ctx context.Context, ops []*write.Operation) ([]Outcome, error) {
	for from := 0; from < len(ops); from += batchItems {
		to := min(from+batchItems, len(ops))
		if left, err := a.batchChunk(ctx, ops[from:to]); err != nil {
			unfinished := &UnfinishedError{Err: err}
			for _, o := range slices.Concat(left, ops[to:]) {
				unfinished.Lines = append(unfinished.Lines, o.Line())
			}
			slices.Sort(unfinished.Lines)
			unfinished.Lines = slices.Compact(unfinished.Lines)
			return nil, unfinished
		}
	}
	return a.Outcomes(nil), nil
}

// batchChunk writes the lines of one request, and resends it until nothing is left unprocessed. With an error it returns the
// lines that may not be done.
func (a trial) batchChunk(ctx context.Context, ops []*write.Operation) ([]*write.Operation, error) {
	for idle := 0; ; {
		requests := map[string][]types.WriteRequest{}
		tables := map[string]*Table{}
		for _, o := range ops {
			name := *a.db.tableName(o.Table)
			tables[name] = o.Table
			requests[name] = append(requests[name], o.BatchItem())
		}
		unprocessed, err := a.db.writeBatch(ctx, a.call, requests)
		if err != nil {
			return ops, err
		}
		remain := map[string]bool{}
		for name, list := range unprocessed {
			for _, r := range list {
				remain[identityOf(tables[name], r)] = true
			}
		}
		left := slices.DeleteFunc(slices.Clone(ops), func(o *write.Operation) bool { return !remain[o.Identity()] })
		if len(left) == 0 {
			return nil, nil
		}
		if idle++; len(left) < len(ops) {
			idle = 1
		}
		ops = left
		if idle == maxIdleBatches {
			return ops, &types.ProvisionedThroughputExceededException{Message: aws.String("BatchWriteItem processed none of its items in repeated attempts")}
		}
		if err := pause(ctx, idle); err != nil {
			return ops, err
		}
	}
}

// identityOf identifies the item of a request.
func identityOf(t *Table, r types.WriteRequest) string {
	if r.DeleteRequest != nil {
		return t.IdentityOf(r.DeleteRequest.Key)
	}
	return t.IdentityOf(r.PutRequest.Item)
}
