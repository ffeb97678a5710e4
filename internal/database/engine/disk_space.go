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

// refusingStore is a store whose ErrFull is at the same time the error that the client sees, whichever operation
// meets it.
type refusingStore struct{ kv.Store }

// Update implements kv.Store.
func (s refusingStore) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	err := s.Store.Update(ctx, in, fn)
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

// frees reports whether the write gives room back, as soon as the store compacts.
func (w *write) frees() bool { return w.kind == deleteWrite || w.kind == checkWrite }

// roomToRestore refuses a restore for which the disk has no room, before it fills what there is. What the table will
// take is what the kept snapshot takes, or what its items and index entries come to without compression, whichever is
// less: a snapshot holds whole files, and these may have other tables in them.
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
		return nil // whoever restores finds that out
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
		return outOfSpace(fmt.Errorf("%w: the restore of %s needs about %d MiB, and there are %d MiB",
			kv.ErrFull, d.Name, need>>20, usage.Writable()>>20))
	}
	return nil
}
