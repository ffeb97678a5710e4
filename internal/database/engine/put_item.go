package engine

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// PutItem stores an item, replacing any item with its key.
func (e *Engine) PutItem(ctx context.Context, in *api.PutItemInput) (*api.PutItemOutput, error) {
	w, err := preparePut(in)
	if err != nil {
		return nil, err
	}
	out := new(api.PutItemOutput)
	var report func(*outcome) error
	if returnValuesOf(in.ReturnValues) == returnAllOld {
		report = func(o *outcome) error {
			out.Attributes = slices.Clone(o.old)
			return nil
		}
	}
	out.ConsumedCapacity, out.ItemCollectionMetrics, err = e.commitSingle(ctx, w, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, report)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// preparePut creates the write. It rejects what is invalid judging by the request alone, in AWS's order.
func preparePut(in *api.PutItemInput) (*write, error) {
	const operation = "PutItem"
	g := given{
		condition: in.ConditionExpression,
		names:     in.ExpressionAttributeNames,
		values:    in.ExpressionAttributeValues,
		expected:  in.Expected,
		operator:  in.ConditionalOperator,
	}
	if err := g.refuseCombination(); err != nil {
		return nil, enveloped(err)
	}
	if err := refuseFault(operation, in.Item); err != nil {
		return nil, err
	}
	if err := returnValuesOf(in.ReturnValues).checkOldOnly(); err != nil {
		return nil, enveloped(err)
	}
	w := &write{kind: putWrite, table: *in.TableName, item: in.Item, showOld: returnsOld(in.ReturnValuesOnConditionCheckFailure)}
	if err := g.refuseFaults(operation); err != nil {
		return nil, err
	}
	if err := g.bindTo(operation, w); err != nil {
		return nil, err
	}
	return w, w.encodeItem() // a size limit has no envelope on AWS
}
