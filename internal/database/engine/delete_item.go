package engine

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// DeleteItem deletes the item with a key, if there is one.
func (e *Engine) DeleteItem(ctx context.Context, in *api.DeleteItemInput) (*api.DeleteItemOutput, error) {
	w := e.writes.get()
	defer e.writes.put(w)
	err := w.prepareDelete(in)
	if err != nil {
		return nil, err
	}
	out := new(api.DeleteItemOutput)
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

// prepareDelete makes w the write. It rejects what is invalid judging by the request alone, in AWS's order.
func (w *write) prepareDelete(in *api.DeleteItemInput) error {
	const operation = "DeleteItem"
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
	if err := refuseFault(operation, in.Key); err != nil {
		return err
	}
	if err := returnValuesOf(in.ReturnValues).checkOldOnly(); err != nil {
		return enveloped(err)
	}
	w.kind, w.table, w.item, w.showOld = deleteWrite, *in.TableName, in.Key, returnsOld(in.ReturnValuesOnConditionCheckFailure)
	if err := g.refuseFaults(operation); err != nil {
		return err
	}
	return g.bindTo(operation, w)
}
