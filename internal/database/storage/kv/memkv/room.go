package memkv

import (
	"bytes"
	"context"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Size returns the length of the keys and values of a range, without the overhead of the tree.
func (s *Store) Size(_ context.Context, lo, hi []byte) (int64, error) {
	if s.closed.Load() {
		return 0, kv.ErrClosed
	}
	return size(s.freeze().tree, lo, hi), nil
}

// LogSize is the length of a log's records after a number.
func (s *Store) LogSize(_ context.Context, log kv.LogID, after kv.Seq) (int64, error) {
	if s.closed.Load() {
		return 0, kv.ErrClosed
	}
	return logSize(s.freeze().logs, log, after), nil
}

// Compact does nothing: deleted data leaves no garbage.
func (s *Store) Compact(ctx context.Context, _, _ []byte) error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	return ctx.Err()
}

// Split does nothing: there is one machine.
func (s *Store) Split(context.Context, [][]byte) error { return nil }

// size adds up the lengths of the keys and values of a range.
func size(t *tree, lo, hi []byte) int64 {
	var n int64
	t.Ascend(entry{key: lo}, func(e entry) bool {
		if hi != nil && bytes.Compare(e.key, hi) >= 0 {
			return false
		}
		n += int64(len(e.key) + len(e.value))
		return true
	})
	return n
}

// logSize adds up the records of a log after a number.
func logSize(l *logs, log kv.LogID, after kv.Seq) int64 {
	var n int64
	records, _ := l.Get(log)
	for _, r := range records[recordsUpTo(records, after):] {
		n += int64(len(r.Data))
	}
	return n
}

// Health returns nil: memory never is full before the process ends.
func (s *Store) Health() error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	return nil
}

// DiskUsage is zero.
func (s *Store) DiskUsage() (kv.DiskUsage, error) {
	if s.closed.Load() {
		return kv.DiskUsage{}, kv.ErrClosed
	}
	return kv.DiskUsage{}, nil
}
