package pebblekv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Keys of the store's own.
const (
	logPrefix   = 0xF0
	sequenceKey = "\xF1sequence"
	// trimmedPrefix, followed by a log's id, has the last deleted sequence number of the log.
	trimmedPrefix = "\xF1trimmed"

	seqLen    = 8
	logKeyLen = 1 + 4 + seqLen
)

func appendLogKey(dst []byte, log kv.LogID, seq kv.Seq) []byte {
	dst = append(dst, logPrefix)
	dst = binary.BigEndian.AppendUint32(dst, uint32(log))
	return binary.BigEndian.AppendUint64(dst, uint64(seq))
}

// logBounds returns the range of all keys of a log.
func logBounds(log kv.LogID) (lo, hi []byte) {
	return appendLogKey(nil, log, 0), append(appendLogKey(nil, log, math.MaxUint64), 0)
}

// trimmedKey returns the key that stores how far a log has been trimmed.
func trimmedKey(log kv.LogID) []byte {
	return binary.BigEndian.AppendUint32([]byte(trimmedPrefix), uint32(log))
}

// ReadLog returns at most limit records after a sequence number, up to the first number that may still be committed later.
func (s *Store) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) (records []kv.Record, through kv.Seq, err error) {
	if err := s.begin(); err != nil {
		return nil, after, err
	}
	defer s.end()
	defer s.catch(&err)
	// Determine the bound first: everything below it has been applied, so an iterator created now sees it.
	through = s.sequence.bound() - 1
	if after >= through || limit <= 0 {
		return nil, after, nil
	}
	var ended bool
	if records, ended, err = readLog(ctx, s.db, log, after, through, limit); err != nil {
		return nil, after, err
	}
	if ended {
		through = records[len(records)-1].Seq
	}
	return records, through, nil
}

// readLog returns records with after < Seq <= through, and whether limit or kv.LogReadBytes ended them.
func readLog(ctx context.Context, r pebble.Reader, log kv.LogID, after, through kv.Seq, limit int) (
	records []kv.Record, ended bool, err error,
) {
	walk, err := r.NewIter(&pebble.IterOptions{
		LowerBound: appendLogKey(nil, log, after+1),
		UpperBound: append(appendLogKey(nil, log, through), 0),
	})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, walk.Close()) }()
	bytes := 0
	for ok := walk.First(); ok; ok = walk.Next() {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		value, err := walk.ValueAndErr()
		if err != nil {
			return nil, false, err
		}
		records = append(records, kv.Record{
			Seq:  kv.Seq(binary.BigEndian.Uint64(walk.Key()[logKeyLen-seqLen:])),
			Data: append(make([]byte, 0, len(value)), value...),
		})
		if bytes += len(value); len(records) == limit || bytes >= kv.LogReadBytes {
			return records, true, nil
		}
	}
	return records, false, walk.Error()
}

// Time returns none: numbers are only times if updates advance them.
func (s *Store) Time(context.Context) (now time.Time, timed bool, err error) {
	if err := s.begin(); err != nil {
		return time.Time{}, false, err
	}
	s.end()
	return time.Time{}, false, nil
}

// TrimLog deletes records up to a sequence number, and stores that number.
func (s *Store) TrimLog(_ context.Context, log kv.LogID, upTo kv.Seq) (err error) {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	defer s.catch(&err)
	// Of two concurrent calls, the one that trims less must not overwrite the stored number.
	s.trimming.Lock()
	defer s.trimming.Unlock()
	// Numbers in flight are not there to be trimmed yet, and must not fall into the trimmed range later.
	upTo = min(upTo, s.sequence.bound()-1)
	before, err := s.logTrimmed(log)
	if err != nil || upTo <= before {
		return err
	}
	upTo, err = s.lastRecord(log, before, upTo)
	if err != nil || upTo == 0 {
		return err
	}
	batch := s.db.NewBatch()
	defer batch.Close()
	value := binary.BigEndian.AppendUint64(nil, uint64(upTo))
	if err := batch.Set(trimmedKey(log), value, nil); err != nil {
		return err
	}
	if err := batch.DeleteRange(appendLogKey(nil, log, 0), append(appendLogKey(nil, log, upTo), 0), nil); err != nil {
		return err
	}
	return s.applyWhole(batch, false)
}

// lastRecord returns the number of the last record with after < Seq <= upTo, or 0.
func (s *Store) lastRecord(log kv.LogID, after, upTo kv.Seq) (last kv.Seq, err error) {
	walk, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: appendLogKey(nil, log, after+1),
		UpperBound: append(appendLogKey(nil, log, upTo), 0),
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, walk.Close()) }()
	if walk.Last() {
		last = kv.Seq(binary.BigEndian.Uint64(walk.Key()[logKeyLen-seqLen:]))
	}
	return last, walk.Error()
}

// LogTrimmed returns the number of the last deleted record.
func (s *Store) LogTrimmed(_ context.Context, log kv.LogID) (last kv.Seq, err error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	defer s.end()
	defer s.catch(&err)
	return s.logTrimmed(log)
}

func (s *Store) logTrimmed(log kv.LogID) (kv.Seq, error) {
	value, err := get(s.db, trimmedKey(log))
	if err != nil || value == nil {
		return 0, err
	}
	if len(value) != seqLen {
		return 0, fmt.Errorf("the trim position of log %d is corrupted: %x", log, value)
	}
	return kv.Seq(binary.BigEndian.Uint64(value)), nil
}
