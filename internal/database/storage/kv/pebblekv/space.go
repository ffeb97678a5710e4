package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// space keeps Pebble from reaching the end of the disk, where a write that fails would end all writing. It compares
// the room on the disk, less what Pebble still has to write for acknowledged updates, with the reserve:
//
//	       room ┬
//	            │  everything goes on
//	    reserve ┼  full: only updates that give room back
//	            │
//	reserve / 2 ┼  exhausted: only updates that drop whole tables or backups; those that give room back wait some seconds
//	            │  compactions go on, to give room back
//	reserve / 4 ┼
//	            │  flushes, logs and manifests: the rest of what was acknowledged
//	          0 ┴
//
// Asking the file system takes microseconds, so there is no schedule to wait for: space looks again whenever updates
// have written a sixteenth of the reserve since the last look, before it refuses anything, and every second in case
// another program fills the disk. Room that was given back is therefore usable at once.
//
// All methods may be called at once.
type space struct {
	dir     string
	fs      vfs.FS
	pending func() int64 // what memtables hold and tables do not; called with mu held
	reserve int64        // 0: nothing is watched
	step    int64        // how much may be written between two looks
	log     *slog.Logger
	now     func() time.Time

	level   atomic.Int32 // a spaceLevel
	spent   atomic.Int64 // by updates that were admitted since the last look
	writing atomic.Int64 // by updates that were admitted and have not ended
	unsaved atomic.Int64 // pending at the last look
	freed   atomic.Bool  // deletions wait to be flushed

	mu    sync.Mutex // held while looking
	told  spaceLevel // what the log said last
	since time.Time  // when the level fell below told; zero: it has not
}

// spaceLevel is how little room there is.
type spaceLevel int32

const (
	roomy     spaceLevel = iota
	full                 // the reserve is all there is
	exhausted            // half of the reserve is used
)

const (
	// The default reserve is a 50th of the disk: compactions of a large store take more room at a time. It is at
	// least reserveMin, for memtables and logs, if that is not more than a quarter of the disk, and at most
	// reserveMax.
	reserveShare   = 50
	reserveMin     = 256 << 20
	reserveMax     = 8 << 30
	reserveQuarter = 4
	// A reserve has this many steps.
	reserveSteps = 16
	// relief is for how long there must be more room before the log says so: compactions take and return many MiB.
	relief = 5 * time.Second
	// deletionWait is how long a deletion waits for compactions at most, and deletionPause how long between two looks.
	deletionWait  = 5 * time.Second
	deletionPause = 10 * time.Millisecond
	// writesPerByte is how often an update's bytes are written before they are at rest: to the log, and by a flush.
	writesPerByte = 2
)

// newSpace watches the disk of dir. wanted is Options.DiskReserve, which must be smaller than the disk.
func newSpace(fs vfs.FS, dir string, wanted int64, log *slog.Logger) (*space, error) {
	s := &space{dir: dir, fs: fs, log: log, now: time.Now, reserve: max(wanted, 0), pending: func() int64 { return 0 }}
	if usage, err := fs.GetDiskUsage(dir); err == nil {
		total := bytesOf(usage.TotalBytes)
		switch {
		case wanted == 0:
			s.reserve = defaultReserve(total)
		case wanted >= total:
			return nil, fmt.Errorf("pebblekv: a disk reserve (--disk-reserve) of %d MiB: the disk of %s has %d MiB: choose less",
				wanted>>20, dir, total>>20)
		}
	}
	s.step = max(s.reserve/reserveSteps, 1)
	return s, nil
}

// allowed is the level at which an update is still admitted.
func allowed(in kv.Intent) spaceLevel {
	switch {
	case in.Drops:
		return exhausted
	case in.Frees:
		return full
	}
	return roomy
}

func defaultReserve(total int64) int64 {
	return min(max(total/reserveShare, reserveMin), total/reserveQuarter, reserveMax)
}

// admit accepts a write of so many bytes to the disk at the allowed level or returns ErrFull. What it accepts must be
// ended.
func (s *space) admit(bytes int64, allowed spaceLevel) error {
	if s.reserve == 0 {
		return nil
	}
	if bytes > s.step && allowed < exhausted {
		return s.admitLarge(bytes, allowed)
	}
	if s.spent.Add(bytes) >= s.step || s.at() > allowed {
		s.look()
	}
	if s.at() > allowed {
		return s.refusal()
	}
	s.writing.Add(bytes)
	return nil
}

// admitLarge accepts a write that the next look would find too late.
func (s *space) admitLarge(bytes int64, allowed spaceLevel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	usage, err := s.lookLocked()
	room := usage.Available - usage.Pending - s.writing.Load()
	if s.at() > allowed || err == nil && room-bytes < s.reserve>>allowed { // without an answer, the level decides
		return s.refusal()
	}
	s.writing.Add(bytes)
	return nil
}

// end ends a write that was admitted, whatever became of it.
func (s *space) end(bytes int64) {
	if s.reserve != 0 {
		s.writing.Add(-bytes)
	}
}

func (s *space) at() spaceLevel { return spaceLevel(s.level.Load()) }

// look finds out how much room there is, unless that is being done.
func (s *space) look() {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		_, _ = s.lookLocked()
	}
}

