package pebblekv_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

// heldCompactions is a file system in which compactions wait until proceed is closed.
type heldCompactions struct {
	vfs.FS
	proceed chan struct{}
}

func (h heldCompactions) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if category == "pebble-compaction" {
		<-h.proceed
	}
	return h.FS.Create(name, category)
}

// fillTables writes enough for many tables of level 0, if memtables are small.
func fillTables(t *testing.T, s *pebblekv.Store) {
	t.Helper()
	for i := range 400 {
		set(t, s, fmt.Sprintf("key %d", i%100), strings.Repeat(fmt.Sprint(i), 5000))
	}
}

// TestOpenDoesNotWaitForCompactions: a store with tables to compact opens, and is read and written, before they are compacted.
// Then they are.
func TestOpenDoesNotWaitForCompactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := crashfs.New()
		first := heldCompactions{disk, make(chan struct{})}
		o := pebblekv.Options{FS: first, MemTableBytes: 256 << 10, Logger: slog.New(slog.DiscardHandler)}
		s := open(t, "/db", o)
		fillTables(t, s)
		synctest.Wait()
		m := s.Metrics()
		if m.L0Sublevels < 8 || m.Compactions > 0 {
			t.Fatalf("%d sublevels of level 0, %d compactions, want at least 8 and none", m.L0Sublevels, m.Compactions)
		}
		after := heldCompactions{disk.Crash(rand.New(rand.NewPCG(1, 2))), make(chan struct{})}
		close(first.proceed)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		o.FS = after
		s = open(t, "/db", o)
		set(t, s, "key 1", "written")
		if v, err := s.Get(t.Context(), []byte("key 1")); string(v) != "written" || err != nil {
			t.Errorf("Get: %q, %v", v, err)
		}
		synctest.Wait()
		if m := s.Metrics(); m.CompactionsRunning == 0 {
			t.Errorf("no compaction runs in the open store")
		}
		close(after.proceed)
		<-time.After(time.Minute)
		if m := s.Metrics(); m.Compactions == 0 || m.L0Sublevels >= 4 {
			t.Errorf("%d compactions, %d sublevels of level 0", m.Compactions, m.L0Sublevels)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// failedWork counts errors of background work in the log.
type failedWork struct {
	slog.Handler
	count *atomic.Int64
}

func (failedWork) Enabled(context.Context, slog.Level) bool { return true }

func (f failedWork) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "background work failed") {
		f.count.Add(1)
	}
	return nil
}

// TestFrozenStoreStartsNoCompactions: a store that is frozen and closed does not try its compactions again and again.
func TestFrozenStoreStartsNoCompactions(t *testing.T) {
	var failed atomic.Int64
	held := heldCompactions{panickyFS{crashfs.New()}, make(chan struct{})}
	s := open(t, "/db", pebblekv.Options{FS: held, MemTableBytes: 256 << 10, Logger: slog.New(failedWork{slog.DiscardHandler, &failed})})
	fillTables(t, s)
	if err := s.Load(t.Context(), func(put func(k, v []byte) error) error { return put([]byte("loaded"), []byte("v")) }); !errors.Is(err, kv.ErrFrozen) {
		t.Fatal(err)
	}
	close(held.proceed)
	if err := s.Close(); !errors.Is(err, kv.ErrFrozen) {
		t.Errorf("Close: %v", err)
	}
	<-time.After(300 * time.Millisecond)
	if failed.Load() > 2 {
		t.Errorf("%d compactions failed", failed.Load())
	}
}
