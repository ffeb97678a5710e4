package engine

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Changes have times in milliseconds, the API in seconds.
const (
	millis       = 1000
	millisPerDay = int64(24 * time.Hour / time.Millisecond)
)

// window is the range of exactly restorable times, in whole seconds since the epoch; it is empty if latest is before earliest.
//
// The state of a table at a time includes all changes up to and including that time. It can be restored if the log has every
// later change, and no further change can get a time in the restored range.
type window struct{ earliest, latest int64 }

// window returns the times to which a table with point-in-time recovery can be restored.
func (e *Engine) window(ctx context.Context, d *catalog.Descriptor) (window, error) {
	now := e.options.Now()
	earliest, err := e.earliestRestorable(ctx, d, now)
	return window{earliest: wholeSeconds(earliest), latest: lastSecond(now)}, err
}

// lastSecond returns the last whole second that can get no more changes; the current millisecond still can.
func lastSecond(now time.Time) int64 { return (now.UnixMilli() - 1) / millis }

// earliestRestorable returns the first time, in milliseconds, from which on the log has every change: recovery was enabled, the
// recovery period had begun, and nothing later has been deleted to save space.
func (e *Engine) earliestRestorable(ctx context.Context, d *catalog.Descriptor, now time.Time) (int64, error) {
	trimmed, err := e.store.LogTrimmed(ctx, kv.LogID(d.ID))
	since := max(d.PITR.Since, periodStart(d.PITR.Days, now))
	if trimmed.Timed() { // records of format 1 are trimmed after the period, or capLog has moved Since
		since = max(since, trimmed.Millis())
	}
	return since, err
}

// periodStart returns the start, in milliseconds, of a recovery period that ends now.
func periodStart(days int, now time.Time) int64 { return now.UnixMilli() - int64(days)*millisPerDay }

// wholeSeconds rounds a time in milliseconds up to whole seconds.
func wholeSeconds(ms int64) int64 { return (ms + millis - 1) / millis }

// describeContinuousBackups describes a table's setting. As on AWS, continuous backups are enabled for every table, but not before
// it has been created.
func (e *Engine) describeContinuousBackups(ctx context.Context, d *catalog.Descriptor) (*api.ContinuousBackupsDescription, error) {
	recovery := &api.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: new("DISABLED")}
	out := &api.ContinuousBackupsDescription{ContinuousBackupsStatus: new("ENABLED"), PointInTimeRecoveryDescription: recovery}
	if d.Status(e.options.Now()) == catalog.StatusCreating {
		out.ContinuousBackupsStatus = new("DISABLED")
	}
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
