package pebblekv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/latch"
)

const (
	formatFile    = "FORMAT"
	formatPrefix  = "monotable store format "
	formatVersion = "1"
	// encryptedVersion is rejected by releases without encryption.
	encryptedVersion = "1 encrypted"
	pebbleDir        = "pebble"
	keptDir          = "kept"
	makingDir        = "making"
	// incompleteFile marks a copy that has no FORMAT yet.
	incompleteFile = "INCOMPLETE"
	// keysFile contains the data keys of an encrypted store, sealed under the master key.
	keysFile  = "KEYS"
	newSuffix = ".new"
	lockFile  = "LOCK"       // Pebble's
	lostFound = "lost+found" // in the root of a file system
	dirMode   = 0o700
	// watchInterval is how often watch runs.
	watchInterval = time.Second
)

// Open opens the store in dir, or creates it if dir is missing or empty. It returns kv.ErrLocked if another process, or another
// Store of this one, has it open.
func Open(dir string, o Options) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the directory's name is empty")
	}
	o = o.withDefaults()
	s := &Store{
		dir:        dir,
		options:    o,
		fs:         o.FS,
		disk:       newDisk(o.FS, o.FS.PathJoin(dir, pebbleDir), o.Logger),
		cache:      pebble.NewCache(o.CacheBytes),
		keeper:     keeper{open: map[string]*openKept{}},
		log:        o.Logger,
		latches:    latch.New(),
		batches:    newBatchMemory(o.BatchBytes),
		large:      make(chan struct{}, 1),
		durability: o.Durability,
		write:      pebble.Sync,
		stop:       make(chan struct{}),
		dead:       make(chan struct{}),
	}
	s.reads, s.eventual = reads{store: s}, reads{store: s}
	if o.Durability == Sync {
		s.unsynced = newUnsynced()
		s.recentValues = newRecent(s.unsynced, o.CacheBytes, recentValueSlotBytes)
		s.recentRanges = newRecentRanges(s.unsynced, o.CacheBytes)
	} else {
		s.write = pebble.NoSync
	}
	if err := s.open(dir, o); err != nil {
		s.cache.Unref()
		return nil, err
	}
	if o.ReadOnly {
		return s, nil
	}
	s.stopped.Go(s.watch)
	s.stopped.Go(s.reclaim)
	if o.Durability == Interval {
		s.stopped.Go(func() { s.syncEvery(o.Interval) })
	}
	return s, nil
}

func (s *Store) open(dir string, o Options) (err error) {
	defer s.catch(&err)
	is, err := checkDirectory(o.FS, dir)
	if err != nil {
		return err
	}
	if o.ReadOnly && !is.store {
		return noStoreError(dir)
	}
	data := o.FS.PathJoin(dir, pebbleDir)
	lock, err := s.lockDirectory(data)
	if err != nil {
		return err
	}
	s.lock = lock
	if s.files, err = s.openFiles(is); err != nil {
		return errors.Join(err, lock.Close())
	}
	if !o.ReadOnly {
		if err := o.FS.RemoveAll(o.FS.PathJoin(dir, makingDir)); err != nil {
			return errors.Join(fmt.Errorf("removing unfinished files: %w", err), lock.Close())
		}
	}
	if is.store {
		if err := checkFiles(s.files, dir, data); err != nil {
			return errors.Join(err, lock.Close())
		}
	}
	s.disk.FS = s.files
	s.options.MemTableBytes, s.options.smallDisk = o.memTableBytes(data)
	if s.space, err = newSpace(o.FS, dir, o.DiskReserve, o.Logger); err != nil {
		return errors.Join(err, lock.Close())
	}
	s.disk.roomToCompact, s.disk.hasRoomToCopy = s.space.roomToCompact, s.space.hasRoomToCopy
	p := s.options.pebbleOptions(s.disk, pebbleLogger{s})
	p.Cache, p.ReadOnly = s.cache, o.ReadOnly
	p.EventListener = eventListener(o.Logger, &s.stalls, s.options.OnBackgroundWork)
	scheduler := newCompactions(s)
	p.Experimental.CompactionScheduler = scheduler
	// A store that was once complete is never silently replaced by an empty one, nor is another program's Pebble database
	// mistaken for a store whose creation was interrupted.
	p.ErrorIfNotExists, p.ErrorIfNotPristine = is.store, !is.store
	if !is.store {
		if err := markVersion(s.disk, data, p.FormatMajorVersion); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", dir, err), s.disk.failure(), lock.Close())
		}
	}
	if s.db, err = pebble.Open(data, p); err != nil {
		return errors.Join(openError(dir, err), s.disk.failure(), lock.Close())
	}
	if err := s.prepare(dir, is.store); err != nil {
		s.disk.close()
		return errors.Join(fmt.Errorf("%s: %w", dir, err), s.db.Close(), lock.Close())
	}
	scheduler.start()
	return nil
}

