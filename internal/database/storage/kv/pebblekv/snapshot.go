package pebblekv

import (
	"bytes"
	"context"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// snapshot is a state of the database: one of Pebble's snapshots, or a kept one.
type snapshot struct {
	store    *Store
	view     pebble.Reader
	unsynced *unsynced // what its reads wait for; nil if they do not wait, or the whole view is durable
}

func (s *snapshot) Get(key []byte) (value []byte, err error) {
	if err := s.store.failure(); err != nil {
		return nil, err
	}
	defer s.store.catch(&err)
	value, err = get(s.view, key)
	if err == nil && s.unsynced.hasKey(key) {
		err = s.settle()
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

func (s *snapshot) Counter(key []byte) ([]int64, error) {
	value, err := s.Get(key)
	if err != nil {
		return nil, err
	}
	return counters.Decode(value)
}

func (s *snapshot) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	it := newIterator(s.store, s.view, lo, hi, o)
	if s.unsynced.hasRange(lo, hi) {
		if err := s.settle(); err != nil {
			it.end(err)
		}
	}
	return it
}

// settle waits until the view is durable, after which it remains so.
func (s *snapshot) settle() error {
	if err := s.store.settle(); err != nil {
		return err
	}
	s.unsynced = nil
	return nil
}

// ReadLog needs no bound: everything that is applied in the snapshot is there.
func (s *snapshot) ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	if after == math.MaxUint64 || limit <= 0 {
		return nil, nil
	}
	if s.unsynced.any() {
		if err := s.settle(); err != nil {
			return nil, err
		}
	}
	records, _, err := readLog(context.Background(), s.view, log, after, math.MaxUint64, limit)
	return records, err
}

// Close releases the snapshot. Further calls do nothing.
func (s *snapshot) Close() error {
	if s.view == nil {
		return nil
	}
	err := s.view.Close()
	s.view = nil
	s.store.end()
	return err
}

// iterator adapts Pebble's iterator to the contract. It reads no data before the first Next.
type iterator struct {
	store   *Store
	waited  bool             // the store waits for this iterator itself, not for its snapshot or update
	walk    *pebble.Iterator // nil if the range is empty or it could not be created
	reverse bool
	begun   bool
	ended   bool
	err     error

	recording *recording // of what is read; nil if it is not to be cached
}

func newIterator(s *Store, r pebble.Reader, lo, hi []byte, o kv.IterOptions) *iterator {
	lo, hi, empty := bounds(lo, hi)
	if empty {
		return &iterator{store: s, ended: true}
	}
	if err := s.failure(); err != nil {
		return &iterator{store: s, ended: true, err: err}
	}
	walk, err := r.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	err = s.explain(err)
	return &iterator{store: s, walk: walk, reverse: o.Reverse, ended: err != nil, err: err}
}

// bounds restricts a range to the callers' keys and reports whether it is empty.
func bounds(lo, hi []byte) (from, to []byte, empty bool) {
	if end := []byte{kv.ReservedPrefix}; hi == nil || bytes.Compare(hi, end) > 0 {
		hi = end
	}
	return lo, hi, bytes.Compare(lo, hi) >= 0
}

func (it *iterator) Next() (found bool) {
	defer it.catch()
	var ok bool
	switch {
	case it.ended:
		return false
	case !it.begun:
		it.begun = true
		if it.reverse {
			ok = it.walk.Last()
		} else {
			ok = it.walk.First()
		}
	case it.reverse:
		ok = it.walk.Prev()
	default:
		ok = it.walk.Next()
	}
	if !ok {
		it.end(it.walk.Error())
	}
	if it.recording != nil {
		it.record(ok)
	}
	return ok
}

// record records the entry that Next has read, or the end.
func (it *iterator) record(ok bool) {
	if it.err != nil {
		return
	}
	if !ok {
		it.recording.end(true)
	} else if value, err := it.walk.ValueAndErr(); err == nil && it.recording.add(it.walk.Key(), value) {
		return
	} else {
		it.recording.discard()
	}
	it.recording = nil
}

// catch ends an iteration with which Pebble could not continue.
func (it *iterator) catch() {
	if reason := recover(); reason != nil {
		fault, ok := reason.(fatalPanic)
		if !ok {
			panic(reason)
		}
		it.end(fault.err)
	}
}

func (it *iterator) Key() []byte { return it.walk.Key() }

func (it *iterator) Value() []byte {
	value, err := it.walk.ValueAndErr()
	if err != nil {
		it.end(err)
	}
	return value
}

func (it *iterator) Err() error { return it.err }

func (it *iterator) Close() error {
	if it.recording != nil && !it.ended {
		it.recording.end(false)
	} else if it.recording != nil {
		it.recording.discard()
	}
	it.recording, it.ended = nil, true
	var err error
	if it.walk != nil {
		err = it.store.explain(it.walk.Close())
		it.walk = nil
	}
	if it.waited {
		it.waited = false
		it.store.end()
	}
	return err
}

func (it *iterator) end(err error) {
	it.ended = true
	if it.err == nil {
		it.err = it.store.explain(err)
	}
}
