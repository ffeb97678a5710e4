package pebblekv_test

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// memoryDisk loses what was not synced when it crashes.
type memoryDisk struct {
	options pebblekv.Options
	fs      *vfs.MemFS
	// cloning is held while the disk is cloned. Links and reused files are made outside of that: each takes a
	// lock of the file system twice, and hangs if a clone wants it in between.
	cloning *sync.RWMutex
	// before is called before each operation that writes, if it is set.
	before *atomic.Pointer[func()]
}

func newMemoryDisk(fs *vfs.MemFS, o pebblekv.Options) memoryDisk {
	return memoryDisk{o, fs, new(sync.RWMutex), new(atomic.Pointer[func()])}
}

func (d memoryDisk) Open(t *testing.T) kv.Store {
	t.Helper()
	return d.open(t, "/srv/db")
}

func (d memoryDisk) open(t *testing.T, dir string) *pebblekv.Store {
	t.Helper()
	return open(t, dir, d.storeOptions())
}

func (d memoryDisk) storeOptions() pebblekv.Options {
	o := d.options
	o.FS = memoryFS{errorfs.Wrap(d.fs, errorfs.InjectorFunc(d.operation)), d}
	o.Logger = slog.New(slog.DiscardHandler)
	return o
}

func (d memoryDisk) operation(op errorfs.Op) error {
	if before := d.before.Load(); before != nil && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
		(*before)()
	}
	return nil
}

// clone is the disk after a crash.
func (d memoryDisk) clone(rng *rand.Rand) memoryDisk {
	d.cloning.Lock()
	defer d.cloning.Unlock()
	fs := d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(100), RNG: rng})
	return newMemoryDisk(fs, d.options)
}

func (d memoryDisk) Crash(t *testing.T, seed uint64) kvtest.Disk {
	t.Helper()
	return d.clone(rand.New(rand.NewPCG(seed, 0)))
}

func (d memoryDisk) CrashDuring(t *testing.T, seed uint64, fn func()) []kvtest.Disk {
	t.Helper()
	var disks []kvtest.Disk
	for _, disk := range d.crashDuring(seed, fn) {
		disks = append(disks, disk)
	}
	return disks
}

// crashDuring crashes before every operation that writes, up to a number of them, and at the end.
func (d memoryDisk) crashDuring(seed uint64, fn func()) []memoryDisk {
	const most = 150
	rng := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	var disks []memoryDisk
	before := func() {
		mu.Lock()
		defer mu.Unlock()
		if len(disks) < most {
			disks = append(disks, d.clone(rng))
		}
	}
	d.before.Store(&before)
	fn()
	d.before.Store(nil)
	mu.Lock()
	defer mu.Unlock()
	return append(disks, d.clone(rng))
}

// memoryFS is the file system of a memoryDisk.
type memoryFS struct {
	*errorfs.FS
	disk memoryDisk
}

// Link links a file while no clone is made.
func (fs memoryFS) Link(oldname, newname string) error {
	_ = fs.disk.operation(errorfs.Op{Kind: errorfs.OpLink, Path: oldname}) // it only watches
	fs.disk.cloning.RLock()
	defer fs.disk.cloning.RUnlock()
	return fs.disk.fs.Link(oldname, newname)
}

// ReuseForWrite reuses a file while no clone is made.
func (fs memoryFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	_ = fs.disk.operation(errorfs.Op{Kind: errorfs.OpReuseForWrite, Path: oldname})
	fs.disk.cloning.RLock()
	defer fs.disk.cloning.RUnlock()
	f, err := fs.disk.fs.ReuseForWrite(oldname, newname, category)
	if err != nil {
		return nil, err
	}
	return errorfs.WrapFile(f, errorfs.InjectorFunc(fs.disk.operation)), nil
}

func TestDisk(t *testing.T) {
	for name, o := range map[string]pebblekv.Options{
		"Sync":            {},
		"SyncSmallTables": {MemTableBytes: 64 << 10}, // flushes and compactions all the time
		"Interval":        {Durability: pebblekv.Interval, Interval: 1},
		"None":            {Durability: pebblekv.None},
	} {
		t.Run(name, func(t *testing.T) {
			kvtest.RunDisk(t, o.Durability == pebblekv.Sync, func(*testing.T) kvtest.Disk {
				return newMemoryDisk(vfs.NewCrashableMem(), o)
			})
		})
	}
}
