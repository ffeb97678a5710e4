package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// logRetention is the minimum retention of a change log's records.
	logRetention = stream.Retention
	// logTrimInterval is how often older records are trimmed.
	logTrimInterval = 5 * time.Minute
)

// trimLogs deletes log records and stream shards that are no longer needed, drops the logs of tables deleted long enough ago, and
// stops logging what no longer has a reader.
func (e *Engine) trimLogs(ctx context.Context) error {
	now := e.options.Now()
	err := errors.Join(e.keepFollowedLogs(ctx), e.trimStreams(ctx, now), e.dropOldLogs(ctx))
	for _, t := range e.catalog.Tables() {
		before := now.Add(-retentionOf(t.Descriptor))
		err = errors.Join(err, e.settleLog(ctx, t, now), e.trimTableLog(ctx, t, before))
	}
	return err
}

// keepFollowedLogs extends the logging for tables followed in this process by a day.
func (e *Engine) keepFollowedLogs(ctx context.Context) (err error) {
	for _, t := range e.catalog.Tables() {
		if t.Descriptor.GoneAt == 0 && e.appendCounts.listenedTo(t.ID) {
			if kept := e.keepFollowed(ctx, t); !isNotFound(kept) {
				err = errors.Join(err, kept)
			}
		}
	}
	return err
}

// trimTableLog trims the log of a table, except what another replica has not fetched yet.
func (e *Engine) trimTableLog(ctx context.Context, t *catalog.Table, before time.Time) error {
	upTo := ^kv.Seq(0)
	if t.Replica != "" {
		var err error
		if upTo, err = e.fetched(ctx, t); err != nil {
			return err
		}
	}
	return e.trimLog(ctx, kv.LogID(t.ID), before, upTo)
}

// retentionOf returns the retention of a table's log: for its streams, and for as far back as the table can be restored.
func retentionOf(d *catalog.Descriptor) time.Duration {
	if !d.PITR.Enabled {
		return logRetention
	}
	return max(logRetention, time.Duration(d.PITR.Days)*24*time.Hour)
}

// settleLog stops logging what can no longer be requested.
func (e *Engine) settleLog(ctx context.Context, t *catalog.Table, now time.Time) error {
	if t.Descriptor.GoneAt != 0 || e.appendCounts.listenedTo(t.ID) || t.Descriptor.LogSettled(now) {
		return nil
	}
	_, err := e.catalog.Change(ctx, t.Name, func(kv.Txn, *catalog.Descriptor) error { return nil })
	if isNotFound(err) {
		return nil
	}
	return err
}

// trimLog deletes the records of a log older than a time, up to a number, in one step and without reading them.
func (e *Engine) trimLog(ctx context.Context, log kv.LogID, before time.Time, upTo kv.Seq) error {
	trimmed, err := e.store.LogTrimmed(ctx, log)
	if err != nil {
		return err
	}
	first, err := firstSince(storeLog{e.store, ctx}, log, trimmed+1, before.UnixMilli())
	if err != nil {
		return err
	}
	return e.store.TrimLog(ctx, log, min(first-1, upTo))
}

// trimStreams removes shards and streams that no longer have readable records.
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
	if !s.Gone(now) && !s.Trim(before) {
		return nil
	}
	return e.changeStream(ctx, streamID{s.Table, s.Label}, func(txn kv.Txn, s *stream.Stream) error {
		if s.Gone(now) {
			txn.Delete(keyenc.Stream(s.Table, s.Label))
			return nil
		}
		s.Trim(before)
		return saveStream(txn, s)
	})
}
