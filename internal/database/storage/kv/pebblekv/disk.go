package pebblekv

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// compactionCategory is Pebble's category for writes of compactions.
const compactionCategory vfs.DiskWriteCategory = "pebble-compaction"

// disk is the file system that Pebble sees. It hides from Pebble the errors on which Pebble would exit the process: failures to
// write, sync or create a log or manifest.
//
// The first write that the file system fails freezes the disk. From then on nothing reaches the real disk, so that it keeps
// exactly what a crash at that moment would have left, which recovery can handle. Retrying would be worse, because after a failed
// fsync it is unknown what is on disk. Pebble continues on the frozen disk without noticing:
//
//   - writes to logs and manifests are dropped and reported as successful;
//   - a table being written fails, which Pebble tolerates by writing it again as a new file;
//   - new files are kept in memory; there are few, since the store accepts no more updates;
//   - nothing is removed;
//   - compactions wait for Close, because they would rewrite the store into memory.
//
// The store checks failure before it acknowledges anything. Since a failure is recorded before Pebble is told that the write
// succeeded, a commit that failed on disk is never acknowledged.
//
// Tables written by compactions are an exception: nothing refers to them yet, and the compaction can be repeated. A compaction
// ends without freezing the disk if the file system is full, or has so little space that the log and the memtables may need it.
// See postpone.
//
// All this concerns the files in Pebble's own directory. What Pebble writes elsewhere is a requested copy, and a
// failure there is only an error of that call. The one such failure on which Pebble would exit the process, syncing the copy's
// directory, is hidden from it: see beginCopy.
type disk struct {
	vfs.FS
	dir      string // Pebble's
	log      *slog.Logger
	memory   *vfs.MemFS
	failed   atomic.Pointer[error]
	frozen   chan struct{}         // closed by the first failure
	uncopied atomic.Pointer[error] // the first failure to sync a directory elsewhere since beginCopy
	closing  chan struct{}
	once     sync.Once
	// roomToCompact reports whether a compaction may write more.
	roomToCompact func() bool
	// hasRoomToCopy reports whether a copy may write a number of further bytes; copyAllowed is the level of the current copy.
	hasRoomToCopy func(bytes int64, allowed spaceLevel) bool
	copyAllowed   spaceLevel
}

// errNoRoom ends a compaction. Pebble retries it later.
var errNoRoom = errors.New("not enough disk space for a compaction")

const (
	// Pebble postpones the tables of a failed compaction for half a minute, but not those of level 0. A compaction without enough
	// space therefore fails only after postponeMin, and later the more it had written in vain: a second for each postponeBytes.
	postponeMin   = time.Second
	postponeBytes = 16 << 20
	// compactionStep is how much a compaction writes between checks of the free space.
	compactionStep = 1 << 20
)

// postpone ends a compaction for lack of space, after a while.
func (d *disk) postpone(written int64) error {
	timer := time.NewTimer(postponeMin + time.Duration(written)*time.Second/postponeBytes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.closing:
	case <-d.frozen:
	}
	return errNoRoom
}

// newDisk returns the view of fs for a store whose Pebble files are in dir.
func newDisk(fs vfs.FS, dir string, log *slog.Logger) *disk {
	d := &disk{FS: fs, dir: dir, log: log, memory: vfs.NewMem(), frozen: make(chan struct{}), closing: make(chan struct{})}
	_ = d.memory.MkdirAll(dir, dirMode) // cannot fail in memory
	return d
}

