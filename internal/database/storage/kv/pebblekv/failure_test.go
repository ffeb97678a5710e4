package pebblekv_test

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// badDisk fails writes of certain files from a certain moment on.
type badDisk struct {
	broken atomic.Bool
	suffix string
	kinds  []errorfs.OpKind
	err    error // syscall.ENOSPC if it is nil
}

func (d *badDisk) String() string { return "(bad " + d.suffix + ")" }

func (d *badDisk) MaybeError(op errorfs.Op) error {
	if d.broken.Load() && strings.Contains(op.Path, d.suffix) && slices.Contains(d.kinds, op.Kind) {
		return cmp.Or[error](d.err, syscall.ENOSPC)
	}
	return nil
}

// refusal fails one of the matching writes.
type refusal struct {
	about     func(op errorfs.Op) bool
	err       error
	countdown atomic.Int64 // to the failing write
}

func (r *refusal) String() string { return "(one refusal)" }

func (r *refusal) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && r.about(op) && r.countdown.Add(-1) == 0 {
		return r.err
	}
	return nil
}

// arm makes the nth write from now on fail, counted from 0.
func (r *refusal) arm(nth int) { r.countdown.Store(int64(nth) + 1) }

// disarm stops failing writes, and reports whether one has failed.
func (r *refusal) disarm() bool { return r.countdown.Swap(0) <= 0 }

// badFS calls a badDisk before each write. The underlying file system does not track reused files.
type badFS struct {
	*errorfs.FS
}

func (fs badFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.Remove(oldname); err != nil {
		return nil, err
	}
	return fs.Create(newname, category)
}

// TestDiskFailure: whatever disk write fails under load, the process survives, nothing is acknowledged that is not on disk,
// updates end with a meaningful error, reads of what is on disk continue, Close returns, and the store can be reopened.
func TestDiskFailure(t *testing.T) {
	write := []errorfs.OpKind{errorfs.OpFileWrite}
	sync := []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}
	create := []errorfs.OpKind{errorfs.OpCreate}
	for name, disk := range map[string]*badDisk{
		"log write":       {suffix: ".log", kinds: write},
		"log sync":        {suffix: ".log", kinds: sync},
		"log create":      {suffix: ".log", kinds: create},
		"table write":     {suffix: ".sst", kinds: write},
		"table sync":      {suffix: ".sst", kinds: sync},
		"table create":    {suffix: ".sst", kinds: create},
		"manifest write":  {suffix: "MANIFEST", kinds: write},
		"manifest sync":   {suffix: "MANIFEST", kinds: sync},
		"everything":      {suffix: "", kinds: append(append(write, sync...), create...)},
		"everything sync": {suffix: "", kinds: sync},
	} {
		t.Run(name, func(t *testing.T) { testDiskFailure(t, disk) })
	}
}

func testDiskFailure(t *testing.T, disk *badDisk) {
	t.Helper()
	memory := vfs.NewCrashableMem()
	o := pebblekv.Options{
		FS:            badFS{errorfs.Wrap(memory, disk)},
		MemTableBytes: 64 << 10,
		Logger:        slog.New(slog.DiscardHandler),
	}
	s := open(t, "/db", o)
	acknowledged := writeUntilError(t, s, disk)

	err := s.Update(t.Context(), intent("x"), func(txn kv.Txn) error {
		txn.Set([]byte("x"), []byte("y"))
		return nil
	})
	if !errors.Is(err, kv.ErrFailed) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("an update after the failure: %v", err)
	}
	if err := s.DeleteRange(t.Context(), nil, nil); !errors.Is(err, kv.ErrFailed) {
		t.Errorf("DeleteRange after the failure: %v", err)
	}
	for k, v := range acknowledged {
		got, err := s.Eventual().Get(t.Context(), []byte(k))
		if string(got) < v || err != nil {
			t.Errorf("after the failure %s reads %.10q, %v; %.10q was acknowledged", k, got, err, v)
		}
		// What was read after it is guaranteed like what was acknowledged before.
		got, err = s.Get(t.Context(), []byte(k))
		switch {
		case err == nil && string(got) >= v:
			acknowledged[k] = string(got)
		case !errors.Is(err, kv.ErrFailed):
			t.Errorf("after the failure %s reads %.10q, %v; %.10q was acknowledged", k, got, err, v)
		}
	}
	crashed := memory.CrashClone(vfs.CrashCloneCfg{})
	if err := s.Close(); !errors.Is(err, kv.ErrFailed) {
		t.Errorf("Close after the failure: %v", err)
	}
	disk.broken.Store(false)
	for name, fs := range map[string]vfs.FS{"as it is": memory, "after a crash": crashed} {
		o.FS = fs
		s := open(t, "/db", o)
		for k, v := range acknowledged {
			got, err := s.Get(t.Context(), []byte(k))
			if string(got) < v || err != nil {
				t.Errorf("opened %s, %s reads %.10q, %v; %.10q was acknowledged", name, k, got, err, v)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("opened %s: Close: %v", name, err)
		}
	}
}

