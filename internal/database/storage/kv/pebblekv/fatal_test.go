package pebblekv_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

var errInvariant = errors.New("an invariant is broken")

// breakable opens a store with the key "kept". An invariant of Pebble is violated once broken is set. OnFatal adds to fatal.
func breakable(t *testing.T, fs vfs.FS) (s *pebblekv.Store, broken *atomic.Bool, fatal *atomic.Int32) {
	t.Helper()
	broken, fatal = new(atomic.Bool), new(atomic.Int32)
	pebblekv.BreakInvariant(t, func() error {
		if broken.Load() {
			return errInvariant
		}
		return nil
	})
	s = open(t, "/db", pebblekv.Options{
		FS: fs, Logger: slog.New(slog.DiscardHandler), MemTableBytes: 64 << 10,
		OnFatal: func(err error) {
			if !errors.Is(err, kv.ErrFrozen) {
				t.Errorf("OnFatal gets %v", err)
			}
			fatal.Add(1)
		},
	})
	set(t, s, "kept", "v")
	return s, broken, fatal
}

// wantFrozen: every call of the store returns that it is frozen, even while others are stuck in it.
func wantFrozen(t *testing.T, s *pebblekv.Store) {
	t.Helper()
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Get":         func() error { _, err := s.Get(ctx, []byte("kept")); return err },
		"Counter":     func() error { _, err := s.Counter(ctx, []byte("kept")); return err },
		"Iter":        func() error { _, err := s.Iter(ctx, nil, nil, kv.IterOptions{}); return err },
		"Snapshot":    func() error { _, err := s.Snapshot(ctx); return err },
		"Eventual":    func() error { _, err := s.Eventual().Get(ctx, []byte("kept")); return err },
		"Update":      func() error { return s.Update(ctx, intent("kept"), func(kv.Txn) error { return nil }) },
		"ReadLog":     func() error { _, _, err := s.ReadLog(ctx, 1, 0, 1); return err },
		"TrimLog":     func() error { return s.TrimLog(ctx, 1, 1) },
		"LogTrimmed":  func() error { _, err := s.LogTrimmed(ctx, 1); return err },
		"DeleteRange": func() error { return s.DeleteRange(ctx, nil, nil) },
		"Load":        func() error { return s.Load(ctx, func(func(k, v []byte) error) error { return nil }) },
		"Size":        func() error { _, err := s.Size(ctx, nil, nil); return err },
		"LogSize":     func() error { _, err := s.LogSize(ctx, 1, 0); return err },
		"Compact":     func() error { return s.Compact(ctx, nil, nil) },
		"Keep":        func() error { return s.Keep(ctx, "k", kv.Selection{}) },
		"Kept":        func() error { _, err := s.Kept(ctx); return err },
		"OpenKept":    func() error { _, err := s.OpenKept(ctx, "k"); return err },
		"DropKept":    func() error { return s.DropKept(ctx, "k") },
		"Backup":      func() error { return s.Backup(ctx, "/copy", nil) },
	} {
		if err := call(); !errors.Is(err, kv.ErrFrozen) {
			t.Errorf("%s on a frozen store: %v", name, err)
		}
	}
	if err := s.Close(); !errors.Is(err, kv.ErrFrozen) {
		t.Errorf("Close of a frozen store: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestFatalOnCallersGoroutine: Pebble fails fatally during a call.
func TestFatalOnCallersGoroutine(t *testing.T) {
	s, broken, fatal := breakable(t, crashfs.New())
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Iter(t.Context(), nil, nil, kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	err = s.Load(t.Context(), func(put func(k, v []byte) error) error { return put([]byte("loaded"), []byte("v")) })
	if !errors.Is(err, kv.ErrFrozen) || !errors.Is(err, kv.ErrUndetermined) || !strings.Contains(err.Error(), errInvariant.Error()) {
		t.Errorf("Load: %v", err)
	}
	if _, err := snapshot.Get([]byte("kept")); !errors.Is(err, kv.ErrFrozen) {
		t.Errorf("Get of a snapshot: %v", err)
	}
	if err := errors.Join(snapshot.Close(), it.Close()); err != nil {
		t.Error(err)
	}
	wantFrozen(t, s)
	if n := fatal.Load(); n != 1 {
		t.Errorf("OnFatal was called %d times", n)
	}
}

// TestFatalInBackground: Pebble fails fatally in its own goroutine, while an update waits for its sync. The update's outcome is
// unknown, and what was acknowledged is there when the store is reopened.
func TestFatalInBackground(t *testing.T) {
	fs := crashfs.New()
	s, broken, fatal := breakable(t, fs)
	broken.Store(true)
	if err := s.Compact(t.Context(), nil, nil); !errors.Is(err, kv.ErrFrozen) {
		t.Errorf("Compact: %v", err)
	}
	wantFrozen(t, s)
	if n := fatal.Load(); n != 1 {
		t.Errorf("OnFatal was called %d times", n)
	}
	broken.Store(false)
	for name, disk := range map[string]vfs.FS{"as it is": fs, "after a crash": fs.Crash(rand.New(rand.NewPCG(1, 1)))} {
		again := open(t, "/db", pebblekv.Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
		if v, err := again.Get(t.Context(), []byte("kept")); string(v) != "v" || err != nil {
			t.Errorf("opened %s: %q, %v", name, v, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFatalWhileUpdatesWait: updates that are being synced when the store freezes are not acknowledged.
func TestFatalWhileUpdatesWait(t *testing.T) {
	fs := crashfs.New()
	s, broken, _ := breakable(t, fs)
	release := fs.HoldSyncs()
	updated := make(chan error, 1)
	go func() {
		updated <- s.Update(context.WithoutCancel(t.Context()), intent("a"), func(txn kv.Txn) error {
			txn.Set([]byte("a"), []byte("v"))
			return nil
		})
	}()
	waitVisible(t, s, "a")
	broken.Store(true)
	compacted := make(chan error, 1)
	go func() { compacted <- s.Compact(context.WithoutCancel(t.Context()), nil, nil) }()
	release()
	if err := <-compacted; !errors.Is(err, kv.ErrFrozen) {
		t.Errorf("Compact: %v", err)
	}
	if err := <-updated; err != nil && !errors.Is(err, kv.ErrUndetermined) {
		t.Errorf("the update: %v", err)
	}
	wantFrozen(t, s)
}

// panickyFS panics when a table is linked, which Load does during its commit.
type panickyFS struct{ vfs.FS }

func (panickyFS) Link(string, string) error { panic("a defect") }

// TestPanicInCommit: a panic during a commit freezes the store.
func TestPanicInCommit(t *testing.T) {
	s, _, fatal := breakable(t, panickyFS{crashfs.New()})
	err := s.Load(t.Context(), func(put func(k, v []byte) error) error { return put([]byte("loaded"), []byte("v")) })
	if !errors.Is(err, kv.ErrUndetermined) || !errors.Is(err, kv.ErrFrozen) || !strings.Contains(err.Error(), "a defect") {
		t.Errorf("Load: %v", err)
	}
	wantFrozen(t, s)
	if n := fatal.Load(); n != 1 {
		t.Errorf("OnFatal was called %d times", n)
	}
}

// TestPanicInUpdateFunction: a panic in the caller's function is propagated, writes nothing, and leaves the store usable.
func TestPanicInUpdateFunction(t *testing.T) {
	s, _, fatal := breakable(t, crashfs.New())
	func() {
		defer func() {
			if reason := recover(); reason != "a defect" {
				t.Errorf("recovered %v", reason)
			}
		}()
		_ = s.Update(t.Context(), intent("kept"), func(txn kv.Txn) error {
			txn.Set([]byte("kept"), []byte("half"))
			panic("a defect")
		})
	}()
	if v, err := s.Get(t.Context(), []byte("kept")); string(v) != "v" || err != nil {
		t.Errorf("then the key reads %q, %v", v, err)
	}
	set(t, s, "kept", "again")
	if err := s.Close(); err != nil || fatal.Load() != 0 {
		t.Errorf("Close: %v; OnFatal was called %d times", err, fatal.Load())
	}
}
