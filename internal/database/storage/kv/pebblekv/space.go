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

// space keeps Pebble from filling the disk, because a failed write would end all writing. It compares the free space, less what
// Pebble still has to write for acknowledged updates, with the reserve:
//
//	       room ┬
//	            │  no restrictions
//	    reserve ┼  full: only updates that free space
//	            │
//	reserve / 2 ┼  exhausted: only updates that drop whole tables or backups; those that free space wait some seconds
//	            │  compactions continue, to free space
//	reserve / 4 ┼
//	            │  flushes, logs and manifests: the rest of what was acknowledged
//	          0 ┴
//
// Asking the file system takes microseconds, so it need not be scheduled: space checks again whenever updates have written a
// sixteenth of the reserve since the last check, before it rejects anything, and every second in case another program fills the
// disk. Freed space is therefore usable immediately.
//
// All methods are safe for concurrent use.
type space struct {
	dir     string
	fs      vfs.FS
	pending func() int64 // what is in memtables but not in tables yet; called with mu held
	reserve int64        // 0: not watched
	step    int64        // how much may be written between two checks
	log     *slog.Logger
	now     func() time.Time

	level   atomic.Int32 // a spaceLevel
	spent   atomic.Int64 // by updates admitted since the last check
	writing atomic.Int64 // by admitted updates that have not ended
	unsaved atomic.Int64 // pending at the last check
	freed   atomic.Bool  // deletions wait to be flushed

	mu     sync.Mutex // held while checking
	logged spaceLevel // the level last logged
	since  time.Time  // when the level fell below logged; zero if it has not
}

// spaceLevel is how little room there is.
type spaceLevel int32

const (
	ample     spaceLevel = iota
	full                 // only the reserve is left
	exhausted            // half of the reserve is used
)

const (
	// The default reserve is 2% of the disk: compactions of a large store temporarily need more space. It is at least reserveMin,
	// for memtables and logs, if that is not more than a quarter of the disk, and at most reserveMax.
	reserveShare   = 50
	reserveMin     = 256 << 20
	reserveMax     = 8 << 30
	reserveQuarter = 4
	// A reserve has this many steps.
	reserveSteps = 16
	// relief is how long there must be more space before that is logged: compactions use and free many MiB.
	relief = 5 * time.Second
	// deletionWait is the maximum time that a deletion waits for compactions, and deletionPause the time between two checks.
	deletionWait  = 5 * time.Second
	deletionPause = 10 * time.Millisecond
	// lastRoom is what the log must be able to grow by, in blocks of 32 KiB.
	lastRoom = 64 << 10
	// writesPerByte is how often an update's bytes are written initially: to the log, and by a flush.
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
			return nil, fmt.Errorf("the disk reserve (--disk-reserve, Options.DiskReserve) is %d MiB, but the disk of %s has only %d MiB: choose a smaller one",
				wanted>>20, dir, total>>20)
		}
	}
	s.step = max(s.reserve/reserveSteps, 1)
	return s, nil
}

// allowed returns the level at which an update is still admitted.
func allowed(in kv.Intent) spaceLevel {
	switch {
	case in.Drops:
		return exhausted
	case in.Frees:
		return full
	}
	return ample
}

func defaultReserve(total int64) int64 {
	return min(max(total/reserveShare, reserveMin), total/reserveQuarter, reserveMax)
}

// admit accepts a write of a number of bytes to the disk at the allowed level, or returns ErrFull. An accepted write must be
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
	if s.at() > allowed || allowed == exhausted && s.none(bytes) {
		return s.refusal()
	}
	s.writing.Add(bytes)
	return nil
}

// none reports whether other programs have used the disk up to its end, where even the small updates that drop tables would fail, and
// with them all writing until the store is opened again.
func (s *space) none(bytes int64) bool {
	usage, err := s.fs.GetDiskUsage(s.dir)
	return err == nil && bytesOf(usage.AvailBytes) < bytes+lastRoom
}

// admitLarge accepts a write that the next check would notice too late.
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

// end ends an admitted write, whatever its result.
func (s *space) end(bytes int64) {
	if s.reserve != 0 {
		s.writing.Add(-bytes)
	}
}

func (s *space) at() spaceLevel { return spaceLevel(s.level.Load()) }

