package engine

import (
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/derive"
)

// UpdateItem changes attributes of the item with a key, creating the item if it does not exist.
func (e *Engine) UpdateItem(ctx context.Context, in *api.UpdateItemInput) (*api.UpdateItemOutput, error) {
	w := e.writes.get()
	defer e.writes.put(w)
	err := w.prepareUpdate(in)
	if err != nil {
		return nil, err
	}
	out := new(api.UpdateItemOutput)
	var report func(*outcome) error
	if r := returnValuesOf(in.ReturnValues); r != returnNone {
		report = func(o *outcome) error {
			out.Attributes = w.returned(r)
			return nil
		}
	}
	out.ConsumedCapacity, out.ItemCollectionMetrics, err = e.commitSingle(ctx, w, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, report)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// prepareUpdate makes w the write. It rejects what is invalid judging by the request alone, in AWS's order.
func (w *write) prepareUpdate(in *api.UpdateItemInput) error {
	const operation = "UpdateItem"
	g := given{
		condition: in.ConditionExpression,
		update:    in.UpdateExpression,
		updatable: true,
		names:     in.ExpressionAttributeNames,
		values:    in.ExpressionAttributeValues,
		expected:  in.Expected,
		operator:  in.ConditionalOperator,
		updates:   in.AttributeUpdates,
	}
	if err := g.refuseCombination(); err != nil {
		return enveloped(err)
	}
	if err := refuseFault(operation, in.Key); err != nil {
		return err
	}
	w.kind, w.table, w.item, w.showOld = updateWrite, *in.TableName, in.Key, returnsOld(in.ReturnValuesOnConditionCheckFailure)
	if err := g.refuseFaults(operation); err != nil {
		return err
	}
	if err := g.bindTo(operation, w); err != nil {
		return err
	}
	if in.UpdateExpression != nil {
		w.statementBytes = w.update.StatementSize()
	}
	return nil
}

// applyUpdate returns the result of the update on old, or nil if it does not create an item. It decodes only the attributes that
// the update names, and copies the others as stored.
func (w *write) applyUpdate(ws *workspace, old itemenc.Item) (itemenc.Item, error) {
	if w.update == nil {
		if old != nil {
			return old, nil
		}
		ws.item = itemenc.Encode(ws.item[:0], w.item)
		return ws.item, nil
	}
	o := &w.outcome
	var err error
	if old != nil {
		if ws.part, err = old.Borrow(ws.part, w.update.Attributes()); err != nil {
			return nil, err
		}
		o.oldPart = ws.part
	}
	if old != nil {
		o.nextPart, err = w.update.Apply(o.oldPart)
	} else {
		o.nextPart, err = w.update.Create(w.item)
	}
	if err != nil {
		return nil, apierr.Validation(err.Error())
	}
	switch {
	case old != nil:
		if ws.item, err = old.Replace(ws.item[:0], w.update.Targets(), o.nextPart); err != nil {
			return nil, err
		}
	case len(o.nextPart) == len(w.item): // REMOVE and DELETE alone do not create an item
		return nil, nil
	default:
		ws.item = itemenc.Encode(ws.item[:0], o.nextPart)
	}
	return ws.item, w.checkUpdated(ws.item)
}

// checkUpdated rejects an invalid result of an update, and a statement that writes more than an item can hold.
func (w *write) checkUpdated(next itemenc.Item) error {
	if max(next.Size(), w.statementBytes) > maxItemBytes {
		return apierr.UpdatedItemTooLarge.With()
	}
	of := func(name string) (attr.Value, error) { return derive.Attribute(next, name) }
	x, k, v, err := derive.FirstInvalidKey(w.t, of)
	if err != nil {
		return err
	}
	if x != nil {
		return updateIndexFault(k, v)
	}
	return vectorFault(w.t, of)
}

// returned returns the part of the items that the response contains.
func (w *write) returned(r returnValues) itemenc.Item {
	o := &w.outcome
	switch r {
	case returnAllOld:
		return slices.Clone(o.old)
	case returnAllNew:
		return slices.Clone(o.next)
	case returnUpdatedOld:
		return w.touched(o.oldPart)
	case returnUpdatedNew:
		return w.touched(o.nextPart)
	default:
		return nil
	}
}

// touched returns the part of an item that the update names, or nil if there is none.
func (w *write) touched(it attr.Item) itemenc.Item {
	if w.update == nil || it == nil {
		return nil
	}
	named := w.update.Touched(it)
	if len(named) == 0 {
		return nil
	}
	return itemenc.Encode(nil, named)
}
