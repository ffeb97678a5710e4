package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Size estimates the disk space of a range from the indexes of its tables. Data in memory is not counted.
func (s *Store) Size(_ context.Context, lo, hi []byte) (int64, error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	defer s.end()
	lo, hi, empty := bounds(lo, hi)
	if empty {
		return 0, nil
	}
	return s.size(lo, hi)
}

// LogSize estimates the disk space of a log in the same way.
func (s *Store) LogSize(_ context.Context, log kv.LogID, after kv.Seq) (int64, error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	defer s.end()
	if after == math.MaxUint64 {
		return 0, nil
	}
	_, hi := logBounds(log)
	return s.size(appendLogKey(nil, log, after+1), hi)
}

func (s *Store) size(lo, hi []byte) (room int64, err error) {
	defer s.catch(&err)
	n, err := s.db.EstimateDiskUsage(lo, hi)
	return int64(n), err //nolint:gosec // a disk has less than 2^63 bytes
}

// Split does nothing: there is one machine.
func (s *Store) Split(context.Context, [][]byte) error { return nil }

// Compact rewrites the tables of a range level by level, several at a time; without an end, also those of the logs.
func (s *Store) Compact(ctx context.Context, lo, hi []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if err := errors.Join(ctx.Err(), s.writable()); err != nil {
		return err
	}
	if hi == nil {
		hi = []byte{0xFF} // after the logs and the store's own keys
	}
	if bytes.Compare(lo, hi) >= 0 {
		return nil
	}
	return s.compact(ctx, lo, hi)
}

// compact rewrites [lo, hi) of Pebble's key space.
func (s *Store) compact(ctx context.Context, lo, hi []byte) error {
	// Compactions of a frozen disk wait for Close, and Close for this call.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	compacted := make(chan error, 1)
	go func() {
		var err error
		defer func() { compacted <- err }()
		defer s.catch(&err)
		err = s.db.Compact(ctx, lo, hi, true)
	}()
	var err error
	select {
	case err = <-compacted:
	case <-s.disk.frozen:
		cancel()
		select {
		case <-compacted:
		case <-s.dead:
		}
	}
	if failed := s.writable(); failed != nil {
		return failed
	}
	if errors.Is(err, errNoRoom) {
		return fmt.Errorf("%w: a compaction needs more disk space than there is", kv.ErrFull)
	}
	return err
}
