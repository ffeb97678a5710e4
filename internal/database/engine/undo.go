package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	// The maximum number of log records undone together, besides undoBytes.
	undoRecordsMax = 1 << 10
	undoBytes      = 4 << 20
)

// stretch is a part of a log: n records after a number.
type stretch struct {
	after kv.Seq
	n     int
}

// undo undoes the changes after the restored time. It goes through the log from its end back to the first of them and restores
// what each change replaced, so the last write of an item restores what it was before its first change after the time.
//
// Each step is a transaction that stores the progress. Repeating a step is harmless.
func (r *restorer) undo(ctx context.Context) error {
	stretches, err := r.laterChanges(ctx)
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(stretches) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if undone := r.job.Restore.Undone; undone != 0 && undone <= s.after+1 {
			continue
		}
		if err := r.putBack(ctx, s); err != nil {
			return err
		}
		r.undone += int64(s.n)
		r.report()
	}
	return nil
}

func (r *restorer) log() kv.LogID { return kv.LogID(r.job.Restore.Source) }

// laterChanges divides the part of the log after the restored time into stretches, in log order.
func (r *restorer) laterChanges(ctx context.Context) ([]stretch, error) {
	first, err := firstSince(r.from, r.log(), 1, r.job.Restore.At+1)
	if err != nil {
		return nil, err
	}
	after := first - 1
	var all []stretch
	s, bytes := stretch{after: after}, 0
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		records, err := r.from.ReadLog(r.log(), after, logChunk)
		if err != nil {
			return nil, err
		}
		for i := range records {
			after, s.n, bytes = records[i].Seq, s.n+1, bytes+len(records[i].Data)
			if s.n >= undoRecordsMax || bytes >= undoBytes {
				all = append(all, s)
				s, bytes = stretch{after: after}, 0
			}
		}
		r.report()
		if len(records) == 0 {
			if s.n > 0 {
				all = append(all, s)
			}
			return all, nil
		}
	}
}

// putBack restores what the changes of a stretch replaced, and records that everything from there on is undone.
func (r *restorer) putBack(ctx context.Context, s stretch) error {
	writes, err := r.writes(s)
	if err != nil {
		return err
	}
	return r.apply(ctx, writes, s.after+1)
}

// apply executes writes of different items, and records that everything from a number on is undone. Writes that exceed the store's
// limits together are executed in parts.
func (r *restorer) apply(ctx context.Context, writes []*write, undone kv.Seq) error {
	for {
		t, err := r.engine.ownTable(r.job)
		if err != nil {
			return err
		}
		err = r.write(ctx, t, writes, undone)
		switch half := len(writes) / 2; {
		case errors.Is(err, errTableChanged):
			if err := r.engine.catalog.Renew(ctx, t); err != nil {
				return err
			}
		case errors.Is(err, kv.ErrTooLarge) && half > 0:
			if err := r.apply(ctx, writes[:half], r.job.Restore.Undone); err != nil {
				return err
			}
			writes = writes[half:]
		default:
			return err
		}
	}
}

// writes returns the writes of putBack, one for each item: its first change decides.
func (r *restorer) writes(s stretch) ([]*write, error) {
	var writes []*write
	seen := map[string]bool{}
	for n := 0; n < s.n; {
		records, err := r.from.ReadLog(r.log(), s.after, min(s.n-n, logChunk))
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return nil, fmt.Errorf("engine: restore: the log of table %d ends before record %d", r.job.Restore.Source, s.after)
		}
		for i := range records {
			change, err := decodeRecord(r.log(), &records[i])
			if err != nil {
				return nil, err
			}
			// Records of format 1 may include an earlier change of another item.
			if seen[string(change.Key)] || change.Time <= r.job.Restore.At {
				continue
			}
			seen[string(change.Key)] = true
			w, err := r.writeOf(&change)
			if err != nil {
				return nil, fmt.Errorf("engine: restore: log record %d: %w", records[i].Seq, err)
			}
			writes = append(writes, w)
		}
		n, s.after = n+len(records), records[len(records)-1].Seq
	}
	return writes, nil
}

// writeOf returns the write that restores what a change of the source replaced.
func (r *restorer) writeOf(change *logenc.Change) (*write, error) {
	w := &write{kind: putWrite, table: r.job.Name, stored: change.Old, restores: true}
	switch {
	case !change.Existed:
		w.kind = deleteWrite
	case change.Old == nil:
		return nil, errors.New("the record has no old image")
	}
	w.key = keyenc.InTable(nil, change.Key, r.job.Table)
	var err error
	_, w.pk, w.sk, err = keyenc.ParseItem(w.key)
	return w, err
}

// write executes writes on a table that is not yet in use, and records that everything from a number on is undone.
func (r *restorer) write(ctx context.Context, t *catalog.Table, writes []*write, undone kv.Seq) error {
	intent := kv.Intent{Check: [][]byte{keyenc.TableVersion(t.ID)}, Write: [][]byte{r.job.Key()}}
	for _, w := range writes {
		w.t = t
		intent.Write = append(intent.Write, w.key)
	}
	ws := r.engine.workspaces.get()
	defer r.engine.workspaces.put(ws)
	return r.step(ctx, intent, func(txn kv.Txn, after *job.Restoration) error {
		if err := checkVersion(txn, t); err != nil {
			return err
		}
		for _, w := range writes {
			if err := w.run(txn, ws); err != nil {
				return err
			}
		}
		after.Undone = undone
		return nil
	})
}
