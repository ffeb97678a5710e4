package pebblekv_test

import (
	"errors"
	"io"
	"maps"
	"os"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// readOnlyFS is a file system that is mounted read-only.
type readOnlyFS struct{ vfs.FS }

func refused(op, name string) error {
	return &os.PathError{Op: op, Path: name, Err: syscall.EROFS}
}

func (readOnlyFS) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, refused("create", name)
}

func (readOnlyFS) OpenReadWrite(name string, _ vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	return nil, refused("open", name)
}

func (readOnlyFS) ReuseForWrite(_, name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, refused("reuse", name)
}

func (readOnlyFS) Lock(name string) (io.Closer, error)       { return nil, refused("open", name) }
func (readOnlyFS) Link(_, name string) error                 { return refused("link", name) }
func (readOnlyFS) Remove(name string) error                  { return refused("remove", name) }
func (readOnlyFS) RemoveAll(name string) error               { return refused("remove", name) }
func (readOnlyFS) Rename(_, name string) error               { return refused("rename", name) }
func (readOnlyFS) MkdirAll(name string, _ os.FileMode) error { return refused("mkdir", name) }

// TestReadOnly opens a store that was not closed, and a copy that was never opened, on a read-only file system.
func TestReadOnly(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, fs vfs.FS, s *pebblekv.Store) (vfs.FS, string){
		"crashed": func(t *testing.T, fs vfs.FS, _ *pebblekv.Store) (vfs.FS, string) {
			t.Helper()
			crashed := vfs.NewMem()
			if _, err := vfs.Clone(fs, crashed, "db", "db"); err != nil {
				t.Fatal(err)
			}
			return crashed, "db"
		},
		"backup": func(t *testing.T, fs vfs.FS, s *pebblekv.Store) (vfs.FS, string) {
			t.Helper()
			if err := s.Backup(t.Context(), "backup", nil); err != nil {
				t.Fatal(err)
			}
			return fs, "backup"
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			live, err := pebblekv.Open("db", onMemory(fs))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = live.Close() }()
			fillSecrets(t, live)
			copied, dir := prepare(t, fs, live)
			before := allFiles(t, copied, dir)
			o := onMemory(readOnlyFS{copied})
			o.ReadOnly = true
			s, err := pebblekv.Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			want, got := allContents(t, live), allContents(t, s)
			if len(want) == 0 || !maps.Equal(got, want) {
				t.Errorf("a store opened for reading has %d values, want %d", len(got), len(want))
			}
			kept, err := s.OpenKept(t.Context(), "kept")
			if err != nil {
				t.Error(err)
			} else if err := kept.Close(); err != nil {
				t.Error(err)
			}
			key := []byte("new")
			err = s.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error { txn.Set(key, key); return nil })
			if !errors.Is(err, kv.ErrReadOnly) {
				t.Errorf("Update: %v, want ErrReadOnly", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if after := allFiles(t, copied, dir); !maps.Equal(after, before) {
				t.Error("reading has changed the directory")
			}
		})
	}
}

// TestReadOnlyExcludesWriters: neither a store that is open, nor one that another process opens meanwhile, is read unnoticed.
func TestReadOnlyExcludesWriters(t *testing.T) {
	fs := vfs.NewMem()
	live, err := pebblekv.Open("db", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	o := onMemory(fs)
	o.ReadOnly = true
	if _, err := pebblekv.Open("db", o); !errors.Is(err, kv.ErrLocked) {
		t.Errorf("a store that is open: %v, want ErrLocked", err)
	}
	if err := errors.Join(live.Backup(t.Context(), "backup", nil), live.Close()); err != nil {
		t.Fatal(err)
	}
	reader, err := pebblekv.Open("backup", o)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := pebblekv.Open("backup", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); !errors.Is(err, kv.ErrLocked) {
		t.Errorf("a copy that was opened while it was read: %v, want ErrLocked", err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := pebblekv.Open("nowhere", o); err == nil {
		t.Error("a missing store was opened for reading")
	}
}

func allContents(t *testing.T, s *pebblekv.Store) map[string]string {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := contents(t, snapshot, kv.Span{})
	if err := snapshot.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}