// lookLocked looks with mu held. A file system that does not tell its room leaves the level as it is.
func (s *space) lookLocked() (kv.DiskUsage, error) {
	s.spent.Store(0)
	usage, err := s.usage()
	if err != nil {
		return usage, err
	}
	s.unsaved.Store(usage.Pending)
	if s.reserve != 0 {
		level := s.levelOf(usage.Available-usage.Pending-s.writing.Load(), s.at())
		s.level.Store(int32(level))
		s.tell(level, usage)
	}
	return usage, nil
}

// tell logs that there is less room at once, and that there is more when that has lasted. It is called with mu held.
func (s *space) tell(level spaceLevel, usage kv.DiskUsage) {
	switch {
	case level == s.told:
		s.since = time.Time{}
		return
	case level > s.told:
	case s.since.IsZero():
		s.since = s.now()
		return
	case s.now().Sub(s.since) < relief:
		return
	}
	s.told, s.since = level, time.Time{}
	attributes := []any{"directory", s.dir, "available", usage.Available, "pending", usage.Pending, "reserve", s.reserve}
	switch level {
	case roomy:
		s.log.Info("store: there is disk space again; all writes are accepted", attributes...)
	case full:
		s.log.Warn("store: out of disk space; only reads and deletes are accepted until there is more", attributes...)
	case exhausted:
		s.log.Warn("store: out of disk space, and half of the disk reserve is used; only reads and the removal of tables and "+
			"backups are accepted until there is more", attributes...)
	}
}

// levelOf compares the room with the bounds. To leave a level takes a step more than to enter it.
func (s *space) levelOf(room int64, before spaceLevel) spaceLevel {
	for level := exhausted; level > roomy; level-- {
		bound := s.reserve >> (level - 1)
		if before >= level {
			bound += s.step
		}
		if room < bound {
			return level
		}
	}
	return roomy
}

// usage asks the file system.
func (s *space) usage() (kv.DiskUsage, error) {
	usage, err := s.fs.GetDiskUsage(s.dir)
	if err != nil {
		return kv.DiskUsage{}, err
	}
	return kv.DiskUsage{
		Total: bytesOf(usage.TotalBytes), Used: bytesOf(usage.UsedBytes), Available: bytesOf(usage.AvailBytes),
		Pending: s.pending(), Reserve: s.reserve,
	}, nil
}

// roomToCompact reports whether a compaction may write on. It is called by Pebble, so it must not call it.
func (s *space) roomToCompact() bool {
	if s.reserve == 0 {
		return true
	}
	usage, err := s.fs.GetDiskUsage(s.dir)
	return err != nil || bytesOf(usage.AvailBytes)-s.unsaved.Load() >= s.reserve/reserveQuarter
}

// roomToCopy reports whether a copy under DIR may write so many more bytes. It is called by Pebble, so it must not call it.
func (s *space) roomToCopy(bytes int64, allowed spaceLevel) bool {
	if s.reserve == 0 {
		return true
	}
	usage, err := s.fs.GetDiskUsage(s.dir)
	return err != nil || bytesOf(usage.AvailBytes)-s.unsaved.Load()-bytes >= s.reserve>>allowed
}

// refusal is the error of what is not admitted.
func (s *space) refusal() error {
	return fmt.Errorf("%w: %s has no more than its reserve of %d MiB left: delete data and compact, or add room",
		kv.ErrFull, s.dir, s.reserve>>20)
}

// health returns why not every update is admitted.
func (s *space) health() error {
	if s.at() > roomy {
		return s.refusal()
	}
	return nil
}

func bytesOf(n uint64) int64 { return int64(min(n, math.MaxInt64)) } //nolint:gosec // it is in range

// flushDeletions begins to flush what was deleted since the last call: no compaction gives its room back before that.
func (s *Store) flushDeletions() {
	if s.disk.failure() != nil || !s.space.freed.Swap(false) {
		return
	}
	var err error
	defer s.catch(&err) // which has been logged
	if _, err = s.db.AsyncFlush(); err != nil {
		s.log.Error("store: flushing deletions", "error", err)
	}
}

// awaitCompactions holds back an update that frees room while deletions have used up their part of the reserve: they
// can be quicker than the compactions that give their room back. It returns after deletionWait in any case.
func (s *Store) awaitCompactions(ctx context.Context) {
	if s.space.at() < exhausted {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, deletionWait)
	defer cancel()
	look := time.NewTicker(deletionPause)
	defer look.Stop()
	for s.space.look(); s.space.at() == exhausted; s.space.look() {
		s.flushDeletions()
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		case <-s.disk.frozen:
			return
		}
	}
}

// Health returns why the store does not take every update.
func (s *Store) Health() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	return s.health()
}

func (s *Store) health() error {
	if err := s.writable(); err != nil {
		return err
	}
	return s.space.health()
}

// DiskUsage returns how full the disk is.
func (s *Store) DiskUsage() (usage kv.DiskUsage, err error) {
	if err := s.begin(); err != nil {
		return kv.DiskUsage{}, err
	}
	defer s.end()
	defer s.catch(&err)
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	usage, err = s.space.lookLocked()
	if errors.Is(err, vfs.ErrUnsupported) {
		err = nil
	}
	return usage, err
}
