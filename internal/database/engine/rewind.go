package engine

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// rewinding reads the items of a table in a kept snapshot as they were at earlier times, using the old images in the log. It
// writes nothing, and its memory does not depend on the table: the key range is divided into stretches with at most max changed
// items, and the log is read once for each.
type rewinding struct {
	from  kv.Snapshot
	table keyenc.TableID
	max   int
}

func (r *rewinding) log() kv.LogID { return kv.LogID(r.table) }

// touched is a changed item.
type touched struct {
	key []byte
	// first and last are the numbers of its first and last change in the period, after that of its first change after the period,
	// or 0.
	first, last, after kv.Seq
}

// changedIn returns the items of [lo, hi) that were changed in a period, from <= time < to, in the order of their keys, and the
// end of the range covered: hi, or less if there are too many.
func (r *rewinding) changedIn(ctx context.Context, from, to int64, lo, hi []byte) (all []touched, end []byte, err error) {
	found := map[string]*touched{}
	err = r.changes(ctx, from, func(at int64, seq kv.Seq, key []byte) {
		if bytes.Compare(key, lo) < 0 || hi != nil && bytes.Compare(key, hi) >= 0 {
			return
		}
		x := found[string(key)]
		switch {
		case at < to && x == nil:
			found[string(key)] = &touched{key: bytes.Clone(key), first: seq, last: seq}
			if len(found) > r.max {
				hi = dropUpperHalf(found)
			}
		case at < to:
			x.last = seq
		case x != nil && x.after == 0:
			x.after = seq
		}
	})
	for _, x := range found {
		all = append(all, *x)
	}
	slices.SortFunc(all, func(a, b touched) int { return bytes.Compare(a.key, b.key) })
	return all, hi, err
}

// dropUpperHalf discards the items with the greater keys and returns the first of these keys.
func dropUpperHalf(found map[string]*touched) []byte {
	keys := make([]string, 0, len(found))
	for key := range found {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	half := len(keys) / 2
	for _, key := range keys[half:] {
		delete(found, key)
	}
	return []byte(keys[half])
}

// changes calls see for the changes of a time or later, in the order of the log.
func (r *rewinding) changes(ctx context.Context, since int64, see func(at int64, seq kv.Seq, key []byte)) error {
	first, err := firstSince(r.from, r.log(), 1, since)
	if err != nil {
		return err
	}
	for after := first - 1; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		records, err := r.from.ReadLog(r.log(), after, logChunk)
		if err != nil || len(records) == 0 {
			return err
		}
		for i := range records {
			after = records[i].Seq
			change, err := decodeRecord(r.log(), &records[i])
			if err != nil {
				return err
			}
			if change.Time >= since { // records of format 1 may have earlier times
				see(change.Time, after, change.Key)
			}
		}
	}
}

// record reads one record of the log.
func (r *rewinding) record(seq kv.Seq) (logenc.Change, error) {
	records, err := r.from.ReadLog(r.log(), seq-1, 1)
	if err != nil {
		return logenc.Change{}, err
	}
	if len(records) != 1 || records[0].Seq != seq {
		return logenc.Change{}, fmt.Errorf("engine: the log of table %d no longer has record %d", r.table, seq)
	}
	return decodeRecord(r.log(), &records[0])
}

// before returns the item as it was before a change, or nil if it did not exist.
func (r *rewinding) before(seq kv.Seq) (itemenc.Item, error) {
	change, err := r.record(seq)
	if err != nil || !change.Existed {
		return nil, err
	}
	if change.Old == nil {
		return nil, fmt.Errorf("engine: record %d of the log of table %d has no old image", seq, r.table)
	}
	return change.Old, nil
}

// items calls see for the items of [lo, hi) as they were before all changes of a time or later, in the order of their keys, until
// it returns false.
func (r *rewinding) items(ctx context.Context, since int64, lo, hi []byte, see func(key []byte, it itemenc.Item) (more bool, err error)) error {
	for {
		changed, end, err := r.changedIn(ctx, since, math.MaxInt64, lo, hi)
		if err != nil {
			return err
		}
		more, err := r.stretch(ctx, changed, lo, end, see)
		if err != nil || !more || bytes.Equal(end, hi) {
			return err
		}
		lo = end
	}
}

// stretch merges the items in the snapshot with those changed since.
func (r *rewinding) stretch(ctx context.Context, changed []touched, lo, hi []byte, see func(key []byte, it itemenc.Item) (bool, error)) (more bool, err error) {
	it := r.from.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	restore := func() (bool, error) {
		x := changed[0]
		changed = changed[1:]
		item, err := r.before(x.first)
		if err != nil || item == nil {
			return true, err
		}
		return see(x.key, item)
	}
	for n := 0; it.Next(); n++ {
		if n%logChunk == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		for len(changed) > 0 && bytes.Compare(changed[0].key, it.Key()) < 0 {
			if more, err := restore(); err != nil || !more {
				return more, err
			}
		}
		if len(changed) > 0 && bytes.Equal(changed[0].key, it.Key()) {
			more, err = restore()
		} else {
			more, err = see(it.Key(), it.Value())
		}
		if err != nil || !more {
			return more, err
		}
	}
	for len(changed) > 0 && it.Err() == nil {
		if more, err := restore(); err != nil || !more {
			return more, err
		}
	}
	return true, it.Err()
}