// TestDiskFailureWhileOpening: Open returns an error, whichever of its writes fails, and a later Open finds the previous data.
func TestDiskFailureWhileOpening(t *testing.T) {
	for _, existing := range []bool{false, true} {
		for nth := range 60 {
			memory := vfs.NewCrashableMem()
			logger := slog.New(slog.DiscardHandler)
			if existing {
				s := open(t, "data/db", pebblekv.Options{FS: memory, Logger: logger})
				set(t, s, "k", "v")
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			bad := errorfs.Wrap(memory, errorfs.ErrInjected.If(errorfs.And(errorfs.Writes, errorfs.OnIndex(int32(nth)))))
			s, err := tryOpen("data/db", pebblekv.Options{FS: bad, Logger: logger})
			if err == nil {
				err = s.Close()
			}
			if err != nil && !strings.Contains(err.Error(), "injected error") {
				t.Errorf("existing %v, write %d refused: %v", existing, nth, err)
			}
			s = open(t, "data/db", pebblekv.Options{FS: memory, Logger: logger})
			if v, err := s.Get(t.Context(), []byte("k")); (string(v) == "v") != existing || err != nil {
				t.Errorf("existing %v, write %d refused: then k reads %q, %v", existing, nth, v, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// unreserving is a file system that cannot preallocate space for a file, like NFS and ZFS.
type unreserving struct{ vfs.FS }

func (fs unreserving) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, category)
	return unreservedFile{f}, err
}

type unreservedFile struct{ vfs.File }

func (unreservedFile) Preallocate(int64, int64) error { return syscall.EOPNOTSUPP }

// TestNoPreallocation: a file system without preallocation is not a failed disk.
func TestNoPreallocation(t *testing.T) {
	s := open(t, t.TempDir(), pebblekv.Options{FS: unreserving{vfs.Default}, Logger: slog.New(slog.DiscardHandler)})
	for i := range 10 {
		set(t, s, "k", strings.Repeat("v", i<<16))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func set(t *testing.T, s kv.Store, key, value string) {
	t.Helper()
	err := s.Update(t.Context(), intent(key), func(txn kv.Txn) error {
		txn.Set([]byte(key), []byte(value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func intent(key string) kv.Intent { return kv.Intent{Write: [][]byte{[]byte(key)}} }

// writeUntilError writes from several goroutines, fails the disk in between, and returns the last acknowledged value of each key.
// Values of a key increase.
func writeUntilError(t *testing.T, s kv.Store, disk *badDisk) map[string]string {
	t.Helper()
	var mu sync.Mutex
	acknowledged := map[string]string{}
	var wg sync.WaitGroup
	for _, key := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			for i := 0; ; i++ {
				if i == 200 {
					disk.broken.Store(true)
				}
				value := fmt.Sprintf("%05d%s", i, strings.Repeat("x", 1000))
				err := s.Update(t.Context(), intent(key), func(txn kv.Txn) error {
					txn.Set([]byte(key), []byte(value))
					return nil
				})
				if err != nil {
					if !errors.Is(err, kv.ErrUndetermined) && !errors.Is(err, kv.ErrFailed) {
						t.Errorf("update: %v", err)
					}
					return
				}
				mu.Lock()
				acknowledged[key] = value
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return acknowledged
}

// TestHealth: a store whose disk has failed a write reports that permanently.
func TestHealth(t *testing.T) {
	disk := &badDisk{suffix: ".log", kinds: []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}}
	s := open(t, "/db", pebblekv.Options{FS: badFS{errorfs.Wrap(vfs.NewCrashableMem(), disk)}, Logger: slog.New(slog.DiscardHandler)})
	var health kv.Core = s
	if err := health.Health(); err != nil {
		t.Errorf("before the failure: %v", err)
	}
	writeUntilError(t, s, disk)
	disk.broken.Store(false)
	if err := health.Health(); !errors.Is(err, kv.ErrFailed) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("after the failure: %v", err)
	}
	if err := s.Close(); !errors.Is(err, kv.ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}
