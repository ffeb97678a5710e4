package memkv

import (
	"bytes"
	"context"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Load collects what fill puts and makes it appear at once.
func (s *Store) Load(ctx context.Context, fill func(put func(key, value []byte) error) error) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	var l load
	err := fill(func(key, value []byte) error {
		if l.err == nil {
			l.err = ctx.Err()
		}
		if l.err == nil {
			l.err = l.put(key, value)
		}
		return l.err
	})
	if err == nil {
		err = l.err
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return kv.ErrClosed
	}
	s.shared = nil
	for _, e := range l.entries {
		s.set(e)
	}
	return nil
}

// load is a Load under way.
type load struct {
	entries []entry
	err     error // the first of put: it fails the whole, even if fill goes on
}

func (l *load) put(key, value []byte) error {
	limits := kv.EmbeddedLimits()
	switch {
	case len(key) > limits.KeyBytes || len(value) > limits.ValueBytes:
		return kv.ErrTooLarge
	case len(key) == 0 || key[0] >= kv.ReservedPrefix:
		return fmt.Errorf("memkv: key %x cannot be loaded", key)
	case len(l.entries) > 0 && bytes.Compare(key, l.entries[len(l.entries)-1].key) <= 0:
		return fmt.Errorf("memkv: key %x is loaded after key %x", key, l.entries[len(l.entries)-1].key)
	}
	l.entries = append(l.entries, newEntry(key, value))
	return nil
}
