package engine

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
)

// maxTransactionBytes limits both the size of a transaction's request and the total size of the items that it returns or stores.
// Items that are deleted or checked do not count, nor does what an update replaces.
const maxTransactionBytes = 4 << 20

// prepareTransaction returns the writes, also with an error. It rejects what is invalid judging by the request alone: for all
// actions before any table is looked up, with the first invalid action in the request's order.
func (e *Engine) prepareTransaction(in *api.TransactWriteItemsInput) (writeGroup, error) {
	g := make(writeGroup, 0, len(in.TransactItems))
	carried := 0
	for i := range in.TransactItems {
		w := e.writes.get()
		g = append(g, w)
		g1, err := w.prepareAction(&in.TransactItems[i])
		if err != nil {
			return g, err
		}
		carried += w.item.Size() + g1.size()
	}
	if carried > maxTransactionBytes {
		return g, apierr.TransactionTooLarge.With(carried)
	}
	return g, nil
}

// size is what the expressions count towards the size of a transaction's request, by DynamoDB Local's rule: without placeholders.
func (g *given) size() int {
	size := 0
	for _, text := range []*string{g.condition, g.update} {
		if text != nil {
			size += len(*text)
		}
	}
	for _, name := range g.names {
		size += len(name)
	}
	for i := range g.values {
		size += g.values[i].Value.Size()
	}
	return size
}

func (w *write) prepareAction(a *api.TransactWriteItem) (*given, error) {
	var g given
	actions := 0
	if c := a.ConditionCheck; c != nil {
		actions++
		w.kind, w.table, w.item, w.showOld = checkWrite, *c.TableName, c.Key, returnsOld(c.ReturnValuesOnConditionCheckFailure)
		g = given{condition: c.ConditionExpression, names: c.ExpressionAttributeNames, values: c.ExpressionAttributeValues}
	}
	if p := a.Put; p != nil {
		actions++
		w.kind, w.table, w.item, w.showOld = putWrite, *p.TableName, p.Item, returnsOld(p.ReturnValuesOnConditionCheckFailure)
		g = given{condition: p.ConditionExpression, names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues}
	}
	if d := a.Delete; d != nil {
		actions++
		w.kind, w.table, w.item, w.showOld = deleteWrite, *d.TableName, d.Key, returnsOld(d.ReturnValuesOnConditionCheckFailure)
		g = given{condition: d.ConditionExpression, names: d.ExpressionAttributeNames, values: d.ExpressionAttributeValues}
	}
	if u := a.Update; u != nil {
		actions++
		w.kind, w.table, w.item, w.showOld = updateWrite, *u.TableName, u.Key, returnsOld(u.ReturnValuesOnConditionCheckFailure)
		g = given{
			condition: u.ConditionExpression, update: u.UpdateExpression,
			names: u.ExpressionAttributeNames, values: u.ExpressionAttributeValues,
		}
	}
	if actions != 1 {
		return nil, apierr.TransactionActionCount.With()
	}
	if g.condition == nil && g.update == nil {
		g.names, g.values = nil, nil // AWS ignores them
	}
	g.transacted = true
	const operation = "TransactWriteItems"
	if err := refuseFault(operation, w.item); err != nil {
		return nil, err
	}
	if w.kind == putWrite {
		if err := w.encodeItem(); err != nil {
			return nil, err
		}
	}
	if err := g.refuseFaults(operation); err != nil {
		return nil, err
	}
	return &g, g.bindTo(operation, w)
}

// bindTransaction binds the writes to their tables. What is invalid judging by the schema cancels the transaction, except empty
// key values and repeated items, which AWS rejects like a malformed request.
func (e *Engine) bindTransaction(ctx context.Context, g writeGroup) error {
	ts, err := e.tables(ctx, g)
	if err != nil {
		return err
	}
	if err := refuseStrong(ts...); err != nil {
		return err
	}
	for i, w := range g {
		if err := refuseEmptyKeys(ts[i], w); err != nil {
			return err
		}
	}
	var reasons []api.CancellationReason
	var bound writeGroup
	for i, w := range g {
		err := w.bind(ts[i])
		if err == nil {
			bound = append(bound, w)
			err = w.cancels
		}
		if err == nil {
			err = e.setRule(ctx, w, ts[i])
		}
		if err == nil {
			continue
		}
		if refused, whole := errors.AsType[*refusalError](err); whole {
			return refused.response
		}
		reason, _, ok := reasonOf(err)
		if !ok {
			return err
		}
		if reasons == nil {
			reasons = noReasons(len(g))
			reasons[i] = reason
		}
	}
	if bound.repeats() {
		return apierr.TransactionRepeatsItem.With()
	}
	if reasons != nil {
		return canceled(reasons)
	}
	return nil
}

// refuseEmptyKeys rejects an empty string or binary as the value of a key attribute of a table or index.
func refuseEmptyKeys(t *catalog.Table, w *write) error {
	for _, k := range []catalog.KeyAttribute{t.PK, t.SK} {
		if v, _ := w.item.Get(k.Name); v.Kind() == k.Kind {
			if err := checkNotEmpty(k.Name, v); err != nil {
				return err
			}
		}
	}
	if w.kind != putWrite {
		return nil
	}
	return emptyIndexKey(t, w.item)
}

func emptyIndexKey(t *catalog.Table, item attr.Item) error {
	x, k, v, err := derive.FirstInvalidKey(t, derive.AttributesOf(item))
	if err != nil || x == nil || v.Kind() != k.Kind || derive.EmptyKind(v) == "" {
		return err
	}
	return putIndexFault(x, k, v)
}
