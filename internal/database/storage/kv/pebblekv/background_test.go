package pebblekv_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// TestIdleStoreIsFlushed tests that a memtable that is a quarter full is flushed when writes have paused, and a small one is not.
func TestIdleStoreIsFlushed(t *testing.T) {
	for _, c := range []struct {
		name    string
		bytes   int
		flushes int64
	}{{"small", 1 << 20, 0}, {"large", 14 << 20, 1}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, "/db", pebblekv.Options{FS: vfs.NewMem(), MemTableBytes: 16 << 20})
				for i := range c.bytes >> 16 {
					set(t, s, fmt.Sprintf("key %d", i), strings.Repeat("v", 64<<10))
				}
				flushed := s.Metrics().Flushes // of the small memtables with which a store starts
				for range 3 {
					<-time.After(700 * time.Millisecond)
					set(t, s, "key", "busy")
				}
				if now := s.Metrics().Flushes; now != flushed {
					t.Errorf("%d flushes between writes", now-flushed)
				}
				<-time.After(time.Minute)
				if now := s.Metrics(); now.Flushes-flushed != c.flushes {
					t.Errorf("%d flushes of the idle store, want %d; its memtables have %d bytes", now.Flushes-flushed, c.flushes, now.MemtableBytes)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
