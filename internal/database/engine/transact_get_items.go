package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TransactGetItems reads up to 100 items from one consistent state. It is a snapshot: where AWS cancels a
// read that meets a write transaction under way, this one sees the state before it.
func (e *Engine) TransactGetItems(ctx context.Context, in *api.TransactGetItemsInput) (*api.TransactGetItemsOutput, error) {
	shapes := make([]shape, len(in.TransactItems))
	for i, item := range in.TransactItems {
		g := getter{operation: "TransactGetItems", projection: item.Get.ProjectionExpression}
		if g.projection != nil {
			g.names = item.Get.ExpressionAttributeNames // without one, AWS does not look at them
		}
		var err error
		if shapes[i], err = g.bind(item.Get.Key); err != nil {
			return nil, err
		}
	}
	keys, tables, counts, err := e.transactKeys(ctx, in.TransactItems)
	if err != nil {
		return nil, err
	}
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	consumed := meters{detail: capacity.DetailOf(in.ReturnConsumedCapacity), split: capacity.Reads}
	responses := make([]api.ItemResponse, len(keys))
	total := 0
	for i, key := range keys {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		stored, err := getCopy(snapshot, key)
		if err != nil {
			return nil, err
		}
		size := sizeOf(stored)
		if before := total; before <= api.LargeRead && before+size > api.LargeRead {
			if err := api.AskForRoom(ctx, maxTransactionBytes); err != nil {
				return nil, err
			}
		}
		if total += size; total > maxTransactionBytes {
			return nil, canceledRead(len(keys), i, apierr.TransactionItemsTooLarge.With())
		}
		units := capacity.ReadUnits(size, capacity.Transactional)
		counts[i].Capacity.Read.Add(units)
		e.accessedItem(tables[i], key, units)
		consumed.of(*in.TransactItems[i].Get.TableName).Table(units)
		part, err := shapes[i].of(nil, stored)
		if err != nil {
			return nil, err
		}
		if part.Len() > 0 {
			responses[i].Item = part
			observe.From(ctx).Return(1)
		}
	}
	return &api.TransactGetItemsOutput{Responses: responses, ConsumedCapacity: consumed.reports()}, nil
}

// transactKeys finds the places of the items in the store. A missing table fails the request; a key that does
// not fit its table cancels the transaction, because only the table shows it.
func (e *Engine) transactKeys(ctx context.Context, items []api.TransactGetItem) (keys [][]byte, tables []*catalog.Table, counts []*observe.Table, err error) {
	counts = make([]*observe.Table, len(items))
	tables = make([]*catalog.Table, len(items))
	for i, item := range items {
		if tables[i], counts[i], err = e.lookup(ctx, *item.Get.TableName); err != nil {
			return nil, nil, nil, err
		}
	}
	keys = make([][]byte, len(items))
	seen := make(map[string]struct{}, len(items))
	for i, item := range items {
		key, err := storeKey(tables[i], item.Get.Key)
		if err != nil {
			return nil, nil, nil, canceledRead(len(items), i, err)
		}
		keys[i] = key
		seen[string(key)] = struct{}{}
	}
	if len(seen) < len(keys) {
		return nil, nil, nil, apierr.TransactionRepeatsItem.With()
	}
	return keys, tables, counts, nil
}

func getCopy(r kv.Reader, key []byte) (itemenc.Item, error) {
	data, err := r.Get(key)
	if err != nil || data == nil {
		return nil, err
	}
	return append(itemenc.Item(nil), data...), nil
}

// canceledRead is the answer of a transaction of n reads that is canceled because of one of them.
func canceledRead(n, at int, err error) error {
	reason, _, ok := reasonOf(err)
	if !ok {
		return err
	}
	reasons := noReasons(n)
	reasons[at] = reason
	return canceled(reasons)
}
