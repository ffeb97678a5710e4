package pebblekv_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

// meter checks the progress reported by Backup and Copy.
type meter struct {
	t           *testing.T
	done, total int64
	calls       int
}

func (m *meter) progress(done, total int64) {
	if m.calls++; m.calls == 1 {
		m.total = total
	}
	if done < m.done || done > total || total != m.total {
		m.t.Errorf("%d of %d bytes after %d of %d", done, total, m.done, m.total)
	}
	m.done = done
}

func (m *meter) end() {
	m.t.Helper()
	if m.done != m.total || m.total == 0 {
		m.t.Errorf("at the end %d of %d bytes are done", m.done, m.total)
	}
}

// TestBackupUnderLoad: a backup has everything acknowledged before it, including kept snapshots, and is independent of the store.
func TestBackupUnderLoad(t *testing.T) {
	for name, o := range map[string]pebblekv.Options{
		"links":    {FS: vfs.NewMem()},
		"no links": {FS: linkless{vfs.NewMem()}, Durability: pebblekv.None},
	} {
		t.Run(name, func(t *testing.T) {
			o.MemTableBytes, o.Logger = 64<<10, slog.New(slog.DiscardHandler)
			s := open(t, "/db", o)
			set(t, s, "k", "kept")
			keep(t, s, "one")
			var acknowledged atomic.Int64
			ctx, cancel := context.WithCancel(t.Context())
			var writer sync.WaitGroup
			writer.Go(func() {
				for i := int64(1); ctx.Err() == nil; i++ {
					set(t, s, "k", fmt.Sprintf("%09d%s", i, strings.Repeat("v", 1000)))
					acknowledged.Store(i)
				}
			})
			for i := range 3 {
				for until := acknowledged.Load() + 100; acknowledged.Load() < until; {
				}
				before := fmt.Sprintf("%09d", acknowledged.Load())
				dest := fmt.Sprintf("/backups/%d", i)
				m := &meter{t: t}
				if err := s.Backup(t.Context(), dest, m.progress); err != nil {
					t.Fatal(err)
				}
				m.end()
				expectEmpty(t, o.FS, "/db/making")
				b := open(t, dest, o)
				v, err := b.Get(t.Context(), []byte("k"))
				if len(v) < 9 || string(v[:9]) < before || err != nil {
					t.Errorf("the backup has %.9s, %v; %s was acknowledged before it", v, err, before)
				}
				expectKept(t, b, "one", "k", "kept")
				set(t, b, "k", "of the backup")
				if err := errors.Join(b.DropKept(t.Context(), "one"), b.Compact(t.Context(), nil, nil), b.Close()); err != nil {
					t.Error(err)
				}
			}
			cancel()
			writer.Wait()
			expectKept(t, s, "one", "k", "kept")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBackupRejects: a target that is not empty is left unchanged.
func TestBackupRejects(t *testing.T) {
	fs := vfs.NewMem()
	o := pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)}
	s := open(t, "/db", o)
	set(t, s, "k", "v")
	other := open(t, "/other", o)
	if err := errors.Join(other.Close(), fs.MkdirAll("/empty/lost+found", 0o700)); err != nil {
		t.Fatal(err)
	}
	refuse := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for dest, want := range map[string]string{
		"": "the directory's name is empty", "/other": "contains files", "/db": "the store itself", "/db/x/y": "the store itself",
	} {
		refuse(s.Backup(t.Context(), dest, nil), want)
	}
	for dest, want := range map[string]string{
		"": "the directory's name is empty", "/db": "contains files", "/other": "the store itself", "/other/x": "the store itself",
	} {
		refuse(pebblekv.Copy(t.Context(), fs, "/other", dest, nil), want)
	}
	if err := pebblekv.Copy(t.Context(), fs, "/db", "/copy", nil); !errors.Is(err, kv.ErrLocked) {
		t.Errorf("a copy of a store that is open: %v", err)
	}
	refuse(pebblekv.Copy(t.Context(), fs, "/empty", "/copy", nil), "contains no store")
	refuse(pebblekv.Copy(t.Context(), fs, "/nowhere", "/copy", nil), "contains no store")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	refuse(s.Backup(ctx, "/copy", nil), "canceled")
	refuse(pebblekv.Copy(ctx, fs, "/other", "/copy", nil), "canceled")
	if _, err := fs.Stat("/copy"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after errors there is a directory: %v", err)
	}
	if err := errors.Join(s.Backup(t.Context(), "/empty", nil), s.Close(), open(t, "/empty", o).Close()); err != nil {
		t.Error(err)
	}
	if err := s.Backup(t.Context(), "/late", nil); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("Backup after Close: %v", err)
	}
	if err := open(t, "/other", o).Close(); err != nil {
		t.Error(err)
	}
}

// TestBackupFails: wherever writing to the target fails, nothing is left there, and the store continues.
func TestBackupFails(t *testing.T) {
	failed := 0
	for nth, hit := 0, true; hit; nth++ {
		memory := vfs.NewMem()
		disk := &refusal{err: syscall.ENOSPC, about: func(op errorfs.Op) bool {
			return op.Kind != errorfs.OpRemoveAll && strings.HasPrefix(op.Path, "/backup")
		}}
		fs := errorfs.Wrap(linkless{memory}, disk)
		o := pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)}
		s := open(t, "/db", o)
		set(t, s, "k", "v")
		keep(t, s, "one")
		existed := nth%2 == 1
		if existed {
			if err := memory.MkdirAll("/backup", 0o700); err != nil {
				t.Fatal(err)
			}
		}
		disk.arm(nth)
		err := s.Backup(t.Context(), "/backup", nil)
		hit = disk.disarm()
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("write %d refused: %v", nth, err)
			}
			if _, err := memory.Stat("/backup"); errors.Is(err, os.ErrNotExist) == existed {
				t.Errorf("write %d refused: the directory was there: %v; then %v", nth, existed, err)
			}
			expectEmpty(t, memory, "/backup")
			if err := s.Backup(t.Context(), "/backup", nil); err != nil {
				t.Errorf("write %d refused: then %v", nth, err)
			}
		}
		expectEmpty(t, memory, "/db/making")
		set(t, s, "k", "new")
		b := open(t, "/backup", o)
		if v, err := b.Get(t.Context(), []byte("k")); string(v) != "v" || err != nil {
			t.Errorf("write %d refused: the backup has %q, %v", nth, v, err)
		}
		expectKept(t, b, "one", "k", "v")
		if err := errors.Join(b.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	if failed < 20 {
		t.Errorf("the disk refused only %d times", failed)
	}
}

