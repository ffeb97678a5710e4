package pebblekv_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

var everything = kv.Selection{Spans: []kv.Span{{}}}

func keep(t *testing.T, s *pebblekv.Store, name string) {
	t.Helper()
	if err := s.Keep(t.Context(), name, everything); err != nil {
		t.Fatal(err)
	}
}

// expectKept compares a key of a kept snapshot.
func expectKept(t *testing.T, s *pebblekv.Store, name, k, want string) {
	t.Helper()
	snap, err := s.OpenKept(t.Context(), name)
	if err != nil {
		t.Error(err)
		return
	}
	if v, err := snap.Get([]byte(k)); string(v) != want || err != nil {
		t.Errorf("%s: %s = %.20q, %v, want %.20q", name, k, v, err, want)
	}
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
}

func expectEmpty(t *testing.T, fs vfs.FS, dir string) {
	t.Helper()
	if names, err := fs.List(dir); len(names) > 0 {
		t.Errorf("%s holds %q, %v", dir, names, err)
	}
}

// linkless is a file system without hard links.
type linkless struct{ vfs.FS }

func (linkless) Link(string, string) error { return syscall.EOPNOTSUPP }

// TestKeepSharesTables: a kept snapshot of a large store takes little space on a file system with hard links, and works on one
// without.
func TestKeepSharesTables(t *testing.T) {
	for _, links := range []bool{true, false} {
		memory := vfs.NewMem()
		var fs vfs.FS = memory
		if !links {
			fs = linkless{memory}
		}
		created := 0
		counting := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpCreate && strings.Contains(op.Path, "making") && strings.HasSuffix(op.Path, ".sst") {
				created++
			}
			return nil
		}))
		s := open(t, "/db", pebblekv.Options{FS: counting, Logger: slog.New(slog.DiscardHandler)})
		set(t, s, "k", strings.Repeat("v", 1<<20))
		keep(t, s, "one")
		if (created > 0) == links {
			t.Errorf("links %v: %d tables were written", links, created)
		}
		set(t, s, "k", "new")
		expectKept(t, s, "one", "k", strings.Repeat("v", 1<<20))
		if list, err := s.Kept(t.Context()); len(list) != 1 || list[0].Bytes < 1000 || err != nil {
			t.Errorf("%+v, %v", list, err)
		}
		expectEmpty(t, fs, "/db/making")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDropKeptWhileOpen(t *testing.T) {
	s := open(t, t.TempDir(), pebblekv.Options{})
	set(t, s, "k", "v")
	keep(t, s, "one")
	snap, err := s.OpenKept(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DropKept(t.Context(), "one"); err == nil {
		t.Error("a snapshot was dropped under its reader")
	}
	if v, err := snap.Get([]byte("k")); string(v) != "v" || err != nil {
		t.Errorf("k = %q, %v", v, err)
	}
	if err := errors.Join(snap.Close(), snap.Close(), s.DropKept(t.Context(), "one"), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestOpenRemovesUnfinished: leftovers of a crash in DIR/making are removed when the store is opened.
func TestOpenRemovesUnfinished(t *testing.T) {
	fs := vfs.NewMem()
	o := pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)}
	s := open(t, "/db", o)
	keep(t, s, "one")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fs.MkdirAll("/db/making/keep-7/deep", 0o700); err != nil {
		t.Fatal(err)
	}
	s = open(t, "/db", o)
	expectEmpty(t, fs, "/db/making")
	keep(t, s, "two")
	if list, err := s.Kept(t.Context()); len(list) != 2 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// slowLog is a file system on which others write to the log while it is being copied.
type slowLog struct {
	vfs.FS
	mu      sync.Mutex
	copying func() // called between two reads of a log; may be nil
}

func (fs *slowLog) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, o...)
	if err == nil && strings.HasSuffix(name, ".log") && !strings.Contains(name, "making") {
		f = &slowFile{f, fs}
	}
	return f, err
}

