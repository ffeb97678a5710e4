// Package complete turns a kv.Core into a complete kv.Store: it implements the features that a core lacks by means of the core
// itself.
//
// # Model
//
// Features that the core has in addition to kv.Core are detected by their interfaces (kv.Loader, kv.Sizer, kv.Compacter,
// kv.Splitter, kv.Keeper, kv.Disk), and used. Loading change logs with existing record numbers (kv.Logs) cannot be built on a core: see
// NewWithLogs. For the rest:
//
//   - a bulk load consists of updates;
//
//   - sizes are the lengths of what is read;
//
//   - compaction and splitting do nothing;
//
//   - a kept snapshot is a copy, made from a snapshot of the core, in keys of this package:
//
//     0xE0 name             the record of a kept snapshot: its id and progress
//     0xE1 id key           an entry, in the form of the core's iterators
//     0xE2 id log number    a record of a change log
//
// # Invariants
//
//  1. A copy is visible to callers once its record says that it is complete, which is written last.
//  2. Everything that writes a copy checks its record in the same update. An incomplete copy is removed by the next call of Keep with its name in any process,
//     or with any name if it has made no progress for a minute: first its record is marked, and the record is removed last.
//
// All methods are safe for concurrent use, also by several processes that have the store open.
package complete

import (
	"bytes"
	"context"
	"errors"
	"math"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Store implements kv.Store on a core.
type Store struct{ kv.Core }

// New returns the store of a core, of which it takes ownership.
func New(core kv.Core) *Store { return &Store{core} }

// WithLogs is the store of a core with kv.Logs, into which databases can be moved.
type WithLogs struct {
	*Store
	logsOfCore
}

type logsOfCore interface{ kv.Logs }

// NewWithLogs is New for a core with kv.Logs.
func NewWithLogs(core interface {
	kv.Core
	kv.Logs
},
) *WithLogs {
	return &WithLogs{New(core), core}
}

// end limits the upper end of a range to the callers' keys.
func end(hi []byte) []byte {
	if last := []byte{kv.ReservedPrefix}; hi == nil || bytes.Compare(hi, last) > 0 {
		return last
	}
	return hi
}

// Limits implements kv.Core: a copied key is longer than the original.
func (s *Store) Limits() kv.Limits {
	l := s.Core.Limits()
	l.KeyBytes -= len(copyPrefix(entries, 0))
	return l
}

// Iter implements kv.Reads.
func (s *Store) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	return s.Core.Iter(ctx, lo, end(hi), o)
}

// Snapshot implements kv.Reads.
func (s *Store) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	return reads{s.Core}.Snapshot(ctx)
}

// Eventual implements kv.Core.
func (s *Store) Eventual() kv.Reads { return reads{s.Core.Eventual()} }

// Update implements kv.Core.
func (s *Store) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	keyBytes := s.Limits().KeyBytes
	return s.Core.Update(ctx, in, func(below kv.Txn) error {
		t := &txn{Txn: below, keyBytes: keyBytes}
		if err := fn(t); err != nil {
			return err
		}
		return t.err
	})
}

// DeleteRange implements kv.Core.
func (s *Store) DeleteRange(ctx context.Context, lo, hi []byte) error {
	return s.Core.DeleteRange(ctx, lo, end(hi))
}

// Load implements kv.Loader.
func (s *Store) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	native, has := s.Core.(kv.Loader)
	if !has {
		if err := s.open(ctx); err != nil {
			return err
		}
		return kv.LoadByUpdates(ctx, s.Limits(), s.Core.Update, fill)
	}
	keyBytes := s.Limits().KeyBytes
	return native.Load(ctx, func(put func(key, value []byte) error) error {
		return fill(func(key, value []byte) error {
			if len(key) > keyBytes {
				return kv.ErrTooLarge
			}
			return put(key, value)
		})
	})
}

// open checks that the core is open, for methods that would not call it.
func (s *Store) open(ctx context.Context) error {
	if _, err := s.Get(ctx, []byte{records}); err != nil {
		return err
	}
	return ctx.Err()
}

// Size implements kv.Sizer.
func (s *Store) Size(ctx context.Context, lo, hi []byte) (n int64, err error) {
	if native, has := s.Core.(kv.Sizer); has {
		return native.Size(ctx, lo, end(hi))
	}
	it, err := s.Iter(ctx, lo, hi, kv.IterOptions{})
	if err != nil {
		return 0, err
	}
	defer it.Close()
	for it.Next() {
		n += int64(len(it.Key()) + len(it.Value()))
	}
	return n, it.Err()
}

// LogSize implements kv.Sizer.
func (s *Store) LogSize(ctx context.Context, log kv.LogID, after kv.Seq) (n int64, err error) {
	if native, has := s.Core.(kv.Sizer); has {
		return native.LogSize(ctx, log, after)
	}
	for {
		read, _, err := s.ReadLog(ctx, log, after, math.MaxInt)
		if err != nil || len(read) == 0 {
			return n, err
		}
		for _, r := range read {
			n += int64(len(r.Data))
		}
		after = read[len(read)-1].Seq
	}
}

// Compact implements kv.Compacter.
func (s *Store) Compact(ctx context.Context, lo, hi []byte) error {
	if native, has := s.Core.(kv.Compacter); has {
		return native.Compact(ctx, lo, hi)
	}
	return s.open(ctx)
}

// Split implements kv.Splitter.
func (s *Store) Split(ctx context.Context, keys [][]byte) error {
	if native, has := s.Core.(kv.Splitter); has {
		return native.Split(ctx, keys)
	}
	return nil
}

// DiskUsage implements kv.Disk.
func (s *Store) DiskUsage() (kv.DiskUsage, error) {
	if native, has := s.Core.(kv.Disk); has {
		return native.DiskUsage()
	}
	if err := s.Health(); errors.Is(err, kv.ErrClosed) {
		return kv.DiskUsage{}, err
	}
	return kv.DiskUsage{}, nil
}

// The following types end ranges at the end of the callers' keys.

type reads struct{ kv.Reads }

func (r reads) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	return r.Reads.Iter(ctx, lo, end(hi), o)
}

func (r reads) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	below, err := r.Reads.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return snapshot{below}, nil
}

type snapshot struct{ kv.Snapshot }

func (s snapshot) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator {
	return s.Snapshot.Iter(lo, end(hi), o)
}

// txn also rejects keys that could not be copied.
type txn struct {
	kv.Txn
	keyBytes int
	err      error
}

func (t *txn) Iter(lo, hi []byte, o kv.IterOptions) kv.Iterator { return t.Txn.Iter(lo, end(hi), o) }

func (t *txn) check(key []byte) {
	if len(key) > t.keyBytes {
		t.err = kv.ErrTooLarge
	}
}

func (t *txn) Set(key, value []byte) {
	t.check(key)
	t.Txn.Set(key, value)
}

func (t *txn) Add(key []byte, deltas ...int64) {
	t.check(key)
	t.Txn.Add(key, deltas...)
}
