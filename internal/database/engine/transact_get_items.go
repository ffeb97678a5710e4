package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TransactGetItems reads up to 100 items from one consistent snapshot. Where AWS cancels a read that conflicts with a write
// transaction in progress, this one sees the state before it.
func (e *Engine) TransactGetItems(ctx context.Context, in *api.TransactGetItemsInput) (*api.TransactGetItemsOutput, error) {
	gets := make([]transactGet, len(in.TransactItems))
	for i, item := range in.TransactItems {
		g := getter{operation: "TransactGetItems", projection: item.Get.ProjectionExpression}
		if g.projection != nil {
			g.names = item.Get.ExpressionAttributeNames // AWS ignores them without an expression
		}
		sh, err := g.bind(item.Get.Key)
		if err != nil {
			return nil, err
		}
		gets[i] = transactGet{table: *item.Get.TableName, item: item.Get.Key, shape: sh}
	}
	if err := e.locateTransaction(ctx, gets); err != nil {
		return nil, err
	}
	responses, consumed, err := e.readTransaction(ctx, gets, in.ReturnConsumedCapacity)
	if err != nil {
		return nil, err
	}
	return &api.TransactGetItemsOutput{Responses: responses, ConsumedCapacity: consumed}, nil
}

// transactGet is one read of a transaction.
type transactGet struct {
	table  string // as named in the request
	item   attr.Item
	filter *eval.Condition // nil: none; items that do not match are not returned
	shape  shape

	t      *catalog.Table
	counts *observe.Table
	key    []byte
}

// readTransaction reads located items.
func (e *Engine) readTransaction(ctx context.Context, gets []transactGet, wantCapacity *string) (
	[]api.ItemResponse, []api.ConsumedCapacity, error,
) {
	paid, err := e.admitTransaction(ctx, gets)
	if err != nil {
		return nil, nil, err
	}
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer snapshot.Close()
	consumed := meters{detail: capacity.DetailOf(wantCapacity), split: capacity.Reads}
	responses := make([]api.ItemResponse, len(gets))
	total := 0
	for i := range gets {
		g := &gets[i]
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		stored, err := getCopy(snapshot, g.key)
		if err != nil {
			return nil, nil, err
		}
		size := sizeOf(stored)
		if before := total; before <= api.LargeRead && before+size > api.LargeRead {
			if err := api.ReserveMemory(ctx, maxTransactionBytes); err != nil {
				return nil, nil, err
			}
		}
		if total += size; total > maxTransactionBytes {
			return nil, nil, canceledBy(len(gets), i, apierr.TransactionItemsTooLarge.With())
		}
		units := capacity.ReadUnits(size, capacity.Transactional)
		g.counts.Capacity.Read.Add(units)
		observe.From(ctx).ConsumeRead(units)
		paid.charge(i, units)
		e.rankItem(insights.Accessed, g.t, g.key, units)
		consumed.of(g.table).Table(units)
		part, err := g.part(stored)
		if err != nil {
			return nil, nil, err
		}
		if part.Len() > 0 {
			responses[i].Item = part
			observe.From(ctx).Return(1)
		}
	}
	return responses, consumed.reports(), nil
}

// part returns the requested part of the item, or nil.
func (g *transactGet) part(stored itemenc.Item) (itemenc.Item, error) {
	if stored == nil {
		return nil, nil
	}
	if passes, err := matches(g.filter, stored); err != nil || !passes {
		return nil, err
	}
	return g.shape.of(nil, stored)
}

// locateTransaction determines the store keys of the items. A missing table fails the request; a key that does not fit its table
// cancels the transaction, because only the table reveals that.
func (e *Engine) locateTransaction(ctx context.Context, gets []transactGet) error {
	for i := range gets {
		var err error
		if gets[i].t, gets[i].counts, err = e.lookup(ctx, gets[i].table); err != nil {
			return err
		}
		if err := refuseStrong(gets[i].t); err != nil {
			return err
		}
	}
	for i := range gets {
		if err := nestedKeyFault(gets[i].t, gets[i].shape.nested); err != nil {
			return err
		}
	}
	seen := make(map[string]struct{}, len(gets))
	for i := range gets {
		key, err := storeKey(gets[i].t, gets[i].item)
		if err != nil {
			return canceledBy(len(gets), i, err)
		}
		gets[i].key = key
		seen[string(key)] = struct{}{}
	}
	if len(seen) < len(gets) {
		return apierr.TransactionRepeatsItem.With()
	}
	return nil
}

func getCopy(r kv.Reader, key []byte) (itemenc.Item, error) {
	data, err := r.Get(key)
	if err != nil || data == nil {
		return nil, err
	}
	return append(itemenc.Item(nil), data...), nil
}