type slowFile struct {
	vfs.File
	fs *slowLog
}

func (f *slowFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.copying != nil {
		f.fs.copying()
	}
	return n, err
}

// TestKeepWhileLogIsReused: copying a log that reuses an old file, and grows during the copy, leaves a gap in the copy. The
// snapshot ends before the gap, and has everything acknowledged before it started.
func TestKeepWhileLogIsReused(t *testing.T) {
	fs := &slowLog{FS: vfs.NewMem()}
	s := open(t, "/db", pebblekv.Options{FS: fs, MemTableBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	value := strings.Repeat("v", 4000)
	for range 2000 { // memtables fill and their logs are reused
		set(t, s, "k", value)
	}
	for range 5 {
		set(t, s, "k", value+"last")
		writes := 0
		fs.mu.Lock()
		fs.copying = func() {
			writes++
			for range 15 {
				set(t, s, "k", value+"later")
			}
			if writes == 5 {
				fs.copying = nil
			}
		}
		fs.mu.Unlock()
		keep(t, s, "one")
		if writes == 0 {
			t.Fatal("the log was not copied")
		}
		snap, err := s.OpenKept(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		if v, err := snap.Get([]byte("k")); !strings.HasPrefix(string(v), value+"la") || err != nil {
			t.Errorf("k = …%q, %v", v[max(0, len(v)-10):], err)
		}
		if err := errors.Join(snap.Close(), s.DropKept(t.Context(), "one")); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestKeepFails: wherever a disk write for a snapshot fails, there is no snapshot, nothing is left over, and the store continues.
func TestKeepFails(t *testing.T) {
	failed := 0
	for nth, hit := 0, true; hit; nth++ {
		memory := vfs.NewCrashableMem()
		disk := &refusal{err: syscall.ENOSPC, about: func(op errorfs.Op) bool {
			return op.Kind != errorfs.OpRemoveAll &&
				(strings.Contains(op.Path, "/making") || strings.Contains(op.Path, "/kept"))
		}}
		fs := errorfs.Wrap(memory, disk)
		s := open(t, "/db", pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)})
		set(t, s, "k", "old")
		disk.arm(nth)
		err := s.Keep(t.Context(), "one", everything)
		hit = disk.disarm()
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("write %d refused: %v", nth, err)
			}
		}
		set(t, s, "k", "new")
		if err == nil || errors.Is(err, kv.ErrUndetermined) {
			expectKept(t, s, "one", "k", "old")
		} else if list, err := s.Kept(t.Context()); len(list) != 0 || err != nil {
			t.Errorf("write %d refused: kept are %v, %v", nth, list, err)
		}
		expectEmpty(t, memory, "/db/making")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if failed < 10 {
		t.Errorf("the disk refused only %d times", failed)
	}
}

// TestKeepCutsLog: a kept snapshot does not contain the rest of an old log whose file the newest log reuses.
func TestKeepCutsLog(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "/db", pebblekv.Options{FS: fs, MemTableBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	recycled := false
	for round := range 8 {
		for i := range uint64(400) {
			if err := putFiller(t.Context(), s, i); err != nil {
				t.Fatal(err)
			}
		}
		name := fmt.Sprintf("round-%d", round)
		keep(t, s, name)
		for _, dir := range []string{"/db/pebble", "/db/kept/" + name} {
			names, err := fs.List(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, log := range names {
				if !strings.HasSuffix(log, ".log") {
					continue
				}
				info, err := fs.Stat(fs.PathJoin(dir, log))
				if err != nil {
					t.Fatal(err)
				}
				recycled = recycled || dir == "/db/pebble" && info.Size() > 256<<10
				if dir != "/db/pebble" && info.Size() > 128<<10 {
					t.Errorf("%s/%s has %d bytes", dir, log, info.Size())
				}
			}
		}
		expectKept(t, s, name, string(fillerKey(7)), string(filler(7)))
	}
	if !recycled {
		t.Error("no log used the file of an old one")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