// lockDirectory creates the directory of Pebble's files, unless the store is opened for reading only, and locks it.
func (s *Store) lockDirectory(data string) (io.Closer, error) {
	if s.options.ReadOnly {
		return lockForReading(s.fs, s.dir)
	}
	if err := makeDirectory(s.fs, data); err != nil {
		return nil, fmt.Errorf("creating the data directory: %w", err)
	}
	lock, err := pebble.LockDirectory(data, s.fs)
	if err != nil {
		return nil, lockError(s.dir, err)
	}
	return lock, nil
}

// lockForReading locks a store's directory without changing it. On a read-only file system, nothing can be locked, and no process
// can write. A copy that was never opened has no file to lock; creating one would change it.
func lockForReading(fs vfs.FS, dir string) (io.Closer, error) {
	data := fs.PathJoin(dir, pebbleDir)
	name := fs.PathJoin(data, lockFile)
	if _, err := fs.Stat(name); errors.Is(err, os.ErrNotExist) {
		return neverOpened{fs, dir, name}, nil
	}
	lock, err := pebble.LockDirectory(data, fs)
	switch {
	case errors.Is(err, syscall.EROFS):
		return io.NopCloser(nil), nil
	case err != nil:
		return nil, lockError(dir, err)
	}
	return lock, nil
}

// neverOpened stands for the lock of a directory that has no lock file.
type neverOpened struct {
	fs        vfs.FS
	dir, name string
}

// Close returns kv.ErrLocked if a process has opened the directory for writing in the meantime: what was read then may be wrong.
func (n neverOpened) Close() error {
	if _, err := n.fs.Stat(n.name); err == nil {
		return fmt.Errorf("%w: %s was opened while it was read", kv.ErrLocked, n.dir)
	}
	return nil
}

// prepare makes the open database a store.
func (s *Store) prepare(dir string, exists bool) error {
	if err := s.disk.failure(); err != nil {
		return err
	}
	if !exists {
		if err := writeFormat(s.fs, dir, s.Encrypted()); err != nil {
			return err
		}
	}
	reserved, err := s.reserved()
	s.sequence = newSequence(reserved, s.reserve)
	s.space.pending = func() int64 { return bytesOf(s.db.Metrics().MemTable.Size) }
	s.space.look()
	return err
}

// markVersion marks an empty directory with the version of Pebble's format. Without a mark, Pebble creates a database in the oldest
// version and upgrades it step by step, with a new mark and a sync for each.
func markVersion(fs vfs.FS, data string, version pebble.FormatMajorVersion) error {
	names, err := fs.List(data)
	if err != nil || slices.ContainsFunc(names, func(name string) bool { return name != lockFile }) {
		return err
	}
	mark, _, err := atomicfs.LocateMarker(fs, data, "format-version")
	if err != nil {
		return err
	}
	return errors.Join(mark.Move(version.String()), mark.Close())
}