// failure returns why the disk is frozen, or nil.
func (d *disk) failure() error {
	if err := d.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// freeze stops everything from reaching the disk, and reports whether it was not frozen before.
func (d *disk) freeze(err error) bool {
	first := d.failed.CompareAndSwap(nil, &err)
	if first {
		close(d.frozen)
	}
	return first
}

// fail freezes the disk.
func (d *disk) fail(what, name string, err error) {
	if d.freeze(err) {
		d.log.Error("store: a disk write failed; all writes are rejected until the store is reopened",
			"operation", what, "file", name, "error", err)
	}
}

// beginCopy must be called before Pebble writes elsewhere, and endCopy afterwards. Only one copy can be made at a time.
func (d *disk) beginCopy(allowed spaceLevel) {
	d.uncopied.Store(nil)
	d.copyAllowed = allowed
}

// endCopy returns why the copy is not durable, even if Pebble was told that it is.
func (d *disk) endCopy() error {
	if err := d.uncopied.Load(); err != nil {
		return *err
	}
	return nil
}

// own reports whether a file belongs to Pebble's directory.
func (d *disk) own(name string) bool { return name == d.dir || d.PathDir(name) == d.dir }

// close ends waiting compactions.
func (d *disk) close() { d.once.Do(func() { close(d.closing) }) }

// Lock does nothing: the store has the directory's lock, and must be able to release it while a frozen Pebble lives on.
func (d *disk) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Unwrap returns the file system below.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// Create creates a file, in memory if the disk is or becomes frozen.
func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if !d.own(name) {
		f, err := d.FS.Create(name, category)
		return copyFile{f, d}, err
	}
	compaction := category == compactionCategory
	if d.failure() == nil {
		if compaction && !d.roomToCompact() {
			return nil, d.postpone(0)
		}
		f, err := d.FS.Create(name, category)
		switch {
		case err == nil && compaction:
			return d.compactionFile(f, name), nil
		case err == nil:
			return d.file(f, name), nil
		case compaction && vfs.IsNoSpaceError(err):
			return nil, d.postpone(0)
		}
		d.fail("create", name, err)
	}
	if compaction {
		<-d.closing
		return nil, d.failure()
	}
	return d.memory.Create(name, category)
}

// Link creates a hard link. A failure does not freeze the disk: Pebble copies the file instead, or gives up its operation.
func (d *disk) Link(oldname, newname string) error {
	if err := d.failure(); err != nil && d.own(newname) {
		return err
	}
	return d.FS.Link(oldname, newname)
}

// ReuseForWrite reuses an old file as a new one.
func (d *disk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.failure() == nil {
		f, err := d.FS.ReuseForWrite(oldname, newname, category)
		if err == nil {
			return d.file(f, newname), nil
		}
		d.fail("reuse", newname, err)
	}
	return d.memory.Create(newname, category)
}

// Open opens the newest version of a file.
func (d *disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if d.failure() != nil {
		if f, err := d.memory.Open(name, opts...); err == nil {
			return f, nil
		}
	}
	f, err := d.FS.Open(name, opts...)
	if err == nil && d.own(name) && slices.Contains(opts, vfs.SequentialReadsOption) {
		return &sequentialFile{File: f}, nil
	}
	return f, err
}

// sequentialFile is a table read sequentially, as compactions do.
type sequentialFile struct {
	vfs.File
	unyielded int
}

func (f *sequentialFile) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(p, offset)
	if f.unyielded += n; f.unyielded >= yieldBytes {
		f.unyielded = 0
		runtime.Gosched()
	}
	return n, err
}

// OpenDir opens a directory, whose syncs count as writes.
func (d *disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	switch {
	case err != nil:
		return nil, err
	case d.own(name):
		return d.file(f, name), nil
	}
	return copyDirectory{f, d}, nil
}

// copyFile is a file that Pebble creates elsewhere. It must not use the reserve.
type copyFile struct {
	vfs.File
	disk *disk
}

func (f copyFile) Write(p []byte) (int, error) {
	if !f.disk.hasRoomToCopy(int64(len(p)), f.disk.copyAllowed) {
		return 0, fmt.Errorf("%w: a copy of the log needs more disk space than there is", kv.ErrFull)
	}
	return f.File.Write(p)
}

// copyDirectory is a directory that Pebble creates elsewhere.
type copyDirectory struct {
	vfs.File
	disk *disk
}

func (f copyDirectory) Sync() error {
	if err := f.File.Sync(); err != nil {
		f.disk.uncopied.CompareAndSwap(nil, &err)
	}
	return nil
}

// Stat describes the newest version of a file.
func (d *disk) Stat(name string) (vfs.FileInfo, error) {
	if d.failure() != nil {
		if info, err := d.memory.Stat(name); err == nil {
			return info, nil
		}
	}
	return d.FS.Stat(name)
}

