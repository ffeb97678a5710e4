package pebblekv

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// unreportingFS has 100 MiB of free space, and sometimes fails to report it.
type unreportingFS struct {
	vfs.FS
	err error
}

func (f *unreportingFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 100 << 20, TotalBytes: 1 << 30}, f.err
}

// TestSpaceCountsLargeWritesWithoutUsage: a large write that starts while the file system does not report its free space is
// counted like any other, so that the reserve is intact afterwards.
func TestSpaceCountsLargeWritesWithoutUsage(t *testing.T) {
	fs := &unreportingFS{FS: vfs.NewMem()}
	s, err := newSpace(fs, "/", 64<<20, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	fs.err = errors.New("statfs: interrupted")
	for range 10 {
		if err := s.admit(8<<20, ample); err != nil {
			t.Fatal(err)
		}
		s.end(8 << 20)
	}
	if n := s.writing.Load(); n != 0 {
		t.Errorf("no write is under way, and %d MiB are counted as being written", n>>20)
	}
	fs.err = nil
	if err := s.admit(60<<20, ample); err == nil {
		t.Error("60 MiB are admitted with 100 MiB free and a reserve of 64 MiB")
	}
}

// TestSpaceLogsOnce: a short fluctuation, as during a compaction, is logged once: each lower level immediately, with its own
// message, and more space only when that has lasted.
func TestSpaceLogsOnce(t *testing.T) {
	const reserve = 64 << 20
	fs := vfs.NewMem()
	available := func(bytes uint64) { fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: bytes, TotalBytes: 1 << 30}) }
	available(1 << 30)
	var text strings.Builder
	s, err := newSpace(fs, "/", reserve, slog.New(slog.NewTextHandler(&text, nil)))
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Unix(0, 0)
	s.now = func() time.Time { return clock }
	for _, step := range []struct {
		after     time.Duration
		available uint64
		line      string
	}{
		{0, reserve / 4, "half of the disk reserve is used"}, // both bounds at once
		{time.Second, reserve - 1, ""},
		{relief, reserve - 1, "only reads and deletes"},
		{time.Second, 2 * reserve, ""},
		{time.Second, reserve - 1, ""},
		{relief, 2 * reserve, ""},
		{time.Second, 2 * reserve, ""},
		{relief, 2 * reserve, "disk space again"},
		{time.Hour, 2 * reserve, ""},
	} {
		clock = clock.Add(step.after)
		available(step.available)
		text.Reset()
		s.look()
		if got := text.String(); !strings.Contains(got, step.line) || step.line == "" && got != "" {
			t.Errorf("%s later, with %d MiB: logged %q, want %q", step.after, step.available>>20, got, step.line)
		}
	}
}
