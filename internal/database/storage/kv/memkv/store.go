// Package memkv is the store in memory: for tests, and for databases that need not outlive their process.
//
// # Model
//
// One B-tree of immutable entries holds everything except the change logs, another one the logs, and a hash index finds the
// entries of the latest state. Point reads and commits use these under a lock. A snapshot is a copy-on-write copy of the trees,
// which initially costs one node. It is shared by all snapshots until the next commit, and whatever a commit then modifies is
// copied first. A kept snapshot is one with a name.
//
// # Invariants
//
//  1. An entry in the tree is never modified, so values can be passed to readers without copying, as long as they
//     promise not to modify them.
//  2. Commits are applied one at a time under the write lock, including log records: no reader sees part of one,
//     and the order of a log is the commit order.
//
// Change logs are limited to 64 MiB in total: beyond that, the oldest records are deleted as if they had been trimmed.
//
// The latches of package latch isolate updates, as in every embedded store.
package memkv

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/latch"
)

// entry is a key and its value, which is not nil; immutable once it is in a tree.
type entry struct {
	key, value []byte
}

type tree = btree.BTreeG[entry]

// logs are the records of each log, in ascending order. None is empty, and records are only appended or replaced by a new slice.
type logs = btree.Map[kv.LogID, []kv.Record]

// state is everything committed at one moment; it is immutable.
type state struct {
	tree *tree
	logs *logs
}

// degree gives nodes of up to 31 entries: 1.5 kB to copy for each level when a commit follows a snapshot.
const degree = 16

// Store implements kv.Store.
type Store struct {
	latches *latch.Table
	closed  atomic.Bool
	txns    sync.Pool // of *txn

	mu      sync.RWMutex
	live    *tree
	index   *index // of live
	logs    *logs
	shared  *state              // copy of live and logs for snapshots; nil if they have changed since
	trimmed map[kv.LogID]kv.Seq // the last deleted number of each trimmed log
	kept    map[string]*kept
	seq     kv.Seq // last assigned
	// logBytes is the length of all records in logs.
	logBytes int
}

// maxLogBytes limits the change logs: memory is for the data, and a day of writes can be many times as large.
const maxLogBytes = 64 << 20

// New returns an empty store.
func New() *Store {
	return &Store{
		latches: latch.New(),
		live: btree.NewBTreeGOptions(
			func(a, b entry) bool { return bytes.Compare(a.key, b.key) < 0 },
			btree.Options{Degree: degree, NoLocks: true},
		),
		index:   newIndex(),
		logs:    new(logs),
		trimmed: make(map[kv.LogID]kv.Seq),
		kept:    make(map[string]*kept),
	}
}

// Get returns a copy of the latest committed value.
func (s *Store) Get(_ context.Context, key []byte) ([]byte, error) {
	if s.closed.Load() {
		return nil, kv.ErrClosed
	}
	value := s.get(key)
	if value == nil {
		return nil, nil
	}
	return append(make([]byte, 0, len(value)), value...), nil
}

// Counter returns the latest committed counters of a key.
func (s *Store) Counter(_ context.Context, key []byte) ([]int64, error) {
	if s.closed.Load() {
		return nil, kv.ErrClosed
	}
	return counters.Decode(s.get(key))
}

// Iter iterates over what was committed before the call.
func (s *Store) Iter(_ context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	if s.closed.Load() {
		return nil, kv.ErrClosed
	}
	return newIterator(s.freeze().tree, lo, hi, o), nil
}

// Snapshot returns everything committed before the call.
func (s *Store) Snapshot(context.Context) (kv.Snapshot, error) {
	if s.closed.Load() {
		return nil, kv.ErrClosed
	}
	return snapshot{s.freeze()}, nil
}

// Eventual returns the store: nothing in memory is more durable than the rest.
func (s *Store) Eventual() kv.Reads { return s }

// DeleteRange removes [lo, hi).
func (s *Store) DeleteRange(_ context.Context, lo, hi []byte) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shared = nil
	var doomed []entry
	s.live.Ascend(entry{key: lo}, func(e entry) bool {
		if hi != nil && bytes.Compare(e.key, hi) >= 0 {
			return false
		}
		doomed = append(doomed, e)
		return true
	})
	for _, e := range doomed {
		s.delete(e.key)
	}
	return nil
}

// Limits returns those of the persistent store, so that the same data fits into both.
func (s *Store) Limits() kv.Limits { return kv.EmbeddedLimits() }

// Close keeps what snapshots still read.
func (s *Store) Close() error {
	s.closed.Store(true)
	return nil
}

func (s *Store) get(key []byte) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.get(s.live, key)
}

// set and delete change the live state; the caller holds the lock.
func (s *Store) set(e entry) {
	s.live.Set(e)
	s.index.set(e)
}

func (s *Store) delete(key []byte) {
	s.live.Delete(entry{key: key})
	s.index.delete(key)
}

// freeze returns the current state.
func (s *Store) freeze() *state {
	s.mu.RLock()
	shared := s.shared
	s.mu.RUnlock()
	if shared != nil {
		return shared
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frozen()
}

// frozen is freeze for a caller that holds the lock.
func (s *Store) frozen() *state {
	if s.shared == nil {
		s.shared = &state{s.live.Copy(), s.logs.Copy()}
	}
	return s.shared
}
