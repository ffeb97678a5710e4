package engine

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// The times of changes are milliseconds, those of the API seconds.
const (
	millis       = 1000
	millisPerDay = int64(24 * time.Hour / time.Millisecond)
)

// window is the times that a table can be restored to exactly, whole seconds since the epoch; none where latest
// is before earliest.
//
// The state of a table at a time is that of all changes of that time or before. It can be restored where the log
// has every change that came later, and where no such change can come any more.
type window struct{ earliest, latest int64 }

// logReader reads one log: a store's, or a kept one.
type logReader interface {
	ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error)
}

// storeLog reads the logs of a store as they are now.
type storeLog struct {
	kv.Store
	ctx context.Context //nolint:containedctx // of one call
}

func (s storeLog) ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	records, _, err := s.Store.ReadLog(s.ctx, log, after, limit)
	return records, err
}

// window tells the times that a table with point-in-time recovery can be restored to, given its log.
func (e *Engine) window(ctx context.Context, d *catalog.Descriptor, log logReader) (window, error) {
	now := e.options.Now()
	whole, err := e.logWhole(ctx, d, log, now)
	return window{earliest: max(d.PITR.Since/millis, whole), latest: lastSecond(now)}, err
}

// lastSecond is the last whole second whose changes are all made: one of this very millisecond may still come.
func lastSecond(now time.Time) int64 { return (now.UnixMilli() - 1) / millis }

// logWhole tells from when on, in seconds, the log of a table with point-in-time recovery has every change, as far as
// trimming goes.
func (e *Engine) logWhole(ctx context.Context, d *catalog.Descriptor, log logReader, now time.Time) (int64, error) {
	begin := periodStart(d.PITR.Days, now)
	trimmed, err := e.store.LogTrimmed(ctx, kv.LogID(d.ID))
	if err != nil || trimmed < d.PITR.From {
		return wholeSeconds(begin), err
	}
	// Something of the time since recovery was turned on is forgotten: what was too old but for the last of it, so
	// that the log tells by itself from when on it is whole, or else what the store had no room for.
	first, err := log.ReadLog(kv.LogID(d.ID), 0, 1)
	switch {
	case err != nil:
		return 0, err
	case len(first) == 0:
		return lastSecond(now), nil
	}
	change, err := logenc.Decode(first[0].Data)
	if change.Time < begin {
		return wholeSeconds(begin), err
	}
	// Changes of different items stand in the log nearly in the order of their times, hence the second.
	return wholeSeconds(change.Time) + 1, err
}

// periodStart is the time, in milliseconds, at which a recovery period that ends now began.
func periodStart(days int, now time.Time) int64 { return now.UnixMilli() - int64(days)*millisPerDay }

// wholeSeconds is the first whole second not before a time in milliseconds.
func wholeSeconds(ms int64) int64 { return (ms + millis - 1) / millis }

// describeContinuousBackups tells a table's setting. Continuous backups are there for every table, as on AWS.
func (e *Engine) describeContinuousBackups(ctx context.Context, d *catalog.Descriptor) (*api.ContinuousBackupsDescription, error) {
	recovery := &api.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: new("DISABLED")}
	out := &api.ContinuousBackupsDescription{ContinuousBackupsStatus: new("ENABLED"), PointInTimeRecoveryDescription: recovery}
	if !d.PITR.Enabled {
		return out, nil
	}
	w, err := e.window(ctx, d, storeLog{e.store, ctx})
	recovery.PointInTimeRecoveryStatus = new("ENABLED")
	recovery.RecoveryPeriodInDays = new(int64(d.PITR.Days))
	recovery.EarliestRestorableDateTime = api.TimestampOf(w.earliest * millis)
	recovery.LatestRestorableDateTime = api.TimestampOf(w.latest * millis)
	return out, err
}
