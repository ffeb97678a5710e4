package table

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/design/table/internal/write"
)

// try makes one attempt. It returns ErrAgain if an item differs from what the attempt assumed.
func (db *DB) try(ctx context.Context, c *call, t *write.Transaction) ([]Outcome, error) {
	a := trial{db: db, call: c, Attempt: t.NewAttempt()}
	ops, out, err := a.Plan(func(t *Table, keys []Item) ([]Item, error) { return a.items(ctx, t, keys) })
	switch {
	case err != nil || len(ops) == 0:
		return out, err
	case t.Batch():
		return a.batch(ctx, ops)
	case len(ops) == 1 && ops[0].Kind != write.Checking:
		return a.single(ctx, ops[0])
	default:
		return a.transact(ctx, ops)
	}
}

// trial is an attempt in execution.
type trial struct {
	*write.Attempt
	db   *DB
	call *call
}

// items reads items of a table with strong consistency.
func (a trial) items(ctx context.Context, t *Table, keys []Item) ([]Item, error) {
	if len(keys) > 1 {
		return a.db.fetch(ctx, a.call, t, keys, true)
	}
	response, err := a.db.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: a.db.tableName(t), Key: keys[0], ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: a.call.capacity(),
	})
	if err != nil {
		return nil, err
	}
	a.call.read(response.ConsumedCapacity)
	return []Item{response.Item}, nil
}

// single writes the only item of a write.
func (a trial) single(ctx context.Context, o *write.Operation) ([]Outcome, error) {
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	table, capacity := a.db.tableName(o.Table), a.call.capacity()
	var consumed *types.ConsumedCapacity
	var updated Item
	var err error
	switch o.Kind {
	case write.Putting:
		var response *dynamodb.PutItemOutput
		response, err = a.db.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: table, Item: o.Item, ConditionExpression: write.Text(o.Condition), ReturnConsumedCapacity: capacity,
			ExpressionAttributeNames: o.RequestNames(), ExpressionAttributeValues: o.RequestValues(), ReturnValuesOnConditionCheckFailure: old,
		})
		if err == nil {
			consumed = response.ConsumedCapacity
		}
	case write.Deleting:
		var response *dynamodb.DeleteItemOutput
		response, err = a.db.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: table, Key: o.Item, ConditionExpression: write.Text(o.Condition), ReturnConsumedCapacity: capacity,
			ExpressionAttributeNames: o.RequestNames(), ExpressionAttributeValues: o.RequestValues(), ReturnValuesOnConditionCheckFailure: old,
		})
		if err == nil {
			consumed = response.ConsumedCapacity
		}
	default:
		var response *dynamodb.UpdateItemOutput
		response, err = a.db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: table, Key: o.Item, UpdateExpression: write.Text(o.Update), ConditionExpression: write.Text(o.Condition),
			ExpressionAttributeNames: o.RequestNames(), ExpressionAttributeValues: o.RequestValues(),
			ReturnConsumedCapacity: capacity, ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: old,
		})
		if err == nil {
			consumed, updated = response.ConsumedCapacity, response.Attributes
		}
	}
	a.call.wrote(consumed)
	if err == nil {
		return a.Outcomes(updated), nil
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return a.Refused(o, failed.Item)
	}
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return nil, write.ErrAgain
	}
	return nil, err
}

// transact writes several items atomically.
func (a trial) transact(ctx context.Context, ops []*write.Operation) ([]Outcome, error) {
	in := &dynamodb.TransactWriteItemsInput{
		TransactItems:          schema.Each(ops, func(o *write.Operation) types.TransactWriteItem { return o.TransactItem(a.db.tableName(o.Table)) }),
		ReturnConsumedCapacity: a.call.capacity(),
	}
	response, err := a.db.client.TransactWriteItems(ctx, in)
	if err == nil {
		a.call.wrote(schema.Each(response.ConsumedCapacity, func(u types.ConsumedCapacity) *types.ConsumedCapacity { return &u })...)
		return a.Outcomes(nil), nil
	}
	a.call.wrote()
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return a.canceled(ops, canceled)
	}
	return nil, err // including one that is still in progress: another attempt might repeat its effect
}

// The cancellation reasons other than an invalid request.
const (
	codeNone     = "None"
	codeRefused  = "ConditionalCheckFailed"
	codeConflict = "TransactionConflict"
)

// canceled returns why a transaction was cancelled: the first operation with a reason decides.
func (a trial) canceled(ops []*write.Operation, canceled *types.TransactionCanceledException) ([]Outcome, error) {
	for i, reason := range canceled.CancellationReasons {
		if i >= len(ops) {
			break
		}
		switch aws.ToString(reason.Code) {
		case codeNone, "":
		case codeConflict:
			return nil, write.ErrAgain
		case codeRefused:
			return a.Refused(ops[i], reason.Item)
		default:
			return nil, canceled
		}
	}
	return nil, canceled
}
