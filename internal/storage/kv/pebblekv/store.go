// Package pebblekv is the store on disk: Pebble, with the latches of package latch in front of it.
//
// # Model
//
// A store is a directory:
//
//	DIR/FORMAT    "monotable store format 1", written when the store is complete
//	DIR/pebble/   Pebble's own files
//
// and in Pebble's key space:
//
//	┌────────────────────┐
//	│ caller's key       │  values, and counters as merged terms
//	├──────┬───────┬─────┤
//	│ 0xF0 │ log 4 │ 8   │  change logs: log id, sequence number, both big endian
//	├──────┴───────┴─────┤
//	│ 0xF1 "sequence"    │  the number below which sequence numbers may have been given out
//	└────────────────────┘
//
// An update takes its latches, reads the live database, collects its writes in one batch, and commits it.
// Nothing else can touch what it holds, so there are no versions to check and nothing to retry.
//
// # Commit
//
// Pebble applies a batch, makes it visible, and brings its log to disk for many commits with one fsync. An
// update gives its latches back as soon as its batch is applied and ordered, before the fsync: whoever then
// reads what it wrote and writes in turn has a later place in the only log there is, so the later commit
// cannot be durable, nor acknowledged, without the earlier one. What a plain reader sees may be younger than
// the disk by one fsync, as with Pebble's own commits.
//
// An update that is a transaction keeps its latches until it is durable. Others may learn of it through
// ErrConflict, and for its caller it is under way until it is acknowledged; giving its keys away earlier
// would let conflicts come and go in the middle of it.
//
// # Invariants
//
//  1. Sequence numbers are taken while the update's latches are held, and are in flight until its commit is
//     as durable as the store makes it; ReadLog stops before the lowest number in flight.
//  2. A sequence number is used only when the number in key 0xF1 is above it, and on disk. The store opens at
//     that number, so that none is given out twice, whatever a crash loses and trimming removes.
//  3. After the first write that the disk refuses nothing more reaches the disk: see disk. Commits that were
//     not yet durable answer ErrUndetermined, later ones ErrFailed.
package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/storage/kv"
	"github.com/monotable/monotable/internal/storage/kv/counters"
	"github.com/monotable/monotable/internal/storage/kv/latch"
)

// Store implements kv.Store.
type Store struct {
	db       *pebble.DB
	disk     *disk
	lock     io.Closer // the directory's
	log      *slog.Logger
	latches  *latch.Table
	sequence *sequence
	txns     sync.Pool // of *txn

	durability Durability
	write      *pebble.WriteOptions // Sync or NoSync, as durability says
	dirty      atomic.Bool          // something was committed since the last sync of Interval
	stop       chan struct{}        // ends the goroutine of Interval
	stopped    sync.WaitGroup

	// life is held shared by every call and open snapshot, exclusively by Close.
	life   sync.RWMutex
	closed bool
}

// Get returns a copy of the latest committed value.
func (s *Store) Get(_ context.Context, key []byte) ([]byte, error) {
	if !s.begin() {
		return nil, kv.ErrClosed
	}
	defer s.end()
	return get(s.db, key)
}

// Counter returns the latest committed counters of a key.
func (s *Store) Counter(_ context.Context, key []byte) ([]int64, error) {
	if !s.begin() {
		return nil, kv.ErrClosed
	}
	defer s.end()
	return counter(s.db, key)
}

// Iter iterates over what was committed before the call. Pebble's iterators are consistent by themselves: a
// snapshot would take the database's lock twice more, and closing it looks for compactions to start, which
// together is a twentieth of what a query of 20 items costs.
func (s *Store) Iter(_ context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	if !s.begin() {
		return nil, kv.ErrClosed
	}
	it := newIterator(s.db, lo, hi, o)
	it.store = s
	return it, nil
}

// Snapshot returns everything committed before the call.
func (s *Store) Snapshot(context.Context) (kv.Snapshot, error) {
	if !s.begin() {
		return nil, kv.ErrClosed
	}
	return &snapshot{store: s, view: s.db.NewSnapshot()}, nil
}

// DeleteRange removes [lo, hi), values and counters.
func (s *Store) DeleteRange(_ context.Context, lo, hi []byte) error {
	if !s.begin() {
		return kv.ErrClosed
	}
	defer s.end()
	lo, hi, empty := bounds(lo, hi)
	if empty {
		return nil
	}
	return s.deleteRange(lo, hi)
}

func (s *Store) deleteRange(lo, hi []byte) error {
	if err := s.disk.failure(); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrFailed, err)
	}
	if err := s.db.DeleteRange(lo, hi, s.write); err != nil {
		return err
	}
	s.dirty.Store(true)
	if err := s.disk.failure(); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
	}
	return nil
}

// Limits of an update.
func (s *Store) Limits() kv.Limits { return kv.EmbeddedLimits() }

// quickReplay is how much log may be left for the next Open to read: a few milliseconds' worth.
const quickReplay = 1 << 20

// Close waits for calls under way and open snapshots, brings everything to disk and gives the directory free.
// A longer log is turned into tables, so that opening the store again is quick.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.stop)
	s.stopped.Wait()
	s.disk.close()
	var err error
	if s.disk.failure() == nil && s.db.Metrics().WAL.Size > quickReplay {
		err = s.db.Flush()
	}
	err = errors.Join(err, s.db.Close())
	if failure := s.disk.failure(); failure != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", kv.ErrFailed, failure))
	}
	return errors.Join(err, s.lock.Close())
}

// begin enters a call that Close waits for, unless Close has begun.
func (s *Store) begin() bool {
	if !s.life.TryRLock() {
		return false
	}
	if s.closed {
		s.life.RUnlock()
		return false
	}
	return true
}

func (s *Store) end() { s.life.RUnlock() }

// get returns a copy of a value, nil where the key is absent.
func get(r pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := r.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return nil, nil
		}
		return nil, err
	}
	own := append(make([]byte, 0, len(value)), value...)
	return own, closer.Close()
}

func counter(r pebble.Reader, key []byte) ([]int64, error) {
	value, err := get(r, key)
	if err != nil {
		return nil, err
	}
	return counters.Decode(value)
}
