package engine

import (
	"context"
	"math"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The types of shard iterators.
const (
	fromHorizon   = "TRIM_HORIZON"
	fromLatest    = "LATEST"
	atSequence    = "AT_SEQUENCE_NUMBER"
	afterSequence = "AFTER_SEQUENCE_NUMBER"
	atTimestamp   = "AT_TIMESTAMP"
)

// GetShardIterator returns a position in a shard, valid for GetRecords for 15 minutes.
func (e *Engine) GetShardIterator(ctx context.Context, in *api.GetShardIteratorInput) (*api.GetShardIteratorOutput, error) {
	now := e.options.Now()
	start := iteratorStart{kind: *in.ShardIteratorType}
	if err := start.read(in, now.UnixMilli()); err != nil {
		return nil, err
	}
	id, err := e.findStream(ctx, *in.StreamArn)
	if err != nil {
		return nil, err
	}
	s, bound, err := e.streamState(ctx, id)
	if err != nil {
		return nil, err
	}
	shard := s.Shard(*in.ShardId)
	if shard == nil {
		return nil, apierr.ShardNotFound.With()
	}
	next, err := e.startIn(ctx, s, shard, bound, start)
	if err != nil {
		return nil, err
	}
	it := stream.Iterator{ARN: e.catalog.StreamARN(s.TableName, s.Label), Table: s.Table, Label: s.Label, Shard: shard.ID, Next: next, Issued: now.UnixMilli()}
	return &api.GetShardIteratorOutput{ShardIterator: new(it.String())}, nil
}

// iteratorStart is the requested start of an iterator.
type iteratorStart struct {
	kind  string
	seq   kv.Seq // of AT_SEQUENCE_NUMBER and AFTER_SEQUENCE_NUMBER
	since int64  // of AT_TIMESTAMP, in milliseconds since the epoch; else 0
}

// read reads the parameter that belongs to the iterator type. A sequence number with a type that has none is rejected.
func (s *iteratorStart) read(in *api.GetShardIteratorInput, now int64) error {
	numbered, timed := s.kind == atSequence || s.kind == afterSequence, s.kind == atTimestamp
	switch {
	case numbered && in.SequenceNumber == nil:
		return apierr.SequenceNumberMissing.With(s.kind)
	case !numbered && !timed && in.SequenceNumber != nil:
		return apierr.SequenceNumberNeedless.With(s.kind)
	case timed && in.Timestamp == nil:
		return apierr.TimestampMissing.With(s.kind)
	case numbered:
		var ok bool
		if s.seq, ok = stream.ParseSequenceNumber(*in.SequenceNumber); !ok {
			return apierr.InvalidSequenceNumber.With(*in.SequenceNumber)
		}
	case timed:
		ms := math.Round(float64(*in.Timestamp) * 1000)
		if ms > float64(now) {
			return apierr.TimestampInFuture.With()
		}
		s.since = int64(max(ms, 0))
	}
	return nil
}

// startIn returns the first number from which an iterator may return records.
func (e *Engine) startIn(ctx context.Context, s *stream.Stream, shard *stream.Shard, bound kv.Seq, start iteratorStart) (kv.Seq, error) {
	horizon, err := e.horizon(ctx, s)
	if err != nil {
		return 0, err
	}
	log, end := kv.LogID(s.Table), bound
	if !shard.Open() {
		end = shard.End
	}
	switch start.kind {
	case fromLatest:
		if shard.Open() { // if it is closed concurrently, further records are in its children
			return e.awaitWrites(ctx, s.Table)
		}
		return end, nil
	case fromHorizon, atTimestamp:
		first, err := firstSince(storeLog{e.store, ctx}, log, max(shard.Start, horizon+1), max(start.since, e.oldestReadable()))
		return max(min(first, end), shard.Start), err
	}
	switch trimmed, err := e.isTrimmed(ctx, log, horizon, start.seq); {
	case err != nil:
		return 0, err
	case trimmed:
		return 0, apierr.RecordTrimmed.With()
	case start.seq < shard.Start || start.seq >= end && start.seq != shard.Start:
		return 0, apierr.InvalidSequenceNumber.With(stream.SequenceNumber(start.seq))
	case start.kind == afterSequence:
		return start.seq + 1, nil
	default:
		return start.seq, nil
	}
}

// isTrimmed reports whether the record with a number can no longer be read.
func (e *Engine) isTrimmed(ctx context.Context, log kv.LogID, horizon, seq kv.Seq) (bool, error) {
	if seq <= horizon {
		return horizon > 0, nil
	}
	first, err := firstSince(storeLog{e.store, ctx}, log, seq, e.oldestReadable())
	return first > seq, err
}

// horizon returns the number of the last trimmed record of a stream.
func (e *Engine) horizon(ctx context.Context, s *stream.Stream) (kv.Seq, error) {
	trimmed, err := e.store.LogTrimmed(ctx, kv.LogID(s.Table))
	return max(trimmed, s.Horizon), err
}
