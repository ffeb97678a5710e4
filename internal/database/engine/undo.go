package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
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
	later bool // has changes that came after the time to restore
	early bool // has others that stand behind such a change
}

// undo takes back the changes that came after the time to restore. It goes through the log from its end to the
// first of them and puts back what each one replaced: what an item was before its first change after the time is
// written last, and stays. Where the clock was set back there are changes of the time or before that stand behind
// later ones of the same item: in the end those are made again, in the order of the log.
//
// Each step is a transaction that notes how far it is. A step that is taken twice does no harm.
func (r *restorer) undo(ctx context.Context) error {
	stretches, err := r.laterChanges(ctx)
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(stretches) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if undone := r.job.Restore.Undone; !s.later || undone != 0 && undone <= s.after+1 {
			continue
		}
		if err := r.putBack(ctx, s, true, s.after+1); err != nil {
			return err
		}
		r.undone += int64(s.n)
		r.report()
	}
	for _, s := range stretches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.early {
			continue
		}
		if err := r.putBack(ctx, s, false, r.job.Restore.Undone); err != nil {
			return err
		}
		r.report()
	}
	return nil
}

func (r *restorer) log() kv.LogID { return kv.LogID(r.job.Restore.Source) }

// laterChanges finds the stretches of the log that have changes after the time, or others behind such a one, in the
// order of the log.
func (r *restorer) laterChanges(ctx context.Context) ([]stretch, error) {
	after, err := r.beginOfLater()
	if err != nil {
		return nil, err
	}
	var all []stretch
	s, bytes, begun := stretch{after: after}, 0, false
	end := func() {
		if s.later || s.early {
			all = append(all, s)
		}
		s, bytes = stretch{after: after}, 0
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
			later := change.Time > r.job.Restore.At
			begun = begun || later
			s.later, s.early = s.later || later, s.early || begun && !later
			after, s.n, bytes = records[i].Seq, s.n+1, bytes+len(records[i].Data)
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

// putBack gives the items of a stretch what its later changes replaced, or what the others made, and notes that all
// from a number on is undone.
func (r *restorer) putBack(ctx context.Context, s stretch, later bool, undone kv.Seq) error {
	writes, err := r.writes(s, later)
	if err != nil {
		return err
	}
	for {
		t, err := r.engine.ownTable(r.job)
		if err != nil {
			return err
		}
		err = r.write(ctx, t, writes, undone)
		if !errors.Is(err, errTableChanged) {
			return err
		}
		if err := r.engine.catalog.Renew(ctx, t); err != nil {
			return err
		}
	}
}

// writes returns the writes of putBack, one an item: of later changes its first decides, of the others its last.
func (r *restorer) writes(s stretch, later bool) ([]*write, error) {
	var writes []*write
	of := map[string]int{}
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
			at, seen := of[string(change.Key)]
			if later != (change.Time > r.job.Restore.At) || later && seen {
				continue
			}
			if !seen {
				at = len(writes)
				of[string(change.Key)], writes = at, append(writes, nil)
			}
			image := change.New
			if later {
				image = change.Old
			}
			if writes[at], err = r.writeOf(change.Key, image); err != nil {
				return nil, fmt.Errorf("engine: restore: log record %d: %w", records[i].Seq, err)
			}
		}
		n, s.after = n+len(records), records[len(records)-1].Seq
	}
	return writes, nil
}

// writeOf is the write that makes an item of the source, by its key there, what it is to be; nil is absent.
func (r *restorer) writeOf(key []byte, image itemenc.Item) (*write, error) {
	w := &write{kind: putWrite, table: r.job.Name, stored: image, restores: true}
	if image == nil {
		w.kind = deleteWrite
	}
	w.key = keyenc.InTable(nil, key, r.job.Table)
	var err error
	_, w.pk, w.sk, err = keyenc.ParseItem(w.key)
	return w, err
}

// write carries out writes to a table that nobody uses yet, and notes that all from a number on is undone.
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
			if err := w.run(txn, ws, 0); err != nil {
				return err
			}
		}
		after.Undone = undone
		return nil
	})
}
