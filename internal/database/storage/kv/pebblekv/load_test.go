package pebblekv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// load loads n incompressible values of a megabyte.
func load(t *testing.T, s *pebblekv.Store, n int) error {
	t.Helper()
	rng := rand.NewChaCha8([32]byte{})
	value := make([]byte, 1<<20)
	return s.Load(t.Context(), func(put func(key, value []byte) error) error {
		for i := range n {
			_, _ = rng.Read(value)
			if err := put(binary.BigEndian.AppendUint32([]byte("l"), uint32(i)), value); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestLoadManyFiles: a load that is larger than a table uses several, and is still atomic.
func TestLoadManyFiles(t *testing.T) {
	created := 0
	watch := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.Contains(op.Path, "/making/load-") {
			created++
		}
		return nil
	}))
	s := open(t, "/db", pebblekv.Options{FS: watch, Logger: slog.New(slog.DiscardHandler)})
	if err := load(t, s, 130); err != nil {
		t.Fatal(err)
	}
	if created != 3 {
		t.Errorf("130 MiB make %d files", created)
	}
	expectEmpty(t, watch, "/db/making")
	n := 0
	it, err := s.Iter(t.Context(), nil, nil, kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for it.Next() {
		if len(it.Value()) == 1<<20 {
			n++
		}
	}
	if err := errors.Join(it.Err(), it.Close()); n != 130 || err != nil {
		t.Errorf("%d of 130 values are there, %v", n, err)
	}
	if size, err := s.Size(t.Context(), nil, nil); size < 130<<20 || size > 140<<20 || err != nil {
		t.Errorf("130 MiB are estimated at %d, %v", size, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLoadFails: wherever writing a table of a load fails, nothing of it is left, and the store continues.
func TestLoadFails(t *testing.T) {
	failed := 0
	for nth, hit := 0, true; hit; nth++ {
		memory := vfs.NewMem()
		spared := []errorfs.OpKind{errorfs.OpRemoveAll, errorfs.OpLink, errorfs.OpRemove}
		disk := &refusal{err: syscall.ENOSPC, about: func(op errorfs.Op) bool {
			return !slices.Contains(spared, op.Kind) && strings.Contains(op.Path, "/making")
		}}
		fs := errorfs.Wrap(memory, disk)
		s := open(t, "/db", pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)})
		disk.arm(nth)
		err := load(t, s, 2)
		hit = disk.disarm()
		if hit {
			failed++
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("write %d refused: %v", nth, err)
			}
			if it, err := s.Iter(t.Context(), nil, nil, kv.IterOptions{}); err != nil || it.Next() || it.Close() != nil {
				t.Errorf("write %d refused: something is loaded: %v", nth, err)
			}
		}
		expectEmpty(t, memory, "/db/making")
		set(t, s, "k", "v")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if nth > 1000 {
			t.Fatal("no end of writes")
		}
	}
	if failed < 5 {
		t.Errorf("the disk refused only %d times", failed)
	}
}

// TestFailedDisk: after the first failure no new work starts, kept snapshots can still be read, and a compaction in progress
// delays nothing.
func TestFailedDisk(t *testing.T) {
	disk := &badDisk{suffix: "/pebble/", kinds: []errorfs.OpKind{errorfs.OpFileWrite, errorfs.OpCreate}, err: syscall.EIO}
	fs := badFS{errorfs.Wrap(vfs.NewMem(), disk)}
	s := open(t, "/db", pebblekv.Options{FS: fs, MemTableBytes: 64 << 10, Logger: slog.New(slog.DiscardHandler)})
	for i := range 500 {
		set(t, s, fmt.Sprint("k", i), strings.Repeat("v", 1000))
	}
	keep(t, s, "one")
	disk.broken.Store(true)
	if err := s.Compact(t.Context(), nil, nil); !errors.Is(err, kv.ErrFailed) {
		t.Errorf("the compaction that finds out: %v", err)
	}
	for name, err := range map[string]error{
		"Keep":     s.Keep(t.Context(), "two", everything),
		"DropKept": s.DropKept(t.Context(), "one"),
		"Load":     s.Load(t.Context(), func(func(key, value []byte) error) error { return nil }),
		"Compact":  s.Compact(t.Context(), nil, nil),
		"TrimLog":  s.TrimLog(t.Context(), 1, 1),
		"Backup":   s.Backup(t.Context(), "/backup", nil),
	} {
		if err != nil != (name != "TrimLog") || err != nil && !errors.Is(err, kv.ErrFailed) {
			t.Errorf("%s after the failure: %v", name, err)
		}
	}
	expectKept(t, s, "one", "k7", strings.Repeat("v", 1000))
	if err := s.Close(); !errors.Is(err, kv.ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}

// TestIngestFails: whatever write in Pebble's own directory fails while tables are ingested, an error is returned, and afterwards
// either all of the load is there or nothing.
func TestIngestFails(t *testing.T) {
	failed := 0
	for nth, hit := 0, true; hit; nth++ {
		memory := vfs.NewCrashableMem()
		disk := &refusal{err: syscall.EIO, about: func(op errorfs.Op) bool {
			return strings.HasPrefix(op.Path, "/db/pebble")
		}}
		o := pebblekv.Options{FS: errorfs.Wrap(memory, disk), Logger: slog.New(slog.DiscardHandler)}
		s := open(t, "/db", o)
		disk.arm(nth)
		err := load(t, s, 2)
		hit = disk.disarm()
		if err != nil {
			failed++
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("write %d refused: %v", nth, err)
			}
		}
		crashed := memory.CrashClone(vfs.CrashCloneCfg{})
		_ = s.Close() // may return the failure
		o.FS = crashed
		s = open(t, "/db", o)
		first, err1 := s.Get(t.Context(), []byte("l\x00\x00\x00\x00"))
		second, err2 := s.Get(t.Context(), []byte("l\x00\x00\x00\x01"))
		if err1 != nil || err2 != nil || len(first) != len(second) || err == nil && len(first) == 0 {
			t.Errorf("write %d refused, %v: then %d, %v and %d bytes, %v", nth, err, len(first), err1, len(second), err2)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if nth > 1000 {
			t.Fatal("no end of writes")
		}
	}
	if failed < 3 {
		t.Errorf("the disk refused only %d times", failed)
	}
}
