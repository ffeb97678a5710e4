package memkv

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/overlay"
)

// Update holds the intent's keys, runs fn once and applies what it wrote.
func (s *Store) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	held, err := s.latches.Acquire(ctx, in)
	if err != nil {
		return err
	}
	defer held.Release()
	t := s.newTxn()
	defer s.endTxn(t)
	if err := fn(t); err != nil {
		return err
	}
	if t.tooLarge {
		return kv.ErrTooLarge
	}
	return s.commit(t)
}

// commit applies everything or, if the value of a counter's key is not a counter, nothing.
func (s *Store) commit(t *txn) error {
	if t.writes.Len() == 0 && len(t.adds) == 0 && len(t.records) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return kv.ErrClosed
	}
	sums, err := s.sums(t.adds)
	if err != nil {
		return err
	}
	s.advance(t.floor)
	s.shared = nil
	for key, value := range t.writes.All {
		if value == nil {
			s.delete(key)
		} else {
			s.set(entry{key, value})
		}
	}
	for _, e := range sums {
		s.set(e)
	}
	s.appendLog(t.records)
	return nil
}

// sums returns the counters' new entries, one for each key.
func (s *Store) sums(adds []entry) ([]entry, error) {
	sums := make([]entry, 0, min(len(adds), 8))
	for _, a := range adds {
		at := slices.IndexFunc(sums, func(e entry) bool { return bytes.Equal(e.key, a.key) })
		if at < 0 {
			at = len(sums)
			sums = append(sums, entry{a.key, s.index.get(s.live, a.key)})
		}
		sum, err := counters.Decode(sums[at].value)
		if err == nil {
			sum, err = counters.Add(sum, a.value)
		}
		if err != nil {
			return nil, fmt.Errorf("memkv: adding to key %x: %w", a.key, err)
		}
		sums[at].value = counters.Append([]byte{}, sum)
	}
	return sums, nil
}

// txn collects the writes of one update. It reads the live tree: what the intent holds cannot change.
type txn struct {
	store    *Store
	writes   overlay.Writes
	adds     []entry // deltas in stored form
	records  []record
	floor    kv.Seq // of Advance
	bytes    int
	tooLarge bool
}

type record struct {
	log  kv.LogID
	data []byte
}

func (s *Store) newTxn() *txn {
	if t, ok := s.txns.Get().(*txn); ok {
		return t
	}
	return &txn{store: s}
}

func (s *Store) endTxn(t *txn) {
	t.writes.Reset()
	clear(t.adds)
	clear(t.records)
	t.adds, t.records = t.adds[:0], t.records[:0]
	t.floor, t.bytes, t.tooLarge = 0, 0, false
	s.txns.Put(t)
}

func (t *txn) Get(key []byte) ([]byte, error) {
	if value, ok := t.writes.Get(key); ok {
		return value, nil
	}
	return t.store.get(key), nil
}

func (t *txn) Counter(key []byte) ([]int64, error) {
	return counters.Decode(t.store.get(key))
}

func (t *txn) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return t.writes.Iter(newIterator(t.store.freeze().tree, lo, hi, o), lo, hi, o)
}

func (t *txn) Set(key, value []byte) {
	if e, ok := t.keep(key, value); ok {
		t.writes.Set(e.key, e.value)
	}
}

func (t *txn) Delete(key []byte) {
	if e, ok := t.keep(key, nil); ok {
		t.writes.Delete(e.key)
	}
}

func (t *txn) Add(key []byte, deltas ...int64) {
	if e, ok := t.keep(key, nil); ok {
		e.value = counters.Append(make([]byte, 0, 2*len(deltas)), deltas)
		t.adds = append(t.adds, e)
	}
}

func (t *txn) AppendLog(log kv.LogID, data []byte) {
	if e, ok := t.keep(nil, data); ok {
		t.records = append(t.records, record{log, e.value})
	}
}

// Reserve always succeeds: a store in memory does not limit the memory of updates.
func (t *txn) Reserve(int64) error { return nil }

// LogSeq returns the next number to be assigned: an update that held this update's keys before has been applied.
func (t *txn) LogSeq() kv.Seq {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.store.advance(t.floor)
	return t.store.seq + 1
}

func (t *txn) Advance(to kv.Seq) { t.floor = max(t.floor, to) }

// keep copies a key and value, unless they exceed the limits.
func (t *txn) keep(key, value []byte) (entry, bool) {
	t.bytes += len(key) + len(value)
	l := kv.EmbeddedLimits()
	if len(key) > l.KeyBytes || len(value) > l.ValueBytes || t.bytes > l.TxnBytes {
		t.tooLarge = true
		return entry{}, false
	}
	return newEntry(key, value), true
}

// newEntry copies a key and value into a single allocation.
func newEntry(key, value []byte) entry {
	both := make([]byte, len(key)+len(value))
	n := copy(both, key)
	copy(both[n:], value)
	return entry{both[:n:n], both[n:]}
}