// directory describes the contents of a directory: whether it has a complete store, and whether it is encrypted.
type directory struct{ store, encrypted bool }

// checkDirectory determines what dir contains, and rejects a directory with anything other than a store.
func checkDirectory(fs vfs.FS, dir string) (directory, error) {
	format, err := readFile(fs, fs.PathJoin(dir, formatFile))
	if err == nil {
		return checkFormat(dir, format)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return directory{}, fmt.Errorf("%s: %w", dir, err)
	}
	names, err := fs.List(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return directory{}, nil
		}
		return directory{}, fmt.Errorf("%s: %w", dir, err)
	}
	if slices.Contains(names, incompleteFile) || slices.Contains(names, incompleteFile+newSuffix) {
		return directory{}, fmt.Errorf("%s contains an incomplete copy of a store: "+
			"remove it and copy again", dir)
	}
	for _, name := range names {
		if !slices.Contains([]string{pebbleDir, keysFile, keysFile + newSuffix, formatFile + newSuffix, lostFound}, name) {
			if slices.Contains(names, pebbleDir) { // such as kept, making, control.sock
				return directory{}, noFormatError(dir)
			}
			return directory{}, fmt.Errorf("%s contains other files (%s), but no store: "+
				"use the directory of a store, or an empty one for a new store", dir, name)
		}
	}
	return directory{}, nil
}

func checkFormat(dir, format string) (directory, error) {
	version, ok := strings.CutPrefix(format, formatPrefix)
	version = strings.TrimSpace(version)
	switch {
	case !ok || version == "":
		return directory{}, fmt.Errorf("%s is corrupt or belongs to another program: it contains %.40q",
			dir+string(os.PathSeparator)+formatFile, format)
	case version != formatVersion && version != encryptedVersion:
		return directory{}, fmt.Errorf("the directory %s has layout %.20q, but this program supports layout %s: "+
			"open it with the release that wrote it, or a newer one", dir, version, formatVersion)
	}
	return directory{store: true, encrypted: version == encryptedVersion}, nil
}

func readFile(fs vfs.FS, name string) (string, error) {
	f, err := fs.Open(name)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(f)
	return string(data), errors.Join(err, f.Close())
}

