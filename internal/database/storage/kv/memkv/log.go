package memkv

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// ReadLog returns at most limit records after a sequence number.
func (s *Store) ReadLog(_ context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, kv.Seq, error) {
	if s.closed.Load() {
		return nil, after, kv.ErrClosed
	}
	s.mu.RLock()
	through := s.seq
	records, _ := s.logs.Get(log)
	s.mu.RUnlock()
	if after >= through || limit <= 0 {
		return nil, after, nil
	}
	records, ended := readLog(records, after, limit)
	if ended {
		through = records[len(records)-1].Seq
	}
	return records, through, nil
}

// readLog copies records after a sequence number, and reports whether limit or kv.LogReadBytes ended them.
func readLog(records []kv.Record, after kv.Seq, limit int) (copies []kv.Record, ended bool) {
	size := 0
	for _, r := range records[recordsUpTo(records, after):] {
		copies = append(copies, kv.Record{Seq: r.Seq, Data: bytes.Clone(r.Data)})
		if size += len(r.Data); len(copies) == limit || size >= kv.LogReadBytes {
			return copies, true
		}
	}
	return copies, false
}

// TrimLog deletes records up to a sequence number.
func (s *Store) TrimLog(_ context.Context, log kv.LogID, upTo kv.Seq) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.trim(log, upTo); last > 0 {
		s.trimmed[log] = last
	}
	return nil
}

// LogTrimmed returns the number of the last deleted record.
func (s *Store) LogTrimmed(_ context.Context, log kv.LogID) (kv.Seq, error) {
	if s.closed.Load() {
		return 0, kv.ErrClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.trimmed[log], nil
}

// Time returns none: numbers are only times if updates advance them.
func (s *Store) Time(context.Context) (now time.Time, timed bool, err error) {
	if s.closed.Load() {
		return time.Time{}, false, kv.ErrClosed
	}
	return time.Time{}, false, nil
}

// advance sets the lowest number that may be assigned; the caller holds the lock.
func (s *Store) advance(to kv.Seq) {
	if to > 0 {
		s.seq = max(s.seq, to-1)
	}
}

// appendLog assigns the numbers of the records and makes room for them; the caller holds the lock.
func (s *Store) appendLog(records []record) {
	for _, r := range records {
		s.seq++
		before, _ := s.logs.Get(r.log)
		s.logs.Set(r.log, append(before, kv.Record{Seq: s.seq, Data: r.data}))
		s.logBytes += len(r.data)
	}
	for s.logBytes > maxLogBytes {
		s.trimOldest()
	}
}

// trimOldest deletes the records with the oldest eighth of the numbers, in all logs.
func (s *Store) trimOldest() {
	oldest := s.seq
	for _, records := range s.logs.Scan {
		oldest = min(oldest, records[0].Seq)
	}
	upTo := oldest + (s.seq-oldest)/8
	for _, log := range s.logs.Keys() {
		if last := s.trim(log, upTo); last > 0 {
			s.trimmed[log] = last
		}
	}
}

// trim deletes the records of a log up to a number and returns the number of the last of them, or 0; the caller holds the lock.
func (s *Store) trim(log kv.LogID, upTo kv.Seq) (last kv.Seq) {
	records, _ := s.logs.Get(log)
	n := recordsUpTo(records, upTo)
	if n == 0 {
		return 0
	}
	s.shared = nil
	for _, r := range records[:n] {
		s.logBytes -= len(r.Data)
	}
	if n == len(records) {
		s.logs.Delete(log)
	} else {
		s.logs.Set(log, slices.Clone(records[n:])) // releases the memory of trimmed records
	}
	return records[n-1].Seq
}

// recordsUpTo returns how many of the records have a Seq <= seq.
func recordsUpTo(records []kv.Record, seq kv.Seq) int {
	n, found := slices.BinarySearchFunc(records, seq, func(r kv.Record, seq kv.Seq) int {
		return cmp.Compare(r.Seq, seq)
	})
	if found {
		n++
	}
	return n
}
