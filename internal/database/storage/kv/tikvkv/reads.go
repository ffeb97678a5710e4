//go:build tikv

package tikvkv

import (
	"bytes"
	"context"
	"math"
	"sync"

	"github.com/tikv/client-go/v2/txnkv/txnsnapshot"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// view reads the store at a timestamp. It must not be used concurrently.
type view struct {
	store *Store
	ctx   context.Context //nolint:containedctx // the caller's: a reader's methods have none
	at    uint64
	snap  *txnsnapshot.KVSnapshot
}

// view returns what had been committed at a timestamp.
func (s *Store) view(ctx context.Context, at uint64) *view {
	return &view{s, ctx, at, s.client.GetSnapshot(at)}
}

// latest returns a view of everything that was committed before the call.
func (s *Store) latest(ctx context.Context) (*view, error) {
	at, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	return s.view(ctx, at), nil
}

func (v *view) row(key []byte) (row []byte, err error) {
	err = inTime(v.ctx, func(ctx context.Context) (err error) {
		row, err = v.snap.Get(ctx, key)
		return notFound(err)
	})
	return row, err
}

func (v *view) rows(keys [][]byte) (rows map[string][]byte, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	err = inTime(v.ctx, func(ctx context.Context) (err error) {
		rows, err = v.snap.BatchGet(ctx, keys)
		return err
	})
	return rows, err
}

func (v *view) meta() (meta, error) {
	row, err := v.row(v.store.key(metaSpace))
	if err != nil {
		return meta{}, err
	}
	return decodeMeta(row)
}

func (v *view) Get(key []byte) ([]byte, error) {
	row, err := v.row(v.store.key(valueSpace, key...))
	return value(row), err
}

func (v *view) Counter(key []byte) ([]int64, error) {
	row, err := v.row(v.store.key(valueSpace, key...))
	if err != nil || len(row) == 0 || row[0] != isCounter {
		return nil, err
	}
	return v.sums(key, row)
}

// sums adds up the shards of a counter that belong to its generation.
func (v *view) sums(key, mark []byte) ([]int64, error) {
	lo := v.store.shardKey(key, 0)
	sums := []int64{}
	it := v.scan(lo, append(v.store.shardKey(key, math.MaxUint16), 0), kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		if generation, deltas := it.row[:8], it.row[8:]; bytes.Equal(generation, mark[1:]) {
			var err error
			if sums, err = counters.Add(sums, deltas); err != nil {
				return nil, err
			}
		}
	}
	return sums, it.Err()
}

func (v *view) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	end := v.store.end(valueSpace)
	if hi != nil {
		end = v.store.key(valueSpace, hi...)
	}
	return &iterator{scan: v.scan(v.store.key(valueSpace, lo...), end, o)}
}

// records reads a log: at most limit records after a number, ending with the record that reaches kv.LogReadBytes.
func (v *view) records(log kv.LogID, after kv.Seq, limit int) (list []kv.Record, err error) {
	if limit <= 0 || after == math.MaxUint64 {
		return nil, nil
	}
	it := v.scan(v.store.recordKey(log, after+1), append(v.store.recordKey(log, math.MaxUint64), 0), kv.IterOptions{Limit: min(limit, 256)})
	defer it.Close()
	for size := 0; len(list) < limit && size < kv.LogReadBytes && it.Next(); {
		list = append(list, kv.Record{Seq: seqOf(it.key), Data: append([]byte{}, it.row[1:]...)})
		size += len(it.row) - 1
	}
	return list, it.Err()
}

// Get returns a copy of the latest committed value. The maximum timestamp means the latest, so no placement driver has to be
// asked.
func (s *Store) Get(ctx context.Context, key []byte) (v []byte, err error) {
	err = s.call(ctx, func(ctx context.Context) (err error) {
		v, err = s.view(ctx, math.MaxUint64).Get(key)
		return err
	})
	return v, err
}

// Counter returns the latest committed counters of a key.
func (s *Store) Counter(ctx context.Context, key []byte) (sums []int64, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		v, err := s.latest(ctx)
		if err == nil {
			sums, err = v.Counter(key)
		}
		return err
	})
	return sums, err
}

// open returns a view that counts as a call of the store until leave, and prevents the removal of the versions it sees.
func (s *Store) open(ctx context.Context) (v *view, release func(), err error) {
	if err := s.enter(); err != nil {
		return nil, nil, err
	}
	err = inTime(ctx, func(own context.Context) error {
		at, err := s.now(own)
		v = s.view(ctx, at)
		return err
	})
	if err != nil {
		s.leave()
		return nil, nil, err
	}
	forget := s.held.add(v.at)
	return v, sync.OnceFunc(func() { forget(); s.leave() }), nil
}

// Iter iterates over what was committed before the call.
func (s *Store) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	v, release, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	it := v.Iter(lo, hi, o).(*iterator) //nolint:forcetypeassert // a view's
	it.release = release
	return it, nil
}

// Snapshot returns everything committed before the call.
func (s *Store) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	v, release, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{v, release}, nil
}

type snapshot struct {
	*view
	release func()
}

func (s *snapshot) ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	return s.records(log, after, limit)
}

func (s *snapshot) Close() error {
	s.release()
	return nil
}

// DeleteRange removes keys in updates of some thousands: TiKV's own range deletion would also remove them from open snapshots.
func (s *Store) DeleteRange(ctx context.Context, lo, hi []byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	end := s.end(valueSpace)
	if hi != nil {
		end = s.key(valueSpace, hi...)
	}
	for from := s.key(valueSpace, lo...); from != nil; {
		var next []byte
		err := inTime(ctx, func(ctx context.Context) error {
			return s.again(ctx, func() (err error) {
				next, err = s.deleteSome(ctx, from, end)
				return err
			})
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

const (
	deleteRows  = 2000
	deleteBytes = 1 << 20
)

// deleteSome deletes the first keys of a range, and returns the start of the rest, nil if there is none.
func (s *Store) deleteSome(ctx context.Context, from, end []byte) (next []byte, err error) {
	t, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	it := t.scan(from, end, kv.IterOptions{})
	size := 0
	for it.Next() {
		if len(keys) >= deleteRows || size > deleteBytes {
			next = bytes.Clone(it.key)
			break
		}
		keys = append(keys, bytes.Clone(it.key))
		size += len(it.key)
		if it.row[0] == isCounter {
			key := it.key[len(s.prefix)+1:]
			parts := t.scan(s.shardKey(key, 0), append(s.shardKey(key, math.MaxUint16), 0), kv.IterOptions{})
			for parts.Next() {
				keys = append(keys, bytes.Clone(parts.key))
			}
			err = parts.Err()
			_ = parts.Close()
		}
	}
	if err == nil {
		err = it.Err()
	}
	_ = it.Close()
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	for _, key := range keys {
		if err := t.tx.Delete(key); err != nil {
			return nil, err
		}
	}
	return next, t.send()
}
