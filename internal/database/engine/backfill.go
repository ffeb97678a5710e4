package engine

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The limits of one transaction of a backfill: large enough to share a commit, small enough not to block writers of the same
// items for long.
const (
	backfillItems = 64
	backfillBytes = 1 << 20
)

// backfillIndex fills a new index. From the version that adds the index, writes maintain it. The backfill visits the items that
// existed by then once, holding their keys like a writer, so each entry is correct and counted exactly once whatever happens to
// its item concurrently.
func (e *Engine) backfillIndex(ctx context.Context, j *job.Record) error {
	begin := func(_ kv.Txn, x *catalog.IndexDescriptor) error {
		x.State = catalog.IndexBackfilling
		return nil
	}
	if err := e.changeIndex(ctx, j, begin); err != nil {
		return err
	}
	err := e.overItems(ctx, j, func(txn kv.Txn, t *catalog.Table, stored itemenc.Item) error {
		x := t.IndexByID(j.Index)
		if x == nil || !x.Maintained {
			return errJobMoot
		}
		return addEntry(txn, t, x, stored)
	})
	if err != nil {
		return err
	}
	return e.changeIndex(ctx, j, func(txn kv.Txn, x *catalog.IndexDescriptor) error {
		x.State = catalog.IndexActive
		txn.Delete(j.Key())
		return nil
	})
}

// changeIndex changes the definition of the index that the job builds. It fails with moot if the index is being deleted.
func (e *Engine) changeIndex(ctx context.Context, j *job.Record, edit func(kv.Txn, *catalog.IndexDescriptor) error) error {
	return e.changeOwn(ctx, j, func(txn kv.Txn, d *catalog.Descriptor) error {
		x := d.IndexByID(j.Index)
		if x == nil || x.State == catalog.IndexDeleting {
			return errJobMoot
		}
		return edit(txn, x)
	})
}

// changeOwn changes the job's table. It fails with moot if the table no longer exists.
func (e *Engine) changeOwn(ctx context.Context, j *job.Record, edit func(kv.Txn, *catalog.Descriptor) error) error {
	_, err := e.catalog.Change(ctx, j.Name, func(txn kv.Txn, d *catalog.Descriptor) error {
		if d.ID != j.Table || d.GoneAt != 0 {
			return errJobMoot
		}
		return edit(txn, d)
	})
	if isNotFound(err) {
		return errJobMoot
	}
	return err
}

// ownTable returns the job's table. It fails with moot if the table no longer exists.
func (e *Engine) ownTable(j *job.Record) (*catalog.Table, error) {
	t := e.catalog.Tables()[j.Name]
	if t == nil || t.ID != j.Table {
		return nil, errJobMoot
	}
	return t, nil
}

// overItems calls do for every item of the job's table after the job's cursor, each in a transaction that holds the item's key
// and advances the cursor.
func (e *Engine) overItems(ctx context.Context, j *job.Record, do func(kv.Txn, *catalog.Table, itemenc.Item) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		keys, err := e.nextItems(ctx, j)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := e.overChunk(ctx, j, keys, do); err != nil {
			return err
		}
	}
}

// nextItems returns the keys of the next items after the job's cursor.
func (e *Engine) nextItems(ctx context.Context, j *job.Record) ([][]byte, error) {
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	lo, hi := keyenc.IndexBounds(j.Table, 0)
	if j.Cursor != nil {
		lo = keyAfter(j.Cursor)
	}
	it := snapshot.Iter(lo, hi, kv.IterOptions{Limit: backfillItems})
	defer it.Close()
	var keys [][]byte
	for bytes := 0; len(keys) < backfillItems && bytes < backfillBytes && it.Next(); bytes += len(it.Value()) {
		keys = append(keys, append([]byte(nil), it.Key()...))
	}
	return keys, it.Err()
}

// overChunk does nothing if the table has changed since it was looked up; the next call sees the change.
func (e *Engine) overChunk(ctx context.Context, j *job.Record, keys [][]byte, do func(kv.Txn, *catalog.Table, itemenc.Item) error) error {
	t, err := e.ownTable(j)
	if err != nil {
		return err
	}
	after := *j
	after.Cursor = keys[len(keys)-1]
	intent := kv.Intent{
		Write: append(keys, j.Key()),
		Check: [][]byte{keyenc.TableVersion(t.ID)},
	}
	err = e.store.Update(ctx, intent, func(txn kv.Txn) error {
		if err := checkVersion(txn, t); err != nil {
			return err
		}
		for _, key := range keys {
			stored, err := txn.Get(key)
			if err != nil {
				return err
			}
			if stored == nil {
				continue // deleted in the meantime
			}
			if err := do(txn, t, stored); err != nil {
				return err
			}
		}
		return after.Save(txn)
	})
	switch {
	case errors.Is(err, errTableChanged):
		return e.catalog.Renew(ctx, t)
	case err == nil:
		*j = after
	}
	return err
}
