package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// maxBatchWrites is the maximum number of requests in a BatchWriteItem, over all tables.
const maxBatchWrites = 25

// BatchWriteItem puts and deletes up to 25 items. AWS guarantees atomicity for each request but not for the batch; here the batch
// is one commit, which costs one fsync. Writes without available capacity are returned as UnprocessedItems. If no write has
// capacity, the request fails.
func (e *Engine) BatchWriteItem(ctx context.Context, in *api.BatchWriteItemInput) (*api.BatchWriteItemOutput, error) {
	g, requests, err := e.prepareBatch(in)
	defer e.writes.put(g...)
	if err != nil {
		return nil, err
	}
	ms := meters{detail: capacity.DetailOf(in.ReturnConsumedCapacity)}
	done, err := e.commitBatch(ctx, g)
	if err != nil {
		return nil, err
	}
	for _, w := range done {
		w.count(e, observe.From(ctx), false)
		w.charge(ms.of(w.table), false)
	}
	out := &api.BatchWriteItemOutput{
		UnprocessedItems:      map[string][]api.WriteRequest{},
		ItemCollectionMetrics: done.collectionMetrics(in.ReturnItemCollectionMetrics),
		ConsumedCapacity:      ms.reports(),
	}
	if len(done) < len(g) {
		for i, w := range g {
			if !slices.Contains(done, w) {
				out.UnprocessedItems[w.table] = append(out.UnprocessedItems[w.table], requests[i])
			}
		}
	}
	return out, nil
}

// prepareBatch returns the writes, also with an error, and the requests they belong to. It rejects what is invalid judging by the
// request alone. Tables are processed in the order of their names, so that the same one of several errors is always reported.
func (e *Engine) prepareBatch(in *api.BatchWriteItemInput) (g writeGroup, requests []api.WriteRequest, err error) {
	n := 0
	for _, r := range in.RequestItems {
		n += len(r)
	}
	g, requests = make(writeGroup, 0, n), make([]api.WriteRequest, 0, n)
	for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, r := range in.RequestItems[table] {
			w := e.writes.get()
			g, requests = append(g, w), append(requests, r)
			if err := w.prepareBatched(table, r); err != nil {
				return g, nil, err
			}
		}
	}
	if len(g) > maxBatchWrites {
		return g, nil, apierr.TooManyBatchWrites.With()
	}
	return g, requests, nil
}

func (w *write) prepareBatched(table string, r api.WriteRequest) error {
	switch {
	case r.PutRequest == nil && r.DeleteRequest == nil:
		return apierr.NoType.With()
	case r.PutRequest != nil && r.DeleteRequest != nil:
		return apierr.ManyTypes.With()
	case r.PutRequest != nil:
		w.kind, w.table, w.item = putWrite, table, r.PutRequest.Item
		if err := refuseFault("BatchWriteItem", w.item); err != nil {
			return err
		}
		return w.encodeItem()
	default:
		w.kind, w.table, w.item = deleteWrite, table, r.DeleteRequest.Key
		return refuseFault("BatchWriteItem", w.item)
	}
}

// commitBatch executes the group, in one commit if the store can take it, and returns the writes that had capacity. It waits for
// transactions that hold any of the items.
func (e *Engine) commitBatch(ctx context.Context, g writeGroup) (done writeGroup, err error) {
	for {
		if err := e.bindBatch(ctx, g); err != nil {
			return nil, err
		}
		err := e.commitGroup(ctx, g)
		refused, throttled := errors.AsType[*throttledError](err)
		switch {
		case throttled:
			if g, err = refused.others(g); err != nil {
				return nil, err
			}
		case errors.Is(err, kv.ErrTooLarge) && len(g) > 1:
			return e.commitHalves(ctx, g)
		case errors.Is(err, kv.ErrTooLarge):
			return nil, apierr.ItemTooLarge.With()
		case errors.Is(err, errTableChanged):
			if err := e.catalog.Renew(ctx, g.distinctTables()...); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		default:
			return g, nil
		}
	}
}

// commitHalves executes a group that is too large for one commit. A half without capacity is unprocessed, like a single write,
// unless the other half is as well.
func (e *Engine) commitHalves(ctx context.Context, g writeGroup) (done writeGroup, err error) {
	half := len(g) / 2
	first, throttled := e.commitBatch(ctx, g[:half:half])
	if throttled != nil && !isThrottled(throttled) {
		return nil, throttled
	}
	second, err := e.commitBatch(ctx, g[half:])
	if err != nil && (!isThrottled(err) || throttled != nil) {
		return nil, err
	}
	return slices.Concat(first, second), nil
}

func (e *Engine) bindBatch(ctx context.Context, g writeGroup) error {
	ts, err := e.tables(ctx, g)
	if err != nil {
		return err
	}
	for i, w := range g {
		if w.kind == putWrite && !hasKey(ts[i], w.item) {
			return apierr.KeyMismatch.With() // PutItem's message names the attribute
		}
		if err := w.bind(ts[i]); err != nil {
			return err
		}
		if err := e.setRule(ctx, w, ts[i]); err != nil {
			return err
		}
	}
	if g.repeats() {
		return apierr.BatchRepeatsKey.With()
	}
	return nil
}

func (e *Engine) commitGroup(ctx context.Context, g writeGroup) error {
	paid := &g[0].paid
	err := e.update(ctx, g.intent(), g, func(txn kv.Txn, ws *workspace) error {
		if err := g.checkVersions(txn); err != nil {
			return err
		}
		for _, w := range g {
			if err := w.run(txn, ws); err != nil {
				return err
			}
		}
		return paid.take(ctx, e, g, false)
	})
	paid.settle(err)
	return err
}
