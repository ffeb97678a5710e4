// Package pebblekv is the store on disk: Pebble, with the latches of package latch in front of it.
//
// # Model
//
// A store is a directory:
//
//	DIR/FORMAT    "monotable store format 1", written when the store is complete; "1 encrypted" if it is encrypted
//	DIR/KEYS      the sealed data keys of an encrypted store
//	DIR/pebble/   Pebble's own files
//	DIR/kept/     a directory for each kept snapshot: a Pebble checkpoint, by hard links
//	DIR/making/   incomplete files; Open removes them
//
// In an encrypted store all files in pebble, kept and making are encrypted: see package cryptfs. KEYS is created before the first
// of them.
//
// and in Pebble's key space:
//
//	┌────────────────────┐
//	│ caller's key       │  values, and counters as merged terms
//	├──────┬───────┬─────┤
//	│ 0xF0 │ log 4 │ 8   │  change logs: log id, sequence number, both big endian
//	├──────┴───────┴─────┤
//	│ 0xF1 "sequence"    │  the number below which sequence numbers may have been assigned
//	├────────────────────┤
//	│ 0xF1 "trimmed" log │  the last deleted sequence number of a log
//	└────────────────────┘
//
// An update takes its latches, reads the live database, collects its writes in batches, and commits them as one. Nothing else can
// touch what it holds, so there are no versions to check and nothing to retry.
//
// # Commit
//
// Pebble applies a batch, makes it visible, and syncs its log for many commits with one fsync. An update releases its latches as
// soon as its batch is applied and ordered, before the fsync: an update that then reads what it wrote has a later position in the
// only log, so it cannot be durable, nor acknowledged, without the earlier one.
//
// A request that reads what another commit wrote and writes nothing has no commit of its own to wait for: a plain reader, an
// update that changes nothing, one whose condition fails. The store counts the commits in progress by the hashes of their keys,
// see unsynced, and a reader that finds its keys among them syncs the log before it returns. Reads of other keys cost two atomic
// loads.
//
// Because commits are counted, Get and Iter also learn for free whether what they read earlier is still current: see recent.
//
// A transaction keeps its latches until it is durable. Others may learn of it through ErrConflict, and for its caller it is in
// progress until it is acknowledged; releasing its keys earlier would make conflicts come and go in the middle of it.
//
// A Follower records what commits change, for a copy that follows the store, and can hold and end commits: see follow.go.
//
// A large update is committed as tables of its own, not through the log, so that others need not wait for its bytes: see
// large_update.go. It is durable before it is visible, and keeps its latches until then. What it read is synced before, since
// tables have no position in the log.
//
// # Kept snapshots, backups, loads
//
// A kept snapshot is a checkpoint of the database: new names for the tables, which are immutable, and a copy of the small rest of
// the log. It is created in DIR/making and renamed when it is complete and on disk. A backup is a checkpoint of everything,
// including the kept snapshots, in a separate directory, which is marked INCOMPLETE until it has its FORMAT. Load writes tables
// in DIR/making and ingests them with one change of the manifest. Tables are in no log, so checkpoints exclude loads and large
// updates.
//
// # Invariants
//
//  1. Sequence numbers are assigned while the update's latches are held, and are in flight until its commit is
//     as durable as the store makes it; ReadLog stops before the lowest number in flight.
//  2. A sequence number is used only when the number in key 0xF1 is above it, and as durable as its use: earlier in
//     the same log, or synced before a large update. The store opens at that number, so none is assigned twice,
//     whatever a crash loses and trimming removes. Where numbers are times, a crash skips at most a second of them,
//     and Close none. A number that LogSeq returned and no record uses is reserved within about a second, and by Close.
//  3. After the first failed disk write nothing more reaches the disk: see disk. Commits that were not yet
//     durable return ErrUndetermined, later ones ErrFailed. Copies outside of Pebble's directory can fail
//     without that. Updates are rejected with ErrFull before the disk lacks the space they need: see space.
//  4. With durability Sync nothing is returned that is visible but not synced, except by the reads of Eventual.
//  5. After an error that could make it write wrong data the store is frozen for good: see fatal.go.
//  6. Everything named in DIR/kept is complete, on disk, and immutable. A directory gets its FORMAT when
//     everything else in it is complete and on disk.
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
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/latch"
)