// TestCrashDuringBackup: after a power failure there is either a complete backup or none that can be opened, and the store is
// unaffected.
func TestCrashDuringBackup(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d := memoryDisk{fs: crashfs.New()}
	s := d.open(t, "/db")
	for i := range 20 {
		set(t, s, fmt.Sprint("k", i), "v")
	}
	keep(t, s, "one")
	disks := d.crashDuring(seed, func() {
		if err := s.Backup(t.Context(), "/backup", nil); err != nil {
			t.Error(err)
		}
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	whole := 0
	for i, crashed := range disks {
		s := crashed.open(t, "/db")
		expectEmpty(t, crashed.fs, "/db/making")
		expectKept(t, s, "one", "k19", "v")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if names, _ := crashed.fs.List("/backup"); len(names) == 0 {
			continue
		}
		b, err := tryOpen("/backup", crashed.storeOptions())
		if err != nil {
			if !strings.Contains(err.Error(), "incomplete copy") && !strings.Contains(err.Error(), "other files") {
				t.Errorf("moment %d of %d: %v", i, len(disks), err)
			}
			continue
		}
		whole++
		for i := range 20 {
			if v, err := b.Get(t.Context(), fmt.Append(nil, "k", i)); string(v) != "v" || err != nil {
				t.Errorf("moment %d of %d: k%d = %q, %v", i, len(disks), i, v, err)
			}
		}
		expectKept(t, b, "one", "k19", "v")
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if whole == 0 || whole == len(disks) {
		t.Errorf("of %d moments %d found a whole backup", len(disks), whole)
	}
}

// TestCopy: a copy of a store that was killed equals that store, and shares no files with it.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "deep", "to")
	s := open(t, from, pebblekv.Options{})
	set(t, s, "k", strings.Repeat("v", 3<<20))
	keep(t, s, "one")
	set(t, s, "k", "new")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(from, "making", "rest"), 0o700); err != nil {
		t.Fatal(err)
	}
	m := &meter{t: t}
	if err := pebblekv.Copy(t.Context(), nil, from, to, m.progress); err != nil {
		t.Fatal(err)
	}
	m.end()
	if m.calls < 6 {
		t.Errorf("of two files of 3 MiB and others progress was reported %d times", m.calls)
	}
	for name := range listing(t, to) {
		relative, err := filepath.Rel(to, name)
		if err != nil {
			t.Fatal(err)
		}
		old, err := os.Stat(filepath.Join(from, relative))
		fresh, err2 := os.Stat(name)
		if err := errors.Join(err, err2); err != nil || os.SameFile(old, fresh) {
			t.Errorf("%s is shared: %v", relative, err)
		}
		if strings.Contains(relative, "making") || relative == "INCOMPLETE" {
			t.Errorf("%s was copied", relative)
		}
	}
	for _, dir := range []string{from, to} {
		s := open(t, dir, pebblekv.Options{})
		if v, err := s.Get(t.Context(), []byte("k")); string(v) != "new" || err != nil {
			t.Errorf("%s: k = %.10q, %v", dir, v, err)
		}
		expectKept(t, s, "one", "k", strings.Repeat("v", 3<<20))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCopyCanceled: a canceled copy leaves nothing.
func TestCopyCanceled(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "/db", pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)})
	set(t, s, "k", strings.Repeat("v", 5<<20))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := pebblekv.Copy(ctx, fs, "/db", "/copies/one", func(done, total int64) {
		if done > total/2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	expectEmpty(t, fs, "/copies")
}
