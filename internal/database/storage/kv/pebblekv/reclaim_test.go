package pebblekv_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

// TestDeletedDuringCompaction tests that the space of a deleted range is freed, without further updates, even if a compaction was
// rewriting its tables when it was deleted.
func TestDeletedDuringCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := heldCompactions{crashfs.New(), make(chan struct{})}
		s := open(t, "/db", pebblekv.Options{FS: held, MemTableBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
		noise := rand.NewChaCha8([32]byte{1})
		value := make([]byte, 64<<10)
		for i := 0; s.Metrics().CompactionsRunning == 0; i++ {
			_, _ = noise.Read(value)
			set(t, s, fmt.Sprintf("key %d", i), string(value))
			synctest.Wait()
		}
		size, err := s.Size(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteRange(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		close(held.proceed)
		<-time.After(time.Minute)
		if left, err := s.Size(t.Context(), nil, nil); left > size/8 || err != nil {
			t.Errorf("the deleted range takes %d of %d bytes, %v", left, size, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