// Remove removes a file, unless the disk is frozen.
func (d *disk) Remove(name string) error {
	if d.failure() == nil || !d.own(name) {
		return d.FS.Remove(name)
	}
	return nil
}

// Rename renames a file, unless the disk is frozen.
func (d *disk) Rename(oldname, newname string) error {
	if !d.own(newname) {
		return d.FS.Rename(oldname, newname)
	}
	if d.failure() == nil {
		err := d.FS.Rename(oldname, newname)
		if err == nil {
			return nil
		}
		d.fail("rename", newname, err)
	}
	_ = d.memory.Rename(oldname, newname) // a file that is only on disk keeps its name there
	return nil
}

func (d *disk) file(f vfs.File, name string) *diskFile {
	table := strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
	manifest := strings.HasPrefix(d.PathBase(name), "MANIFEST-")
	return &diskFile{File: f, disk: d, name: name, table: table, nameless: manifest}
}

// diskFile is a file that existed on disk before the disk froze, if it did.
type diskFile struct {
	vfs.File
	disk  *disk
	name  string
	table bool // may fail: Pebble writes it again as another file
	// nameless means that the file's directory entry may not be durable yet, although it must be when the file is synced. Pebble
	// creates a manifest, syncs it, creates the file that names it, and only then syncs the directory of both: after a power
	// failure only the second entry might exist.
	nameless bool
	// unyielded is how much of a table was written since other goroutines last had a turn.
	unyielded int
	// noSpace is called instead of freezing a full disk; nil for essential files.
	noSpace func() error
}

// guard performs a write, or the substitute on a frozen disk.
func (f *diskFile) guard(what string, write func() error) error {
	if f.disk.failure() == nil {
		err := write()
		if err == nil {
			return nil
		}
		if f.noSpace != nil && vfs.IsNoSpaceError(err) {
			return f.noSpace()
		}
		f.disk.fail(what, f.name, err)
	}
	if f.table {
		return f.disk.failure()
	}
	return nil
}

func (f *diskFile) Write(p []byte) (n int, err error) {
	n = len(p)
	if err = f.guard("write", func() error { _, err := f.File.Write(p); return err }); err != nil {
		n = 0
	}
	if f.unyielded += n; f.table && f.unyielded >= yieldBytes {
		f.unyielded = 0
		runtime.Gosched()
	}
	return n, err
}

func (f *diskFile) Sync() error {
	return f.guard("sync", func() error { return f.named(f.File.Sync()) })
}

func (f *diskFile) SyncData() error {
	return f.guard("sync", func() error { return f.named(f.File.SyncData()) })
}

// named makes the directory entry of a file that has just been synced durable.
func (f *diskFile) named(err error) error {
	if err != nil || !f.nameless {
		return err
	}
	dir, err := f.disk.FS.OpenDir(f.disk.PathDir(f.name))
	if err != nil {
		return err
	}
	f.nameless = false
	return errors.Join(dir.Sync(), dir.Close())
}

func (f *diskFile) SyncTo(length int64) (full bool, err error) {
	err = f.guard("sync", func() error {
		var err error
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

// Preallocate reserves space. Its failure does not freeze the disk: not every file system supports it, and if there is no space
// the write will fail.
func (f *diskFile) Preallocate(offset, length int64) error {
	if err := f.disk.failure(); err != nil {
		return err
	}
	return f.File.Preallocate(offset, length)
}

func (f *diskFile) Close() error { return f.guard("close", f.File.Close) }

// compactionFile is a table written by a compaction.
type compactionFile struct {
	*diskFile
	written, unchecked int64
}

func (d *disk) compactionFile(f vfs.File, name string) *compactionFile {
	c := &compactionFile{diskFile: d.file(f, name)}
	c.noSpace = func() error { return d.postpone(c.written) }
	return c
}

func (f *compactionFile) Write(p []byte) (n int, err error) {
	if f.unchecked >= compactionStep {
		if !f.disk.roomToCompact() {
			return 0, f.disk.postpone(f.written)
		}
		f.unchecked = 0
	}
	n, err = f.diskFile.Write(p)
	f.written += int64(n)
	f.unchecked += int64(n)
	return n, err
}
