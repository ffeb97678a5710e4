package engine

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
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

// window tells the times that a table with point-in-time recovery can be restored to.
func (e *Engine) window(ctx context.Context, d *catalog.Descriptor) (window, error) {
	now := e.options.Now()
	earliest, err := e.earliestRestorable(ctx, d, now)
	return window{earliest: wholeSeconds(earliest), latest: lastSecond(now)}, err
}

// lastSecond is the last whole second whose changes are all made: one of this very millisecond may still come.
func lastSecond(now time.Time) int64 { return (now.UnixMilli() - 1) / millis }

// earliestRestorable is the first time, in milliseconds, from which on the log has every change: recovery was on, the
// recovery period had begun, and nothing later has been forgotten for want of room.
func (e *Engine) earliestRestorable(ctx context.Context, d *catalog.Descriptor, now time.Time) (int64, error) {
	trimmed, err := e.store.LogTrimmed(ctx, kv.LogID(d.ID))
	since := max(d.PITR.Since, periodStart(d.PITR.Days, now))
	if trimmed.Timed() { // what format 1 counted is trimmed when the period is over, or capLog has moved Since
		since = max(since, trimmed.Millis())
	}
	return since, err
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
	w, err := e.window(ctx, d)
	recovery.PointInTimeRecoveryStatus = new("ENABLED")
	recovery.RecoveryPeriodInDays = new(int64(d.PITR.Days))
	recovery.EarliestRestorableDateTime = api.TimestampOf(w.earliest * millis)
	recovery.LatestRestorableDateTime = api.TimestampOf(w.latest * millis)
	return out, err
}
