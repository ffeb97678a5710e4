package engine

import (
	"bytes"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// maintain updates index x for the change and returns by how many bytes the index has grown. An unchanged entry is not written,
// and as on AWS costs nothing.
func (w *write) maintain(txn kv.Txn, ws *workspace, x *catalog.Index) (grown int64, err error) {
	if x.Vector != nil {
		return w.maintainVector(txn, ws, x)
	}
	old, next := w.outcome.old, w.outcome.next
	before, err := derive.Project(ws.before[:0], x, old)
	if err != nil {
		return 0, err
	}
	after, err := derive.Project(ws.after[:0], x, next)
	if err != nil {
		return 0, err
	}
	ws.keepProjections(x, before, after)
	moved, err := entryMoves(x, old, next)
	if err != nil || !moved && bytes.Equal(before, after) {
		return 0, err
	}
	had, err := w.leave(txn, ws, x, moved)
	if err != nil {
		return 0, err
	}
	left := hashOf(ws.key)
	has, err := w.enter(txn, ws, x, after)
	if err != nil {
		return 0, err
	}
	if !had {
		before = nil
	}
	if !has {
		after = nil
	}
	grown = int64(sizeOf(after) - sizeOf(before))
	addStatistics(txn, w.t, x.ID, presence(after)-presence(before), grown)
	if has {
		return grown, w.chargeIndex(x, before, after, moved, left, hashOf(ws.key))
	}
	return grown, w.chargeIndex(x, before, after, moved, left, left)
}

// keepProjections returns the memory of projections to the workspace.
func (ws *workspace) keepProjections(x *catalog.Index, before, after itemenc.Item) {
	if !x.All {
		ws.before, ws.after = before, after
	}
}

// entryMoves reports whether the change gives the item a different key in index x.
func entryMoves(x *catalog.Index, old, next itemenc.Item) (bool, error) {
	if old == nil || next == nil {
		return true, nil
	}
	for _, part := range [2][]catalog.KeyAttribute{x.PK, x.SK} {
		for _, k := range part {
			a, _, err := old.Lookup(k.Name)
			if err != nil {
				return false, err
			}
			b, _, err := next.Lookup(k.Name)
			if err != nil {
				return false, err
			}
			if a.Kind() != b.Kind() || !bytes.Equal(a.Text(), b.Text()) {
				return true, nil
			}
		}
	}
	return false, nil
}

// leave removes the old item's entry from index x if the item moves, and reports whether there was one.
func (w *write) leave(txn kv.Txn, ws *workspace, x *catalog.Index, moved bool) (had bool, err error) {
	if w.outcome.old == nil {
		return false, nil
	}
	ws.key, had, err = derive.AppendEntryKey(ws.key[:0], w.t, x, w.outcome.old)
	if err != nil || !had {
		return false, err
	}
	if !x.Readable { // the backfill may not have reached the item: then there is no entry to remove
		present, err := txn.Get(ws.key)
		if err != nil || present == nil {
			return false, err
		}
	}
	if moved {
		txn.Delete(ws.key)
	}
	return true, nil
}

// enter writes the new item's entry to index x, and reports whether it has one.
func (w *write) enter(txn kv.Txn, ws *workspace, x *catalog.Index, projected itemenc.Item) (has bool, err error) {
	if w.outcome.next == nil {
		return false, nil
	}
	ws.key, has, err = derive.AppendEntryKey(ws.key[:0], w.t, x, w.outcome.next)
	if err != nil || !has {
		return false, err
	}
	txn.Set(ws.key, projected)
	return true, nil
}

// chargeIndex counts the cost of a changed entry: one write of the larger version or, if the entry moves, a delete at its old
// partition hash and a write at the new one. An entry in which only the order of a set's members differs costs nothing.
func (w *write) chargeIndex(x *catalog.Index, before, after itemenc.Item, moved bool, left, hash uint16) error {
	cost := indexWrite{index: x, hash: hash}
	switch {
	case before == nil && after == nil:
		return nil
	case before != nil && after != nil && moved:
		cost.leftUnits, cost.leftHash = capacity.WriteUnits(sizeOf(before)), left
		cost.units = cost.leftUnits + capacity.WriteUnits(sizeOf(after))
	default:
		same, err := before.Equal(after)
		if err != nil || same {
			return err
		}
		cost.units = capacity.WriteUnits(max(sizeOf(before), sizeOf(after)))
	}
	entry := after
	if entry == nil {
		entry = before
	}
	var err error
	cost.key, err = hotKeyOf(x, entry)
	w.outcome.indexWrites = append(w.outcome.indexWrites, cost)
	return err
}

// addEntry adds the entry of a stored item to index x unless it exists: one step of a backfill. The caller holds the item's key.
func addEntry(txn kv.Txn, t *catalog.Table, x *catalog.Index, stored itemenc.Item) error {
	e, ok, err := derive.EntryOf(t, x, stored)
	if err != nil || !ok {
		return err
	}
	present, err := txn.Get(e.Key)
	if err != nil || present != nil {
		return err
	}
	txn.Set(e.Key, e.Value)
	addStatistics(txn, t, x.ID, 1, int64(e.Size))
	return nil
}
