package pebblekv

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// unreportingFS has 100 MiB of free space, and sometimes fails to say so.
type unreportingFS struct {
	vfs.FS
	err error
}

func (f *unreportingFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 100 << 20, TotalBytes: 1 << 30}, f.err
}

// TestSpaceCountsLargeWritesWithoutUsage: a large write that begins while the file system does not report its free space
// is counted like any other, so that the reserve stays whole afterwards.
func TestSpaceCountsLargeWritesWithoutUsage(t *testing.T) {
	fs := &unreportingFS{FS: vfs.NewMem()}
	s := newSpace(fs, "/", 64<<20, slog.New(slog.DiscardHandler))
	fs.err = errors.New("statfs: interrupted")
	for range 10 {
		if err := s.admit(8<<20, false); err != nil {
			t.Fatal(err)
		}
		s.end(8 << 20)
	}
	if n := s.writing.Load(); n != 0 {
		t.Errorf("no write is under way, and %d MiB are counted as being written", n>>20)
	}
	fs.err = nil
	if err := s.admit(60<<20, false); err == nil {
		t.Error("60 MiB are admitted with 100 MiB free and a reserve of 64 MiB")
	}
}
