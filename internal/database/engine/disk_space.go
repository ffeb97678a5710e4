package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// refusingStore wraps a store and adds the client's error to its ErrFull, for all operations.
type refusingStore struct{ kv.Store }

// Update implements kv.Store.
func (s refusingStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	err := s.Store.Update(ctx, in, fn)
	if in.Drops && errors.Is(err, kv.ErrFull) {
		return fmt.Errorf("%w (%w)", apierr.NoSpaceToDrop.With(), err)
	}
	if in.Frees && errors.Is(err, kv.ErrFull) {
		return fmt.Errorf("%w (%w)", apierr.NoSpaceToDelete.With(), err)
	}
	return outOfSpace(err)
}

// Keep implements kv.Store.
func (s refusingStore) Keep(ctx context.Context, name string, what kv.Selection) error {
	return outOfSpace(s.Store.Keep(ctx, name, what))
}

func outOfSpace(err error) error {
	if !errors.Is(err, kv.ErrFull) {
		return err
	}
	return fmt.Errorf("%w (%w)", apierr.OutOfSpace.With(), err)
}

// frees reports whether the write frees space, once the store compacts.
func (w *write) frees() bool { return w.kind == deleteWrite || w.kind == checkWrite }

// roomToRestore rejects a restore that does not fit on the disk, before it uses up the free space. The size is estimated as the
// smaller of the kept snapshot's files and the uncompressed items and index entries: a snapshot holds whole files, which may
// contain other tables.
func (e *Engine) roomToRestore(ctx context.Context, d *catalog.Descriptor, r *job.Restoration) error {
	usage, err := e.store.DiskUsage()
	if err != nil || usage.Total == 0 {
		return err
	}
	kept, err := e.store.Kept(ctx)
	if err != nil {
		return err
	}
	var files int64
	for _, k := range kept {
		if k.Name == r.Kept {
			files = k.Bytes
		}
	}
	snapshot, err := e.store.OpenKept(ctx, r.Kept)
	if errors.Is(err, kv.ErrNotKept) {
		return nil // the restore itself reports it
	}
	if err != nil {
		return err
	}
	defer snapshot.Close()
	ids := []keyenc.IndexID{0}
	for i := range d.Indexes {
		ids = append(ids, d.Indexes[i].ID)
	}
	var contents int64
	for _, x := range ids {
		counters, err := snapshot.Counter(keyenc.Statistics(r.Source, x))
		if err != nil {
			return err
		}
		if len(counters) >= 2 {
			contents += counters[1]
		}
	}
	if need := min(files, contents); need > usage.Writable() {
		return outOfSpace(fmt.Errorf("%w: the restore of %s needs about %d MiB, and only %d MiB are available",
			kv.ErrFull, d.Name, need>>20, usage.Writable()>>20))
	}
	return nil
}
