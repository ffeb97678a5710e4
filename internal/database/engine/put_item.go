package engine

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// PutItem stores an item, replacing any item with its key.
func (e *Engine) PutItem(ctx context.Context, in *api.PutItemInput) (*api.PutItemOutput, error) {
	w := e.writes.get()
	defer e.writes.put(w)
	err := w.preparePut(in)
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

// preparePut makes w the write. It rejects what is invalid judging by the request alone, in AWS's order.
func (w *write) preparePut(in *api.PutItemInput) error {
	const operation = "PutItem"
	g := given{
		condition: in.ConditionExpression,
		names:     in.ExpressionAttributeNames,
		values:    in.ExpressionAttributeValues,
		expected:  in.Expected,
		operator:  in.ConditionalOperator,
	}
	if err := g.refuseCombination(); err != nil {
		return enveloped(err)
	}
	if err := refuseFault(operation, in.Item); err != nil {
		return err
	}
	if err := returnValuesOf(in.ReturnValues).checkOldOnly(); err != nil {
		return enveloped(err)
	}
	w.kind, w.table, w.item, w.showOld = putWrite, *in.TableName, in.Item, returnsOld(in.ReturnValuesOnConditionCheckFailure)
	if err := g.refuseFaults(operation); err != nil {
		return err
	}
	if err := g.bindTo(operation, w); err != nil {
		return err
	}
	return w.encodeItem() // a size limit has no envelope on AWS
}
