package overlay

import (
	"bytes"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Iter returns an iterator over [lo, hi) of the store, overlaid with the writes. base iterates over the same range in the same
// direction and is closed with the result; a nil hi means no end.
func (w *Writes) Iter(base kv.Iterator, lo, hi []byte, o kv.IterOptions) kv.Iterator {
	own := w.sorted(lo, hi, o.Reverse)
	if len(own) == 0 {
		return base
	}
	return &iterator{base: base, own: own, reverse: o.Reverse}
}

// Last calls yield with the last write of each key, keys in ascending order; value is nil for a deletion.
func (w *Writes) Last(yield func(key, value []byte) bool) {
	for _, x := range w.sorted(nil, nil, false) {
		if !yield(x.key, x.value) {
			return
		}
	}
}

// sorted returns the last write of each key in [lo, hi), in the order of iteration.
func (w *Writes) sorted(lo, hi []byte, reverse bool) []write {
	var own []write
	for _, x := range w.list {
		if bytes.Compare(x.key, lo) >= 0 && (hi == nil || bytes.Compare(x.key, hi) < 0) {
			own = append(own, x)
		}
	}
	slices.Reverse(own) // the last write of a key is now the first of its equals, and is kept
	slices.SortStableFunc(own, func(a, b write) int { return bytes.Compare(a.key, b.key) })
	own = slices.CompactFunc(own, func(a, b write) bool { return bytes.Equal(a.key, b.key) })
	if reverse {
		slices.Reverse(own)
	}
	return own
}

// iterator merges two sorted sequences; if both have a key, the update's own write hides the store's.
type iterator struct {
	base    kv.Iterator
	own     []write // the remaining writes of the update
	reverse bool

	started  bool
	baseMore bool // base is on an entry that has not been returned yet
	current  write
}

func (it *iterator) Next() bool {
	if !it.started {
		it.started, it.baseMore = true, it.base.Next()
	} else if it.current.key == nil {
		it.baseMore = it.baseMore && it.base.Next()
	}
	for {
		it.current = write{}
		if len(it.own) == 0 {
			return it.baseMore
		}
		if it.baseMore {
			order := bytes.Compare(it.base.Key(), it.own[0].key)
			if it.reverse {
				order = -order
			}
			if order < 0 {
				return true
			}
			if order == 0 {
				it.baseMore = it.base.Next()
			}
		} else if it.base.Err() != nil {
			return false
		}
		own := it.own[0]
		it.own = it.own[1:]
		if own.value != nil {
			it.current = own
			return true
		}
	}
}

// Key returns the current key, of the update's write or of the store.
func (it *iterator) Key() []byte {
	if it.current.key != nil {
		return it.current.key
	}
	return it.base.Key()
}

func (it *iterator) Value() []byte {
	if it.current.key != nil {
		return it.current.value
	}
	return it.base.Value()
}

func (it *iterator) Err() error   { return it.base.Err() }
func (it *iterator) Close() error { return it.base.Close() }
