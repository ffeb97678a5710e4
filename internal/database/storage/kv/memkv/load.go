package memkv

import (
	"context"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Load collects what fill puts and makes it visible at once.
func (s *Store) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	var entries []entry
	err := kv.Fill(ctx, kv.EmbeddedLimits(), fill, func(key, value []byte) error {
		entries = append(entries, newEntry(key, value))
		return nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return kv.ErrClosed
	}
	s.shared = nil
	for _, e := range entries {
		s.set(e)
	}
	return nil
}
