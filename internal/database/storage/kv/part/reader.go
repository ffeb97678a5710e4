package part

import (
	"context"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// mapping turns the keys and logs of a part into those of the store below.
type mapping struct {
	prefix []byte
	log    kv.LogID
}

func (m *mapping) key(key []byte) []byte {
	return append(append(make([]byte, 0, len(m.prefix)+len(key)), m.prefix...), key...)
}

func (m *mapping) keys(keys [][]byte) [][]byte {
	below := make([][]byte, len(keys))
	for i, key := range keys {
		below[i] = m.key(key)
	}
	return below
}

// end is the upper end of a range: nil, and all that is a store's own, is the end of the part.
func (m *mapping) end(hi []byte) []byte {
	if hi == nil || hi[0] >= kv.ReservedPrefix {
		end := m.key(nil)
		end[len(end)-1] = 1 // after the zero that ends the name
		return end
	}
	return m.key(hi)
}

// reads are the reads of a part.
type reads struct {
	below kv.Reads
	mapping
}

func (r reads) Get(ctx context.Context, key []byte) ([]byte, error) {
	return r.below.Get(ctx, r.key(key))
}

func (r reads) Counter(ctx context.Context, key []byte) ([]int64, error) {
	return r.below.Counter(ctx, r.key(key))
}

func (r reads) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	it, err := r.below.Iter(ctx, r.key(lo), r.end(hi), o)
	if err != nil {
		return nil, err
	}
	return iterator{it, len(r.prefix)}, nil
}

func (r reads) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	s, err := r.below.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{reader{s, r.mapping}, s}, nil
}

// reader reads one state of a part.
type reader struct {
	below kv.Reader
	mapping
}

func (r *reader) Get(key []byte) ([]byte, error) { return r.below.Get(r.key(key)) }

func (r *reader) Counter(key []byte) ([]int64, error) { return r.below.Counter(r.key(key)) }

func (r *reader) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return iterator{r.below.Iter(r.key(lo), r.end(hi), o), len(r.prefix)}
}

// iterator takes the part's prefix from keys.
type iterator struct {
	kv.Iterator
	prefix int
}

func (it iterator) Key() []byte { return it.Iterator.Key()[it.prefix:] }

type snapshot struct {
	reader
	below kv.Snapshot
}

func (s *snapshot) ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	return s.below.ReadLog(s.log|log, after, limit)
}

func (s *snapshot) Close() error { return s.below.Close() }

// txn is an update of a part.
type txn struct {
	reader
	below kv.Txn
}

func (t *txn) Set(key, value []byte) { t.below.Set(t.key(key), value) }

func (t *txn) Delete(key []byte) { t.below.Delete(t.key(key)) }

func (t *txn) Add(key []byte, deltas ...int64) { t.below.Add(t.key(key), deltas...) }

func (t *txn) AppendLog(log kv.LogID, record []byte) { t.below.AppendLog(t.log|log, record) }

func (t *txn) Reserve(bytes int64) error { return t.below.Reserve(bytes) }

func (t *txn) LogSeq() kv.Seq { return t.below.LogSeq() }

func (t *txn) Advance(to kv.Seq) { t.below.Advance(to) }
