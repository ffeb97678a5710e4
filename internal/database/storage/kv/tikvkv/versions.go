//go:build tikv

package tikvkv

import (
	"context"
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/tikv/client-go/v2/oracle"
)

const (
	// versionTime is how long TiKV keeps overwritten versions for readers of an earlier moment.
	versionTime = 10 * time.Minute
	// removeEvery is the interval at which one of the processes removes older versions.
	removeEvery = time.Minute
	// keepEvery is the interval at which a process reports what its snapshots need, and keepTime how long
	// a report is valid.
	keepEvery, keepTime = 20 * time.Second, 2 * time.Minute
)

// held are the timestamps in use by readers.
type held struct {
	mu   sync.Mutex
	next int
	at   map[int]uint64
}

// add holds a timestamp until forget is called.
func (h *held) add(ts uint64) (forget func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == nil {
		h.at = map[int]uint64{}
	}
	id := h.next
	h.next++
	h.at[id] = ts
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.at, id)
	}
}

// oldest is the lowest timestamp in use, 0 if there is none.
func (h *held) oldest() (ts uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, at := range h.at {
		if ts == 0 || at < ts {
			ts = at
		}
	}
	return ts
}

// keepVersions reports the versions needed by this process's open snapshots to the placement driver.
func (s *Store) keepVersions(ctx context.Context) {
	reported := false
	for tick(ctx, keepEvery) {
		oldest := s.held.oldest()
		if oldest == 0 && !reported {
			continue
		}
		if err := s.keepFrom(ctx, oldest); err != nil {
			s.logger.WarnContext(ctx, "could not report the versions in use to the placement driver", "error", err)
			continue
		}
		reported = oldest != 0
	}
	if reported {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTime)
		defer cancel()
		_ = s.keepFrom(ctx, 0) // otherwise it expires after keepTime
	}
}

// keepFrom makes the placement driver keep versions from a timestamp on; 0 ends that.
func (s *Store) keepFrom(ctx context.Context, oldest uint64) error {
	lasts := int64(keepTime / time.Second)
	if oldest == 0 {
		lasts = 0
	}
	_, err := s.client.GetPDClient().UpdateServiceGCSafePoint(ctx, "monotable-"+s.client.UUID()+"-"+s.process, lasts, oldest)
	return err
}

// removeVersions removes old versions, in one process at a time.
func (s *Store) removeVersions(ctx context.Context) {
	for tick(ctx, removeEvery) {
		turn, err := s.takeTurn(ctx, removeEvery)
		if err == nil && turn {
			err = s.removeBefore(ctx, versionTime)
		}
		if err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "old versions were not removed", "error", err)
		}
	}
}

// takeTurn reports whether no process has removed versions for a while, and records that this one does.
func (s *Store) takeTurn(ctx context.Context, every time.Duration) (bool, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	row, err := t.row(s.key(turnSpace))
	if err != nil || len(row) == 8 && binary.BigEndian.Uint64(row) > before(t.start, every) {
		return false, err
	}
	if err := t.tx.Set(s.key(turnSpace), generation(t.start)); err != nil {
		return false, err
	}
	return true, t.send()
}

// removeBefore advances the cluster's safe point, as far as no process prevents it.
func (s *Store) removeBefore(ctx context.Context, age time.Duration) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	lowest, err := s.client.GetPDClient().UpdateServiceGCSafePoint(ctx, "gc_worker", math.MaxInt64, before(now, age))
	if err != nil {
		return err
	}
	safe := min(before(now, age), lowest)
	reached, err := s.client.GC(ctx, safe)
	if err == nil {
		s.logger.DebugContext(ctx, "old versions are removed", "before", oracle.GetTimeFromTS(reached))
	}
	return err
}

func tick(ctx context.Context, every time.Duration) bool {
	select {
	case <-time.After(every):
		return true
	case <-ctx.Done():
		return false
	}
}
