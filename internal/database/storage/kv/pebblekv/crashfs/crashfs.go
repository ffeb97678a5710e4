// Package crashfs is an in-memory file system for testing what survives a power failure.
//
// A crash loses everything that was not synced, or a random part of it. The file system that crashed continues to work, so that a
// test can examine the result of a crash while its store keeps running. All methods are safe for concurrent use.
package crashfs

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

var syncs = []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}

// FS implements vfs.FS.
type FS struct {
	*errorfs.FS
	memory *vfs.MemFS
	// cloning is held while the disk is cloned. Links and reused files are created outside of that: each takes a lock of the file
	// system twice, which deadlocks if a clone requests it in between.
	cloning sync.RWMutex
	before  atomic.Pointer[func()]
	held    atomic.Pointer[chan struct{}]
}

// New returns an empty file system.
func New() *FS { return wrap(vfs.NewCrashableMem()) }

func wrap(memory *vfs.MemFS) *FS {
	fs := &FS{memory: memory}
	fs.FS = errorfs.Wrap(memory, errorfs.InjectorFunc(fs.operation))
	return fs
}

// Crash returns what a power failure at this moment could leave: everything that was synced, and a random part, or nothing, of
// the rest.
func (fs *FS) Crash(random *rand.Rand) *FS {
	fs.cloning.Lock()
	defer fs.cloning.Unlock()
	percent := max(0, random.IntN(200)-100)
	return wrap(fs.memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: random}))
}

// BeforeWrites sets a function to call before each write operation; nil removes it.
func (fs *FS) BeforeWrites(fn func()) {
	if fn == nil {
		fs.before.Store(nil)
		return
	}
	fs.before.Store(&fn)
}

// HoldSyncs blocks syncs of files until release is called.
func (fs *FS) HoldSyncs() (release func()) {
	held := make(chan struct{})
	fs.held.Store(&held)
	return func() {
		fs.held.Store(nil)
		close(held)
	}
}

// operation is called before each operation. It never fails.
func (fs *FS) operation(op errorfs.Op) error {
	if before := fs.before.Load(); before != nil && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
		(*before)()
	}
	if held := fs.held.Load(); held != nil && slices.Contains(syncs, op.Kind) {
		<-*held
	}
	return nil
}

// Link creates a link while no clone is being made.
func (fs *FS) Link(oldname, newname string) error {
	_ = fs.operation(errorfs.Op{Kind: errorfs.OpLink, Path: oldname})
	fs.cloning.RLock()
	defer fs.cloning.RUnlock()
	return fs.memory.Link(oldname, newname)
}

// ReuseForWrite reuses a file while no clone is being made.
func (fs *FS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	_ = fs.operation(errorfs.Op{Kind: errorfs.OpReuseForWrite, Path: oldname})
	fs.cloning.RLock()
	defer fs.cloning.RUnlock()
	f, err := fs.memory.ReuseForWrite(oldname, newname, category)
	if err != nil {
		return nil, err
	}
	return errorfs.WrapFile(f, errorfs.InjectorFunc(fs.operation)), nil
}