// look checks the free space, unless a check is in progress.
func (s *space) look() {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		_, _ = s.lookLocked()
	}
}

// lookLocked checks with mu held. If the file system does not report its free space, the level is unchanged.
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
		s.logLevel(level, usage)
	}
	return usage, nil
}

// logLevel logs less space immediately, and more space when that has lasted. It is called with mu held.
func (s *space) logLevel(level spaceLevel, usage kv.DiskUsage) {
	switch {
	case level == s.logged:
		s.since = time.Time{}
		return
	case level > s.logged:
	case s.since.IsZero():
		s.since = s.now()
		return
	case s.now().Sub(s.since) < relief:
		return
	}
	s.logged, s.since = level, time.Time{}
	attributes := []any{"directory", s.dir, "available", usage.Available, "pending", usage.Pending, "reserve", s.reserve}
	switch level {
	case ample:
		s.log.Info("store: there is disk space again; all writes are accepted", attributes...)
	case full:
		s.log.Warn("store: out of disk space; only reads and deletes are accepted until there is more", attributes...)
	case exhausted:
		s.log.Warn("store: out of disk space, and half of the disk reserve is used; only reads and the removal of tables and "+
			"backups are accepted until there is more", attributes...)
	}
}

// levelOf compares the free space with the bounds. Leaving a level needs a step more space than entering it.
func (s *space) levelOf(room int64, before spaceLevel) spaceLevel {
	for level := exhausted; level > ample; level-- {
		bound := s.reserve >> (level - 1)
		if before >= level {
			bound += s.step
		}
		if room < bound {
			return level
		}
	}
	return ample
}

// usage asks the file system.
func (s *space) usage() (kv.DiskUsage, error) {
	usage, err := s.fs.GetDiskUsage(s.dir)
	if err != nil {
		return kv.DiskUsage{}, err
	}
	return kv.DiskUsage{
		Total: bytesOf(usage.TotalBytes), Available: bytesOf(usage.AvailBytes),
		Pending: s.pending(), Reserve: s.reserve,
	}, nil
}

// roomToCompact reports whether a compaction may continue writing. Pebble calls it, so it must not call Pebble.
func (s *space) roomToCompact() bool {
	if s.reserve == 0 {
		return true
	}
	usage, err := s.fs.GetDiskUsage(s.dir)
	return err != nil || bytesOf(usage.AvailBytes)-s.unsaved.Load() >= s.reserve/reserveQuarter
}

// roomToFlush reports whether there is room for what is not in tables yet.
func (s *space) roomToFlush() bool {
	usage, err := s.usage()
	return err != nil || usage.Available > usage.Pending
}

// hasRoomToCopy reports whether a copy in DIR may write a number of further bytes. Pebble calls it, so it must not call Pebble.
func (s *space) hasRoomToCopy(bytes int64, allowed spaceLevel) bool {
	if s.reserve == 0 {
		return true
	}
	usage, err := s.fs.GetDiskUsage(s.dir)
	return err != nil || bytesOf(usage.AvailBytes)-s.unsaved.Load()-bytes >= s.reserve>>allowed
}

// refusal returns the error of a rejected write.
func (s *space) refusal() error {
	return fmt.Errorf("%w: %s has only its reserve of %d MiB left: delete data and compact, or add disk space",
		kv.ErrFull, s.dir, s.reserve>>20)
}

// health returns why not every update is admitted.
func (s *space) health() error {
	if s.at() > ample {
		return s.refusal()
	}
	return nil
}

func bytesOf(n uint64) int64 { return int64(min(n, math.MaxInt64)) } //nolint:gosec // it is in range

// flushDeletions starts to flush what was deleted since the last call: compactions cannot free its space before that.
func (s *Store) flushDeletions() {
	if s.disk.failure() != nil || !s.space.freed.Swap(false) {
		return
	}
	var err error
	defer s.catch(&err) // it has been logged
	if _, err = s.db.AsyncFlush(); err != nil {
		s.log.Error("store: flushing deletions", "error", err)
	}
}

// awaitCompactions delays an update that frees space while deletions have used up their part of the reserve: they can be faster
// than the compactions that reclaim their space. It returns after deletionWait in any case.
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

// Health returns why the store does not accept every update.
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
