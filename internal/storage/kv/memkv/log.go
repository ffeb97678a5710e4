package memkv

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/monotable/monotable/internal/storage/kv"
)

// ReadLog returns at most limit records after a sequence number.
func (s *Store) ReadLog(_ context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	if s.closed.Load() {
		return nil, kv.ErrClosed
	}
	s.mu.RLock()
	records := s.logs[log]
	s.mu.RUnlock()
	records = records[recordsUpTo(records, after):]
	records = slices.Clone(records[:min(max(limit, 0), len(records))])
	for i := range records {
		records[i].Data = bytes.Clone(records[i].Data)
	}
	return records, nil
}

// TrimLog forgets records up to a sequence number.
func (s *Store) TrimLog(_ context.Context, log kv.LogID, upTo kv.Seq) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.logs[log]
	rest = rest[recordsUpTo(rest, upTo):]
	if len(rest) == 0 {
		delete(s.logs, log)
		return nil
	}
	s.logs[log] = slices.Clone(rest) // lets go of what was trimmed
	return nil
}

// recordsUpTo is how many of the records have a Seq <= seq.
func recordsUpTo(records []kv.Record, seq kv.Seq) int {
	n, found := slices.BinarySearchFunc(records, seq, func(r kv.Record, seq kv.Seq) int {
		return cmp.Compare(r.Seq, seq)
	})
	if found {
		n++
	}
	return n
}
