package table

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// try makes one attempt. It is errAgain where an item was not, or was no longer, as the attempt took it to be.
func (db *DB) try(ctx context.Context, c *call, r *writing) (Outcome, error) {
	a := trial{db: db, call: c, attempt: r.newAttempt()}
	ops, out, err := a.plan(func(t *Table, keys []Item) ([]Item, error) { return a.items(ctx, t, keys) })
	switch {
	case err != nil || len(ops) == 0:
		return out, err
	case len(ops) == 1 && ops[0].kind != checking:
		return a.single(ctx, ops[0])
	default:
		return a.transact(ctx, ops)
	}
}

// trial is an attempt that is carried out.
type trial struct {
	*attempt
	db   *DB
	call *call
}

// items reads items of a table, consistently.
func (a trial) items(ctx context.Context, t *Table, keys []Item) ([]Item, error) {
	if len(keys) > 1 {
		return a.db.fetch(ctx, a.call, t, keys, true)
	}
	answer, err := a.db.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: a.db.tableName(t), Key: keys[0], ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: a.call.capacity(),
	})
	if err != nil {
		return nil, err
	}
	a.call.read(answer.ConsumedCapacity)
	return []Item{answer.Item}, nil
}

// single writes the one item that a write touches.
func (a trial) single(ctx context.Context, o *operation) (Outcome, error) {
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	table, capacity := a.db.tableName(o.table), a.call.capacity()
	var consumed *types.ConsumedCapacity
	var updated Item
	var err error
	switch o.kind {
	case putting:
		var answer *dynamodb.PutItemOutput
		answer, err = a.db.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: table, Item: o.item, ConditionExpression: text(o.condition), ReturnConsumedCapacity: capacity,
			ExpressionAttributeNames: o.requestNames(), ExpressionAttributeValues: o.requestValues(), ReturnValuesOnConditionCheckFailure: old,
		})
		if err == nil {
			consumed = answer.ConsumedCapacity
		}
	case deleting:
		var answer *dynamodb.DeleteItemOutput
		answer, err = a.db.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: table, Key: o.item, ConditionExpression: text(o.condition), ReturnConsumedCapacity: capacity,
			ExpressionAttributeNames: o.requestNames(), ExpressionAttributeValues: o.requestValues(), ReturnValuesOnConditionCheckFailure: old,
		})
		if err == nil {
			consumed = answer.ConsumedCapacity
		}
	default:
		var answer *dynamodb.UpdateItemOutput
		answer, err = a.db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: table, Key: o.item, UpdateExpression: text(o.update), ConditionExpression: text(o.condition),
			ExpressionAttributeNames: o.requestNames(), ExpressionAttributeValues: o.requestValues(),
			ReturnConsumedCapacity: capacity, ReturnValues: types.ReturnValueAllNew, ReturnValuesOnConditionCheckFailure: old,
		})
		if err == nil {
			consumed, updated = answer.ConsumedCapacity, answer.Attributes
		}
	}
	a.call.wrote(consumed)
	if err == nil {
		return a.outcome(updated), nil
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return a.refused(o, failed.Item)
	}
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return Outcome{}, errAgain
	}
	return Outcome{}, err
}

// transact writes several items as a whole.
func (a trial) transact(ctx context.Context, ops []*operation) (Outcome, error) {
	in := &dynamodb.TransactWriteItemsInput{
		TransactItems:          each(ops, func(o *operation) types.TransactWriteItem { return o.transactItem(a.db.tableName(o.table)) }),
		ReturnConsumedCapacity: a.call.capacity(),
	}
	answer, err := a.db.client.TransactWriteItems(ctx, in)
	if err == nil {
		a.call.wrote(each(answer.ConsumedCapacity, func(u types.ConsumedCapacity) *types.ConsumedCapacity { return &u })...)
		return a.outcome(nil), nil
	}
	a.call.wrote()
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return a.canceled(ops, canceled)
	}
	return Outcome{}, err // one still in progress too: another attempt might do twice what this one does yet
}

// The codes of cancellation reasons that say more than that the request is wrong.
const (
	codeNone     = "None"
	codeRefused  = "ConditionalCheckFailed"
	codeConflict = "TransactionConflict"
)

// canceled tells why a transaction was cancelled: the first of its operations that has a reason decides.
func (a trial) canceled(ops []*operation, canceled *types.TransactionCanceledException) (Outcome, error) {
	for i, reason := range canceled.CancellationReasons {
		if i >= len(ops) {
			break
		}
		switch aws.ToString(reason.Code) {
		case codeNone, "":
		case codeConflict:
			return Outcome{}, errAgain
		case codeRefused:
			return a.refused(ops[i], reason.Item)
		default:
			return Outcome{}, canceled
		}
	}
	return Outcome{}, canceled
}
