package engine

import (
	"bytes"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/engine/vector"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// maintainVector is maintain for a vector index.
func (w *write) maintainVector(txn kv.Txn, ws *workspace, x *catalog.Index) (grown int64, err error) {
	before, after := &ws.vectors[0], &ws.vectors[1]
	had, err := before.SetVector(w.t, x, w.outcome.old)
	if err != nil {
		return 0, err
	}
	has, err := after.SetVector(w.t, x, w.outcome.next)
	if err != nil || !had && !has {
		return 0, err
	}
	moved := !had || !has || !bytes.Equal(before.Key, after.Key)
	if !moved && bytes.Equal(before.Value, after.Value) {
		return 0, nil
	}
	if had && !x.Readable { // the backfill may not have reached the item: then there is no entry to remove
		present, err := txn.Get(before.Key)
		if err != nil {
			return 0, err
		}
		had = present != nil
	}
	var items int64
	if had {
		items, grown = -1, -int64(before.Size)
		if moved {
			txn.Delete(before.Key)
		}
	}
	if has {
		items, grown = items+1, grown+int64(after.Size)
		txn.Set(after.Key, after.Value)
	}
	addStatistics(txn, w.t, x.ID, items, grown)
	return grown, w.chargeVector(x, before, after, had, has, moved)
}

// chargeVector counts the bytes of a change of a vector index: of the larger entry, or of both if the entry moves. An entry in
// which only the order of a set's members differs costs nothing.
func (w *write) chargeVector(x *catalog.Index, before, after *derive.Entry, had, has, moved bool) error {
	var bytes int
	switch {
	case !had && !has:
		return nil
	case !has:
		bytes = before.Size
	case !had:
		bytes = after.Size
	case moved:
		bytes = before.Size + after.Size
	default:
		if same, err := sameView(before.Value, after.Value, x.Vector.Dimensions); err != nil || same {
			return err
		}
		bytes = max(before.Size, after.Size)
	}
	w.outcome.indexWrites = append(w.outcome.indexWrites, indexWrite{index: x, units: float64(bytes)})
	return nil
}

func sameView(a, b []byte, dimensions int) (bool, error) {
	va, ia, err := vector.Split(a, dimensions)
	if err != nil {
		return false, err
	}
	var vb []byte
	var ib itemenc.Item
	if vb, ib, err = vector.Split(b, dimensions); err != nil || !bytes.Equal(va, vb) {
		return false, err
	}
	return ia.Equal(ib)
}
