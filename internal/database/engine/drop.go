package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// clearRange removes a range of keys that may be reused. A leader whose term is over must not do that late, so on a shared store
// it uses updates, which the end of the term makes fail.
func (e *Engine) clearRange(ctx context.Context, lo, hi []byte) error {
	if e.member == nil {
		return e.store.DeleteRange(ctx, lo, hi)
	}
	for {
		keys, err := e.readKeys(ctx, lo, hi, clearGroup)
		if err != nil || len(keys) == 0 {
			return err
		}
		err = e.store.Update(ctx, kv.Intent{Drops: true}, func(txn kv.Txn) error {
			for _, key := range keys {
				txn.Delete(key)
			}
			return nil
		})
		if err != nil {
			return err
		}
		lo = keyAfter(keys[len(keys)-1])
	}
}

// clearGroup is how many keys clearRange removes in one update.
const clearGroup = 1000

// dropIndex removes the entries of a deleted index, which writes no longer maintain, then its definition.
func (e *Engine) dropIndex(ctx context.Context, j *job.Record) error {
	lo, hi := keyenc.IndexBounds(j.Table, j.Index)
	if err := e.store.DeleteRange(ctx, lo, hi); err != nil {
		return err
	}
	statistics := keyenc.Statistics(j.Table, j.Index)
	if err := e.store.DeleteRange(ctx, statistics, keyAfter(statistics)); err != nil {
		return err
	}
	return e.changeOwn(ctx, j, func(txn kv.Txn, d *catalog.Descriptor) error {
		d.Indexes = slices.DeleteFunc(d.Indexes, func(x catalog.IndexDescriptor) bool { return x.ID == j.Index })
		schema.PruneAttributes(d)
		txn.Delete(j.Key())
		return nil
	})
}

// dropTable removes everything of a deleted table except its change log. Data for a backup is saved first.
func (e *Engine) dropTable(ctx context.Context, j *job.Record) error {
	if j.Backup != "" {
		if err := e.keepDeleted(ctx, j.Backup); err != nil {
			return err
		}
	}
	if err := e.catalog.Forget(ctx, j.Name, j.Table); err != nil {
		return err
	}
	for _, bounds := range []func(keyenc.TableID) (lo, hi []byte){keyenc.TableBounds, keyenc.TTLTableBounds, keyenc.StatisticsBounds, keyenc.ItemVersions, keyenc.Positions} {
		lo, hi := bounds(j.Table)
		if err := e.store.DeleteRange(ctx, lo, hi); err != nil {
			return err
		}
	}
	delivery := keyenc.Delivery(j.Table)
	if err := e.store.DeleteRange(ctx, delivery, keyAfter(delivery)); err != nil {
		return err
	}
	return e.forgetJob(ctx, j)
}

// dropLog removes the change log of a deleted table.
func (e *Engine) dropLog(ctx context.Context, j *job.Record) error {
	if err := e.store.TrimLog(ctx, kv.LogID(j.Table), ^kv.Seq(0)); err != nil {
		return err
	}
	return e.forgetJob(ctx, j)
}

// dropOldLogs drops the change logs of tables whose retention after deletion is over.
func (e *Engine) dropOldLogs(ctx context.Context) error {
	due, err := e.jobs.stored(ctx, func(j job.Record) bool { return j.Kind == job.DropLog && e.jobs.due(j) })
	if err != nil {
		return err
	}
	for i := range due {
		err = errors.Join(err, e.dropLog(ctx, &due[i]))
	}
	return err
}
