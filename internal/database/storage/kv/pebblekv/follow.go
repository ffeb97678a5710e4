package pebblekv

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// commits is the state shared by all commits.
type commits struct {
	// gate is held shared by each commit, from before it is applied until it is durable, and exclusively by a Follower that cuts
	// or holds.
	gate     sync.RWMutex
	follower *Follower // nil without a follower
	refusal  error     // the error of all commits, once the store has been left
}

// Follower records what a store's commits change, so that a copy can follow the store. It can hold commits back, and finally
// leave the store: then no more commits are accepted.
//
//	Follow ─► Cut … ─► Hold ─► Release ─► Cut …
//	                        └► Set ─► Leave
//
// It is not safe for concurrent use. Without a follower, commits only pay for the shared lock.
type Follower struct {
	store   *Store
	holding bool

	mu      sync.Mutex
	changes kv.Changes
}

// Follow starts recording. Any commit that Cut does not report is included in snapshots created from now on. There can be only
// one Follower at a time.
func (s *Store) Follow() (*Follower, error) {
	s.commits.gate.Lock()
	defer s.commits.gate.Unlock()
	if s.commits.follower != nil {
		return nil, errors.New("the store already has a follower")
	}
	if s.commits.refusal != nil {
		return nil, s.commits.refusal
	}
	f := &Follower{store: s}
	s.commits.follower = f
	return f, nil
}

// Cut returns what has changed since the last Cut or Hold, and a snapshot with exactly those changes. New commits wait while Cut
// waits for those in progress.
func (f *Follower) Cut() (kv.Snapshot, kv.Changes, error) {
	f.store.commits.gate.Lock()
	defer f.store.commits.gate.Unlock()
	return f.cut()
}

// Hold is Cut, after which commits wait until Release or Leave. Reads continue.
func (f *Follower) Hold() (kv.Snapshot, kv.Changes, error) {
	f.store.commits.gate.Lock()
	snapshot, changes, err := f.cut()
	if err != nil {
		f.store.commits.gate.Unlock()
		return nil, kv.Changes{}, err
	}
	f.holding = true
	return snapshot, changes, nil
}

func (f *Follower) cut() (kv.Snapshot, kv.Changes, error) {
	if err := f.store.begin(); err != nil {
		return nil, kv.Changes{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	changes := f.changes
	f.changes = kv.Changes{}
	return &snapshot{store: f.store, view: f.store.db.NewSnapshot(), unsynced: f.store.unsynced}, changes, nil
}

// Release lets commits continue after Hold.
func (f *Follower) Release() {
	if f.holding {
		f.holding = false
		f.store.commits.gate.Unlock()
	}
}

// Set durably sets one key while other commits wait. After an error with ErrUndetermined it is unknown whether it is set.
func (f *Follower) Set(key, value []byte) error {
	s := f.store
	if !f.holding {
		return errors.New("Follower.Set was called without Hold")
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := s.writable(); err != nil {
		return err
	}
	s.unsynced.beginRange() // the key is not held, so any update in progress may have read it
	err := s.db.Set(key, value, pebble.Sync)
	if err = errors.Join(err, s.disk.failure()); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
	}
	s.unsynced.endRange()
	return nil
}

// Leave ends following. All commits since Hold fail with an error, and so do updates that ask for a number. It returns a number
// greater than all assigned ones.
func (f *Follower) Leave(refusal error) (upcoming kv.Seq) {
	f.store.commits.refusal = refusal
	upcoming = f.store.sequence.end(refusal)
	f.store.commits.follower = nil
	f.Release()
	return upcoming
}

// Close ends following, unless Leave has been called. Commits continue.
func (f *Follower) Close() {
	f.Release()
	f.store.commits.gate.Lock()
	defer f.store.commits.gate.Unlock()
	if f.store.commits.follower == f {
		f.store.commits.follower = nil
	}
}

// beginCommit starts a commit; it waits while a follower cuts or holds.
func (s *Store) beginCommit() error {
	s.commits.gate.RLock()
	if err := s.commits.refusal; err != nil {
		s.commits.gate.RUnlock()
		return err
	}
	return nil
}

func (s *Store) endCommit() { s.commits.gate.RUnlock() }

// note records what a batch changes. The committer holds the gate.
func (f *Follower) note(batch *pebble.Batch) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changes.Keys == nil {
		f.changes.Keys = map[string]struct{}{}
	}
	for r := batch.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		if err != nil || !ok {
			return err
		}
		switch {
		case len(key) > 0 && key[0] >= kv.ReservedPrefix:
		case kind == pebble.InternalKeyKindRangeDelete:
			f.changes.Ranges = append(f.changes.Ranges, kv.Span{Lo: bytes.Clone(key), Hi: bytes.Clone(value)})
		default:
			f.changes.Keys[string(key)] = struct{}{}
		}
	}
}

// noteRange records a changed range. The committer holds the gate.
func (f *Follower) noteRange(span kv.Span) {
	if f == nil || span.Hi == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes.Ranges = append(f.changes.Ranges, span)
}
