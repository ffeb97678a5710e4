package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// reclaimAfter is how long Pebble has to free a deleted range on its own: it flushes the deletion after a second.
	reclaimAfter = 3 * time.Second
	// reclaimFrom is the size from which what is left of a deleted range is worth a compaction.
	reclaimFrom = 1 << 20
	// deletedMax is how many deleted ranges are remembered. In a store that is never idle, later compactions free the others.
	deletedMax = 1024
)

// deletedRanges are those whose space may not be free yet. Pebble removes the tables of a deleted range when it flushes the
// deletion, but passes over tables that a compaction is rewriting at that moment. What the compaction writes stays until later
// updates cause another one, and a full store accepts none.
//
// All methods are safe for concurrent use.
type deletedRanges struct {
	mu     sync.Mutex
	ranges []deletedRange // in the order of their deletion
}

// deletedRange is [lo, hi).
type deletedRange struct {
	lo, hi []byte
	at     time.Time
}

func (d *deletedRanges) add(lo, hi []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ranges) == deletedMax {
		d.ranges = slices.Delete(d.ranges, 0, 1)
	}
	d.ranges = append(d.ranges, deletedRange{bytes.Clone(lo), bytes.Clone(hi), time.Now()})
}

// take removes and returns the ranges that were deleted before a time.
func (d *deletedRanges) take(before time.Time) []deletedRange {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.ranges) && d.ranges[n].at.Before(before) {
		n++
	}
	taken := slices.Clone(d.ranges[:n])
	d.ranges = slices.Delete(d.ranges, 0, n)
	return taken
}

// reclaim compacts what Pebble has left of deleted ranges whenever no compaction runs, until the store is closed.
func (s *Store) reclaim() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.stopped.Go(func() {
		<-s.stop
		cancel()
	})
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if s.intact() != nil {
			return
		}
		s.reclaimDeleted(ctx)
	}
}

func (s *Store) reclaimDeleted(ctx context.Context) {
	var err error
	defer s.catch(&err) // it has been logged
	if s.db.Metrics().Compact.NumInProgress > 0 {
		return
	}
	for _, r := range s.deleted.take(time.Now().Add(-reclaimAfter)) {
		size, err := s.size(r.lo, r.hi)
		if err == nil && size >= reclaimFrom {
			err = s.compact(ctx, r.lo, r.hi)
		}
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, kv.ErrFull):
			s.deleted.add(r.lo, r.hi) // for when there is more room
		default:
			s.log.Error("store: freeing the space of deleted data", "error", err)
		}
	}
}
