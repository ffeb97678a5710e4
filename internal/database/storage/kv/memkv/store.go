// Package memkv is the store that lives in memory: for tests, and for databases that need not outlive
// their process.
//
// # Model
//
// One B-tree of immutable entries holds everything but the change logs, another one the logs, and an index by
// hash finds the entries of the latest state. Point reads and commits work on these under a lock. A snapshot is
// a copy-on-write copy of the trees, which costs as much as one node; it is shared by all who ask until the next
// commit, and whatever a commit then touches is copied first. A kept snapshot is one that has a name.
//
// # Invariants
//
//  1. An entry that was in the tree is never changed, so values can be handed to readers as they are, for as
//     long as those promise not to change them.
//  2. Commits are applied one at a time under the write lock, log records included: no reader sees a half,
//     and the order of a log is the order of commits.
//
// Change logs are kept as long as there is room for them: beyond 64 MiB, all logs together, the oldest records
// go as if they had been trimmed.
//
// Isolation of updates comes from the latches of package latch, as in every embedded store.
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

// entry is a key and its value, which is not nil; immutable once in a tree.
type entry struct {
	key, value []byte
}

type tree = btree.BTreeG[entry]

// logs are the records of each log, in ascending order. None is empty, and records are only ever appended or
// replaced by a new slice.
type logs = btree.Map[kv.LogID, []kv.Record]

// state is all that was committed at one moment; nobody changes it.
type state struct {
	tree *tree
	logs *logs
}

// degree makes nodes of up to 31 entries: 1.5 kB to copy for each level when a commit follows a snapshot.
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
	trimmed map[kv.LogID]kv.Seq // the last forgotten of each log that was trimmed
	kept    map[string]*kept
	seq     kv.Seq // last given out
	// logBytes is the length of all records in logs.
	logBytes int
}

// maxLogBytes bounds the change logs: memory is for the data, and what is written to it in a day can be many
// times as much.
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

// Limits are those of the persistent store, so that what fits into one fits into the other.
func (s *Store) Limits() kv.Limits { return kv.EmbeddedLimits() }

// Close frees nothing that snapshots still read.
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

// freeze returns the present state.
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
