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
	s.trim(log, upTo)
	return nil
}

// appendLog gives the records their numbers and makes room for them; the caller holds the lock.
func (s *Store) appendLog(records []record) {
	for _, r := range records {
		s.seq++
		s.logs[r.log] = append(s.logs[r.log], kv.Record{Seq: s.seq, Data: r.data})
		s.logBytes += len(r.data)
	}
	for s.logBytes > maxLogBytes {
		s.trimOldest()
	}
}

// trimOldest forgets the oldest eighth of the numbers, in all logs.
func (s *Store) trimOldest() {
	oldest := s.seq
	for _, records := range s.logs {
		oldest = min(oldest, records[0].Seq)
	}
	upTo := oldest + (s.seq-oldest)/8
	for log := range s.logs {
		s.trim(log, upTo)
	}
}

// trim forgets the records of a log up to a number; the caller holds the lock.
func (s *Store) trim(log kv.LogID, upTo kv.Seq) {
	records := s.logs[log]
	n := recordsUpTo(records, upTo)
	for _, r := range records[:n] {
		s.logBytes -= len(r.Data)
	}
	switch n {
	case 0:
	case len(records):
		delete(s.logs, log)
	default:
		s.logs[log] = slices.Clone(records[n:]) // lets go of what was trimmed
	}
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