// makeDirectory creates dir and its missing parents, and makes the entries durable: a store must not vanish with the name of its
// directory.
func makeDirectory(fs vfs.FS, dir string) error {
	var changed []string
	for at := dir; ; {
		if _, err := fs.Stat(at); err == nil {
			break
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		parent := fs.PathDir(at)
		if parent == at {
			break
		}
		changed = append(changed, parent)
		at = parent
	}
	if err := fs.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	for _, parent := range changed {
		if err := syncDirectory(fs, parent); err != nil {
			return err
		}
	}
	return nil
}

func syncDirectory(fs vfs.FS, dir string) error {
	f, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// writeFormat marks the store as complete.
func writeFormat(fs vfs.FS, dir string, encrypted bool) error {
	version := formatVersion
	if encrypted {
		version = encryptedVersion
	}
	return writeWhole(fs, dir, formatFile, formatPrefix+version+"\n")
}

// writeWhole atomically writes a small file.
func writeWhole(fs vfs.FS, dir, name, text string) error {
	name = fs.PathJoin(dir, name)
	f, err := fs.Create(name+newSuffix, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(name+newSuffix, name); err != nil {
		return err
	}
	return syncDirectory(fs, dir)
}

func lockError(dir string, err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok { // an error of the file, not of the lock
		return fmt.Errorf("%s cannot be locked: %w", dir, err)
	}
	return fmt.Errorf("%w: %s: close it there, or use a directory of its own (%w)",
		kv.ErrLocked, dir, err)
}

func noStoreError(dir string) error { return fmt.Errorf("%s contains no store", dir) }

func noFormatError(dir string) error {
	return fmt.Errorf("%s contains data, but no file %s: it belongs to another program, or the file was removed", dir, formatFile)
}

func openError(dir string, err error) error {
	switch {
	case pebble.IsCorruptionError(err), strings.Contains(err.Error(), "object size mismatch"): // Pebble has no error for the latter
		return damaged(dir, err)
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		return fmt.Errorf("%s marks a store, but its data is missing from %s: "+
			"restore the whole directory: %w", dir, pebbleDir, err)
	case errors.Is(err, pebble.ErrDBNotPristine):
		return fmt.Errorf("%w: %w", noFormatError(dir), err)
	case errors.Is(err, os.ErrNotExist): // a file that others refer to
		return damaged(dir, err)
	}
	return fmt.Errorf("opening the store in %s: %w", dir, err)
}

// reserved returns the number below which sequence numbers may have been assigned.
func (s *Store) reserved() (kv.Seq, error) {
	value, err := get(s.db, []byte(sequenceKey))
	if err != nil || value == nil {
		return 0, err
	}
	if len(value) != seqLen {
		return 0, fmt.Errorf("the store's sequence number is corrupted: %x", value)
	}
	return kv.Seq(binary.BigEndian.Uint64(value)), nil
}

// reserve stores a limit as durably as any update that uses the numbers: a log's follower must never see the same numbers again
// with other records. With Sync, a number is not visible before its update is durable, and with it the reservation, which is
// earlier in the log. The weaker modes show updates that a crash may undo.
func (s *Store) reserve(limit kv.Seq) error {
	value, durable := binary.BigEndian.AppendUint64(nil, uint64(limit)), pebble.Sync
	if s.durability == Sync {
		durable = pebble.NoSync
	}
	if err := s.db.Set([]byte(sequenceKey), value, durable); err != nil {
		return err
	}
	return s.writable()
}

// watch monitors the disk space, flushes deletions of a full store, and reserves numbers that LogSeq returned.
func (s *Store) watch() {
	busy := false // there has been an update since the store was last found idle
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		s.space.look()
		if s.space.at() > ample {
			s.flushDeletions()
		}
		s.keepUp()
		if s.written.Swap(false) {
			busy = true
		} else if busy {
			busy = false
			s.flushIdle()
		}
	}
}

// flushIdle flushes a memtable that is at least a quarter full. It is called when there has been no update for a second or two:
// reads need not look for keys in the memtable then, and the next Open has no long log to replay. Small ones stay, because a few
// flushes make a compaction, which rewrites the next level, however small they are. See bench/README.md.
func (s *Store) flushIdle() {
	if s.disk.failure() != nil {
		return
	}
	var err error
	defer s.catch(&err) // it has been logged

	if s.db.Metrics().WAL.Size < uint64(s.options.MemTableBytes/4) { //nolint:gosec // it is positive
		return
	}
	if _, err = s.db.AsyncFlush(); err != nil {
		s.log.Error("store: flushing when idle", "error", err)
	}
}

// keepUp durably reserves numbers that LogSeq returned beyond those reserved by updates. Apart from flushIdle and reclaim it is all
// that an idle store writes, and only while LogSeq is called.
func (s *Store) keepUp() {
	if s.disk.failure() != nil {
		return
	}
	var err error
	defer s.catch(&err) // it has been logged
	reserved, err := s.sequence.keepUp()
	if reserved {
		err = s.settle()
	}
	if err != nil {
		s.log.Error("store: reserving sequence numbers", "error", err)
	}
}

// syncEvery syncs the log after intervals with commits.
func (s *Store) syncEvery(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.syncLog()
		}
	}
}

// syncLog syncs everything committed so far.
func (s *Store) syncLog() {
	if !s.dirty.Swap(false) || s.disk.failure() != nil {
		return
	}
	if err := s.settle(); err != nil {
		s.log.Error("store: syncing the log", "error", err)
	}
}