// Store implements kv.Store.
type Store struct {
	reads        // these wait until what they return is durable
	eventual     reads
	dir          string
	fs           vfs.FS // as passed in
	files        vfs.FS // for data: fs, or its encrypting wrapper
	options      Options
	db           *pebble.DB
	disk         *disk         // files as Pebble sees them
	space        *space        // on that disk
	cache        *pebble.Cache // of the database and of open kept snapshots
	recentValues *recent       // in front of the database, for Get; nil without Sync
	recentRanges *recentRanges // the same for Iter
	lock         io.Closer     // the directory's
	log          *slog.Logger
	latches      *latch.Table
	sequence     *sequence
	txns         sync.Pool // of *txn
	batches      *batchMemory
	keeper       keeper
	created      atomic.Uint64 // number of names used in DIR/making
	trimming     sync.Mutex    // held by TrimLog
	large        chan struct{} // has a token while a large update is committed
	stalls       stalls
	deleted      deletedRanges
	// moment is held while a checkpoint is taken, or tables are ingested.
	moment  sync.Mutex
	commits commits

	durability Durability
	write      *pebble.WriteOptions // Sync or NoSync, depending on durability
	dirty      atomic.Bool          // something was committed since the last sync of Interval
	written    atomic.Bool          // an update was committed since watch last looked
	stop       chan struct{}        // ends watch, reclaim and the goroutine of Interval
	stopped    sync.WaitGroup

	frozen atomic.Pointer[error] // see freeze
	dead   chan struct{}         // closed when the store is frozen

	// life is held shared by every call and open snapshot, exclusively by Close.
	life    sync.RWMutex
	closed  bool
	closing atomic.Bool
}

// DeleteRange removes [lo, hi), values and counters.
func (s *Store) DeleteRange(_ context.Context, lo, hi []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	lo, hi, empty := bounds(lo, hi)
	if empty {
		return nil
	}
	batch := s.db.NewBatch()
	defer batch.Close()
	if err := batch.DeleteRange(lo, hi, nil); err != nil {
		return err
	}
	if err := s.applyWhole(batch, true); err != nil {
		return err
	}
	s.deleted.add(lo, hi)
	return nil
}

// applyWhole commits a batch that is not an update's, as durably as updates. It deletes a range, so it also works on a full disk.
// callersKeys says that it may change keys of the callers, not only the store's own.
func (s *Store) applyWhole(batch *pebble.Batch, callersKeys bool) (err error) {
	defer s.guard(&err)
	if err := s.beginCommit(); err != nil {
		return err
	}
	defer s.endCommit()
	if err := errors.Join(s.writable(), s.commits.follower.note(batch)); err != nil {
		return err
	}
	begin, end := s.unsynced.beginRange, s.unsynced.endRange
	if !callersKeys {
		begin, end = s.unsynced.beginOther, s.unsynced.endOther
	}
	begin()
	if err := s.db.Apply(batch, s.write); err != nil {
		return err
	}
	s.dirty.Store(true)
	s.space.freed.Store(true)
	if err := s.disk.failure(); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
	}
	end()
	return nil
}

// writable returns why the store accepts no more writes, or nil.
func (s *Store) writable() error {
	if s.options.ReadOnly {
		return kv.ErrReadOnly
	}
	return s.intact()
}

// intact returns the error that has stopped the store, or nil.
func (s *Store) intact() error {
	if err := s.failure(); err != nil {
		return err
	}
	if err := s.disk.failure(); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrFailed, err)
	}
	return nil
}

// Limits of an update.
func (s *Store) Limits() kv.Limits { return kv.EmbeddedLimits() }

// quickReplay is the maximum size of the log left for the next Open to replay: a few milliseconds' worth.
const quickReplay = 1 << 20

// Close waits for calls in progress and open snapshots, brings everything to disk and releases the directory. A longer log is
// flushed to tables, so that reopening the store is fast. A frozen store waits for nothing, and only releases its lock.
func (s *Store) Close() (err error) {
	alone := make(chan struct{})
	go func() {
		s.life.Lock()
		close(alone)
	}()
	select {
	case <-alone:
		defer s.life.Unlock()
	case <-s.dead:
	}
	if !s.closing.CompareAndSwap(false, true) {
		return nil
	}
	close(s.stop)
	s.disk.close()
	if err := s.failure(); err != nil {
		return errors.Join(err, s.lock.Close())
	}
	s.closed = true
	defer s.catch(&err)
	s.stopped.Wait()
	writes := s.disk.failure() == nil && !s.options.ReadOnly
	if writes {
		err = s.sequence.settle()
	}
	if writes && s.disk.failure() == nil && s.db.Metrics().WAL.Size > quickReplay {
		err = errors.Join(err, s.db.Flush())
	}
	err = errors.Join(err, s.db.Close())
	s.cache.Unref()
	return errors.Join(err, s.intact(), s.lock.Close())
}

// begin starts a call that Close waits for. It fails if Close has begun or the store is frozen.
func (s *Store) begin() error {
	if !s.life.TryRLock() {
		return kv.ErrClosed
	}
	err := s.failure()
	if s.closed {
		err = kv.ErrClosed
	}
	if err != nil {
		s.life.RUnlock()
	}
	return err
}

func (s *Store) end() { s.life.RUnlock() }
