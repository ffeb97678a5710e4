package memkv

import (
	"bytes"

	"github.com/tidwall/btree"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// snapshot reads an immutable state.
type snapshot struct{ *state }

func (s snapshot) ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	if limit <= 0 {
		return nil, nil
	}
	records, _ := s.logs.Get(log)
	records, _ = readLog(records, after, limit)
	return records, nil
}

func (s snapshot) Get(key []byte) ([]byte, error) {
	e, ok := s.tree.Get(entry{key: key})
	if !ok {
		return nil, nil
	}
	return e.value, nil
}

func (s snapshot) Counter(key []byte) ([]int64, error) {
	value, _ := s.Get(key)
	return counters.Decode(value)
}

func (s snapshot) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return newIterator(s.tree, lo, hi, o)
}

func (s snapshot) Close() error { return nil }

// iterator walks an immutable tree. It is before its first entry until the first Next.
type iterator struct {
	walk    btree.IterG[entry]
	lo, hi  []byte
	reverse bool
	state   iteratorState
	current entry
}

type iteratorState uint8

const (
	unpositioned iteratorState = iota
	positioned
	ended
)

func newIterator(t *tree, lo, hi []byte, o kv.IterOptions) *iterator {
	return &iterator{walk: t.Iter(), lo: bytes.Clone(lo), hi: bytes.Clone(hi), reverse: o.Reverse}
}

func (it *iterator) Next() bool {
	var ok bool
	switch {
	case it.state == ended:
		return false
	case it.state == unpositioned:
		it.state = positioned
		ok = it.first()
	case it.reverse:
		ok = it.walk.Prev()
	default:
		ok = it.walk.Next()
	}
	if ok {
		it.current = it.walk.Item()
		ok = it.inside()
	}
	if !ok {
		it.state, it.current = ended, entry{}
	}
	return ok
}

// first moves to the first entry of the range in the direction of iteration, or past its end.
func (it *iterator) first() bool {
	switch {
	case it.reverse && it.hi == nil:
		return it.walk.Last()
	case it.reverse:
		if it.walk.Seek(entry{key: it.hi}) {
			return it.walk.Prev()
		}
		return it.walk.Last()
	case it.lo == nil:
		return it.walk.First()
	}
	return it.walk.Seek(entry{key: it.lo})
}

// inside reports whether the current entry is before the end of the range.
func (it *iterator) inside() bool {
	if it.reverse {
		return bytes.Compare(it.current.key, it.lo) >= 0
	}
	return it.hi == nil || bytes.Compare(it.current.key, it.hi) < 0
}

func (it *iterator) Key() []byte   { return it.current.key }
func (it *iterator) Value() []byte { return it.current.value }
func (it *iterator) Err() error    { return nil }

func (it *iterator) Close() error {
	it.walk.Release()
	it.state, it.current = ended, entry{}
	return nil
}
