package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	// logRetention is for how long the records of a change log are kept at least.
	logRetention = stream.Retention
	// logTrimInterval is how often older ones are looked for.
	logTrimInterval = 5 * time.Minute
)

// trimLogs moves the horizons of all streams, forgets the records of change logs that nobody may need any more, and
// drops the logs of tables that were deleted long enough ago.
func (e *Engine) trimLogs(ctx context.Context) error {
	now := e.options.Now()
	err := errors.Join(e.trimStreams(ctx, now), e.dropOldLogs(ctx))
	for _, t := range e.catalog.Tables() {
		before := now.Add(-retentionOf(t.Descriptor)).UnixMilli()
		err = errors.Join(err, e.trimLog(ctx, kv.LogID(t.ID), before, t.Descriptor.PITR.Enabled))
	}
	return err
}

// retentionOf is for how long the records of a table's log are kept: for its streams, and for as far back as the
// table can be restored.
func retentionOf(d *catalog.Descriptor) time.Duration {
	if !d.PITR.Enabled {
		return logRetention
	}
	return max(logRetention, time.Duration(d.PITR.Days)*24*time.Hour)
}

// trimLog forgets the records of a log up to the first one that is young enough: all at once, since a trim costs
// a store on disk as much for one record as for a million. Where the last of them is to be left, the log tells by
// itself from when on it is whole, see window.
func (e *Engine) trimLog(ctx context.Context, log kv.LogID, before int64, leaveLast bool) error {
	trimmed, err := e.store.LogTrimmed(ctx, log)
	if err != nil {
		return err
	}
	upTo, err := e.lastBefore(ctx, log, trimmed, before)
	if leaveLast && upTo > trimmed {
		upTo--
	}
	if upTo == trimmed {
		return err
	}
	return errors.Join(err, e.store.TrimLog(ctx, log, upTo))
}

// lastBefore reads a log on from a number and returns that of the last record that is older than before; the
// number it was given where there is none. Beside an error it is the number it came to.
func (e *Engine) lastBefore(ctx context.Context, log kv.LogID, after kv.Seq, before int64) (last kv.Seq, err error) {
	last = after
	_, err = e.walkLog(ctx, log, after, func(seq kv.Seq, change *logenc.Change) (bool, error) {
		if change.Time >= before {
			return false, nil
		}
		last = seq
		return true, nil
	})
	return last, err
}

// trimStreams moves each stream's horizon to the last record that is too old to be read, whatever the log keeps, and
// removes shards and streams of which nothing can be read any more.
func (e *Engine) trimStreams(ctx context.Context, now time.Time) error {
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	all, err := readStreams(snapshot)
	err = errors.Join(err, snapshot.Close())
	for _, s := range all {
		err = errors.Join(err, e.trimStream(ctx, s, now))
	}
	return err
}

// trimStream trims one stream, of which s is a recent copy.
func (e *Engine) trimStream(ctx context.Context, s *stream.Stream, now time.Time) error {
	before := now.Add(-stream.Retention).UnixMilli()
	known, err := e.horizon(ctx, s)
	if err != nil {
		return err
	}
	begin := known
	if len(s.Shards) > 0 { // the log may go back far beyond the stream
		begin = max(known, s.Shards[0].Start-1)
	}
	horizon, err := e.lastBefore(ctx, kv.LogID(s.Table), begin, before)
	if horizon == begin {
		horizon = known
	}
	if !s.Gone(now) && !s.Trim(horizon, before) {
		return err
	}
	id := streamID{s.Table, s.Label}
	return errors.Join(err, e.changeStream(ctx, id, func(txn kv.Txn, s *stream.Stream) error {
		if s.Gone(now) {
			txn.Delete(keyenc.Stream(id.table, id.label))
			return nil
		}
		s.Trim(horizon, before)
		return saveStream(txn, s)
	}))
}
