package pebblekv_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestBackgroundWorkIsReported tests that each flush and compaction is reported when it begins and when it ends, and each commit.
func TestBackgroundWorkIsReported(t *testing.T) {
	var begun, ended, commits atomic.Int32
	s := open(t, "/db", pebblekv.Options{FS: vfs.NewMem(), MemTableBytes: 64 << 10, OnBackgroundWork: func(begins bool) {
		if begins {
			begun.Add(1)
		} else {
			ended.Add(1)
		}
	}, OnCommit: func() { commits.Add(1) }})
	for i := range 200 {
		set(t, s, fmt.Sprintf("key %d", i), string(make([]byte, 4<<10)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if begun.Load() == 0 || begun.Load() != ended.Load() {
		t.Errorf("%d flushes and compactions began, %d ended", begun.Load(), ended.Load())
	}
	if commits.Load() != 200 {
		t.Errorf("%d commits, want 200", commits.Load())
	}
}
