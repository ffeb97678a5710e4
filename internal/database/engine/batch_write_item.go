package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// maxBatchWrites is how many requests one BatchWriteItem may hold, over all its tables.
const maxBatchWrites = 25

// BatchWriteItem puts and deletes up to 25 items. AWS promises atomicity for each request and not for the
// batch; here the batch is one commit, which costs one fsync. Nothing is ever left unprocessed.
func (e *Engine) BatchWriteItem(ctx context.Context, in *api.BatchWriteItemInput) (*api.BatchWriteItemOutput, error) {
	g, err := prepareBatch(in)
	if err != nil {
		return nil, err
	}
	ms := meters{detail: capacity.DetailOf(in.ReturnConsumedCapacity)}
	if err := e.commitBatch(ctx, g); err != nil {
		return nil, err
	}
	for _, w := range g {
		w.count(e, false)
		w.charge(ms.of(w.table), false)
	}
	return &api.BatchWriteItemOutput{
		UnprocessedItems:      map[string][]api.WriteRequest{},
		ItemCollectionMetrics: g.collectionMetrics(in.ReturnItemCollectionMetrics),
		ConsumedCapacity:      ms.reports(),
	}, nil
}

// prepareBatch makes the writes, refusing what the request alone shows wrong. Tables come in the order of
// their names, so that of several errors it is always the same one that is answered.
func prepareBatch(in *api.BatchWriteItemInput) (writeGroup, error) {
	var g writeGroup
	for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, r := range in.RequestItems[table] {
			w, err := prepareBatched(table, r)
			if err != nil {
				return nil, err
			}
			g = append(g, w)
		}
	}
	if len(g) > maxBatchWrites {
		return nil, apierr.TooManyBatchWrites.With()
	}
	return g, nil
}

func prepareBatched(table string, r api.WriteRequest) (*write, error) {
	switch {
	case r.PutRequest == nil && r.DeleteRequest == nil:
		return nil, apierr.NoType.With()
	case r.PutRequest != nil && r.DeleteRequest != nil:
		return nil, apierr.ManyTypes.With()
	case r.PutRequest != nil:
		w := &write{kind: putWrite, table: table, item: r.PutRequest.Item}
		if err := refuseFault("BatchWriteItem", w.item); err != nil {
			return nil, err
		}
		return w, w.encodeItem()
	default:
		w := &write{kind: deleteWrite, table: table, item: r.DeleteRequest.Key}
		return w, refuseFault("BatchWriteItem", w.item)
	}
}

// commitBatch carries the group out, in one commit if the store can take it. It waits for transactions that
// hold an item of it.
func (e *Engine) commitBatch(ctx context.Context, g writeGroup) error {
	for {
		err := e.bindBatch(ctx, g)
		if err != nil {
			return err
		}
		err = e.commitGroup(ctx, g)
		switch {
		case errors.Is(err, kv.ErrTooLarge) && len(g) > 1:
			half := len(g) / 2
			if err := e.commitBatch(ctx, g[:half]); err != nil {
				return err
			}
			return e.commitBatch(ctx, g[half:])
		case errors.Is(err, kv.ErrTooLarge):
			return apierr.ItemTooLarge.With()
		case errors.Is(err, errTableChanged):
			if err := e.catalog.Renew(ctx, g.distinctTables()...); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func (e *Engine) bindBatch(ctx context.Context, g writeGroup) error {
	ts, err := e.tables(ctx, g)
	if err != nil {
		return err
	}
	for i, w := range g {
		if w.kind == putWrite && !hasKey(ts[i], w.item) {
			return apierr.KeyMismatch.With() // where PutItem says which attribute it is
		}
		if err := w.bind(ts[i]); err != nil {
			return err
		}
	}
	if g.repeats() {
		return apierr.BatchRepeatsKey.With()
	}
	return nil
}

func (e *Engine) commitGroup(ctx context.Context, g writeGroup) error {
	return e.update(ctx, g.intent(), g, func(txn kv.Txn, ws *workspace) error {
		if err := g.checkVersions(txn); err != nil {
			return err
		}
		for _, w := range g {
			if err := w.run(txn, ws); err != nil {
				return err
			}
		}
		return nil
	})
}
