package pebblekv

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/storage/kv"
)

// Keys of the store's own.
const (
	logPrefix   = 0xF0
	sequenceKey = "\xF1sequence"

	seqLen    = 8
	logKeyLen = 1 + 4 + seqLen
)

func appendLogKey(dst []byte, log kv.LogID, seq kv.Seq) []byte {
	dst = append(dst, logPrefix)
	dst = binary.BigEndian.AppendUint32(dst, uint32(log))
	return binary.BigEndian.AppendUint64(dst, uint64(seq))
}

// ReadLog returns at most limit records after a sequence number, none that could still be overtaken.
func (s *Store) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	if !s.begin() {
		return nil, kv.ErrClosed
	}
	defer s.end()
	if after == math.MaxUint64 || limit <= 0 {
		return nil, nil
	}
	// The bound comes first: everything below it is applied, so that an iterator made now sees it.
	bound := s.sequence.bound()
	if after+1 >= bound {
		return nil, nil
	}
	walk, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: appendLogKey(nil, log, after+1),
		UpperBound: appendLogKey(nil, log, bound),
	})
	if err != nil {
		return nil, err
	}
	var records []kv.Record
	for ok := walk.First(); ok && len(records) < limit; ok = walk.Next() {
		if err := ctx.Err(); err != nil {
			_ = walk.Close()
			return nil, err
		}
		value, err := walk.ValueAndErr()
		if err != nil {
			_ = walk.Close()
			return nil, err
		}
		records = append(records, kv.Record{
			Seq:  kv.Seq(binary.BigEndian.Uint64(walk.Key()[logKeyLen-seqLen:])),
			Data: append(make([]byte, 0, len(value)), value...),
		})
	}
	if err := walk.Close(); err != nil {
		return nil, err
	}
	return records, nil
}

// TrimLog forgets records up to a sequence number.
func (s *Store) TrimLog(_ context.Context, log kv.LogID, upTo kv.Seq) error {
	if !s.begin() {
		return kv.ErrClosed
	}
	defer s.end()
	// Numbers in flight are not there to be trimmed yet, and must not slip under a later trim.
	end := s.sequence.bound()
	if upTo < end {
		end = upTo + 1
	}
	return s.deleteRange(appendLogKey(nil, log, 0), appendLogKey(nil, log, end))
}
