package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/engine/catalog"
	"github.com/monotable/monotable/internal/storage/keyenc"
	"github.com/monotable/monotable/internal/storage/kv"
	"github.com/monotable/monotable/internal/storage/logenc"
)

const (
	// clockSkewMax is by how much a change may be dated before one that stands earlier in the log: the clock was
	// set back, or another item's change took longer to commit.
	clockSkewMax = time.Hour
	// Of the log, undoRecords are read together; so many, or undoBytes of them, are undone together.
	undoRecords    = 64
	undoRecordsMax = 1 << 10
	undoBytes      = 4 << 20
)

// stretch is a part of a log: n records after a number.
type stretch struct {
	after kv.Seq
	n     int
}

// undo takes back the changes that came after the time to restore. It goes through the log from its end to the
// first of them and puts back what each one replaced: what an item was before its first change after the time is
// written last, and stays.
//
// Each step is a transaction that notes how far it is. A step that is taken twice does no harm.
func (r *restorer) undo(ctx context.Context) error {
	stretches, err := r.laterChanges(ctx)
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(stretches) {
		if undone := r.job.Restore.Undone; undone != 0 && undone <= s.after+1 {
			continue
		}
		if err := r.undoStretch(ctx, s); err != nil {
			return err
		}
		r.undone += int64(s.n)
		r.report()
	}
	return nil
}

func (r *restorer) log() kv.LogID { return kv.LogID(r.job.Restore.Source) }

// laterChanges finds the stretches of the log that have changes after the time, in the order of the log.
func (r *restorer) laterChanges(ctx context.Context) ([]stretch, error) {
	after, err := r.beginOfLater()
	if err != nil {
		return nil, err
	}
	var all []stretch
	s, bytes, later := stretch{after: after}, 0, false
	end := func() {
		if later {
			all = append(all, s)
		}
		s, bytes, later = stretch{after: after}, 0, false
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		records, err := r.from.ReadLog(r.log(), after, undoRecords)
		if err != nil {
			return nil, err
		}
		for i := range records {
			change, err := r.decode(&records[i])
			if err != nil {
				return nil, err
			}
			after, later = records[i].Seq, later || change.Time > r.job.Restore.At
			s.n, bytes = s.n+1, bytes+len(records[i].Data)
			if s.n >= undoRecordsMax || bytes >= undoBytes {
				end()
			}
		}
		r.report()
		if len(records) < undoRecords {
			end()
			return all, nil
		}
	}
}

func (r *restorer) decode(record *kv.Record) (logenc.Change, error) {
	change, err := logenc.Decode(record.Data)
	if err != nil {
		err = fmt.Errorf("engine: restore: log record %d: %w", record.Seq, err)
	}
	return change, err
}

// beginOfLater returns a number that no change after the time has, nor any before that one. Times in the log nearly
// ascend: where a record is older than the time by clockSkewMax, so is, within that, all that stands before it.
func (r *restorer) beginOfLater() (kv.Seq, error) {
	surelyBefore := r.job.Restore.At - clockSkewMax.Milliseconds()
	lo, hi := kv.Seq(0), ^kv.Seq(0)>>1
	for lo < hi {
		mid := lo + (hi-lo)/2
		records, err := r.from.ReadLog(r.log(), mid, 1)
		if err != nil {
			return 0, err
		}
		later := len(records) == 0
		if !later {
			change, err := r.decode(&records[0])
			if err != nil {
				return 0, err
			}
			later = change.Time > surelyBefore
		}
		if later {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, nil
}

// undoStretch undoes the changes of a stretch that came after the time.
func (r *restorer) undoStretch(ctx context.Context, s stretch) error {
	writes, err := r.replaced(s)
	if err != nil {
		return err
	}
	for {
		t, err := r.engine.ownTable(r.job)
		if err != nil {
			return err
		}
		err = r.putBack(ctx, t, writes, s.after+1)
		if !errors.Is(err, errTableChanged) {
			return err
		}
		if err := r.engine.catalog.Renew(ctx, t); err != nil {
			return err
		}
	}
}

// replaced returns the writes that put back what the changes of a stretch replaced, one an item.
func (r *restorer) replaced(s stretch) ([]*write, error) {
	var writes []*write
	seen := map[string]bool{}
	for n := 0; n < s.n; {
		records, err := r.from.ReadLog(r.log(), s.after, min(s.n-n, undoRecords))
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return nil, fmt.Errorf("engine: restore: the log of table %d ends before record %d", r.job.Restore.Source, s.after)
		}
		for i := range records {
			change, err := r.decode(&records[i])
			if err != nil {
				return nil, err
			}
			// The first change of an item decides.
			if change.Time > r.job.Restore.At && !seen[string(change.Key)] {
				seen[string(change.Key)] = true
				w, err := r.writeBack(change)
				if err != nil {
					return nil, fmt.Errorf("engine: restore: log record %d: %w", records[i].Seq, err)
				}
				writes = append(writes, w)
			}
		}
		n, s.after = n+len(records), records[len(records)-1].Seq
	}
	return writes, nil
}

// writeBack is the write that puts back what a change replaced.
func (r *restorer) writeBack(change logenc.Change) (*write, error) {
	w := &write{kind: putWrite, table: r.job.Name, stored: change.Old, restores: true}
	if change.Old == nil {
		w.kind = deleteWrite
	}
	w.key = keyenc.InTable(nil, change.Key, r.job.Table)
	var err error
	_, w.pk, w.sk, err = keyenc.ParseItem(w.key)
	return w, err
}

// putBack carries out writes to a table that nobody uses yet, and notes that all from a number on is undone.
func (r *restorer) putBack(ctx context.Context, t *catalog.Table, writes []*write, undone kv.Seq) error {
	intent := kv.Intent{Check: [][]byte{keyenc.TableVersion(t.ID)}, Write: [][]byte{r.job.key()}}
	for _, w := range writes {
		w.t = t
		intent.Write = append(intent.Write, w.key)
	}
	ws := r.engine.workspaces.get()
	defer r.engine.workspaces.put(ws)
	return r.step(ctx, intent, func(txn kv.Txn, after *restoration) error {
		if err := checkVersion(txn, t); err != nil {
			return err
		}
		for _, w := range writes {
			if err := w.run(txn, ws, 0); err != nil {
				return err
			}
		}
		after.Undone = undone
		return nil
	})
}
