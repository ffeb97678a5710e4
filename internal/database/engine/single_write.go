package engine

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// commitSingle executes the write of a PutItem, UpdateItem or DeleteItem. report extracts what the response returns of the items
// while they are valid; it may be called more than once.
func (e *Engine) commitSingle(ctx context.Context, w *write, wantCapacity, wantMetrics *string, report func(*outcome) error) (
	*api.ConsumedCapacity, *api.ItemCollectionMetrics, error,
) {
	if err := e.commit(ctx, w, report); err != nil {
		err = singleError(err)
		w.countFailure(e, observe.From(ctx), err)
		return nil, nil, err
	}
	w.count(e, observe.From(ctx), false)
	m := capacity.NewMeter(w.table, capacity.DetailOf(wantCapacity), capacity.NoSplit)
	w.charge(m, false)
	return m.Report(), w.collectionMetrics(wantMetrics), nil
}

// commit executes a single write on the table's current definition.
func (e *Engine) commit(ctx context.Context, w *write, report func(*outcome) error) error {
	for {
		t, counts, err := e.lookup(ctx, w.table)
		if err != nil {
			return err
		}
		w.counts = counts
		if err := w.bind(t); err != nil {
			return err
		}
		if err := e.setRule(ctx, w, t); err != nil {
			return err
		}
		w.held = [2][]byte{w.key, t.VersionKey()}
		intent := kv.Intent{
			Write:             w.held[0:1:1],
			Check:             w.held[1:2:2],
			FailOnTransaction: w.origin == logenc.OriginClient,
			Frees:             w.frees(),
		}
		err = e.update(ctx, intent, w.alone(), func(txn kv.Txn, ws *workspace) error {
			if err := checkVersion(txn, t); err != nil {
				return err
			}
			if err := w.paid.takeSingle(ctx, e, w, w.run(txn, ws)); err != nil || report == nil {
				return err
			}
			return report(&w.outcome)
		})
		w.paid.settle(err)
		if !errors.Is(err, errTableChanged) {
			return err
		}
		if err := e.catalog.Renew(ctx, t); err != nil {
			return err
		}
	}
}

// singleError converts the error of a commit to the client's error for a single write.
func singleError(err error) error {
	var failed *conditionError
	var refused *refusalError
	switch {
	case errors.As(err, &refused):
		return refused.response
	case errors.As(err, &failed):
		return apierr.ConditionalCheckFailed(failed.details())
	case errors.Is(err, kv.ErrConflict):
		return apierr.TransactionConflict.With()
	case errors.Is(err, kv.ErrTooLarge):
		return apierr.ItemTooLarge.With()
	default:
		return err
	}
}
