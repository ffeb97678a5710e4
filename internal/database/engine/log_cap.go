package engine

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// logCapInterval is how often the size of change logs is compared with Options.LogMaxBytes.
	logCapInterval = 10 * time.Second
	// logAlarm is the percentage of the limit at which a warning is logged. Above the limit, logs are trimmed to logCapKept
	// percent.
	logAlarm, logCapKept = 80, 90
	percent              = 100
)

// LogUse is the total size of all change logs, as the store estimates it, and its limit; 0 is none.
type LogUse struct{ Bytes, Max int64 }

// LogUse returns the size of the change logs.
func (e *Engine) LogUse(ctx context.Context) (LogUse, error) {
	logs, err := e.logs(ctx)
	if err != nil {
		return LogUse{}, err
	}
	bytes, err := e.logBytes(ctx, logs, 0)
	return LogUse{bytes, e.options.LogMaxBytes}, err
}

// capLogs keeps change logs below Options.LogMaxBytes: it warns when they approach the limit, and deletes the oldest records of
// all tables above it.
func (e *Engine) capLogs(ctx context.Context) error {
	logs, err := e.logs(ctx)
	if err != nil {
		return err
	}
	bytes, err := e.logBytes(ctx, logs, 0)
	if err != nil {
		return err
	}
	limit, log := e.options.LogMaxBytes, e.options.Logger
	near := bytes >= limit/percent*logAlarm
	if near && !e.logAlarmed.Swap(true) {
		log.WarnContext(ctx, "change logs are near their cap: at the cap the oldest changes are trimmed before their time; "+
			"raise --log-max-bytes (Options.LogMaxBytes), shorten recovery periods or disable streams", "bytes", bytes, "cap", limit)
	}
	if !near {
		e.logAlarmed.Store(false)
	}
	if bytes <= limit {
		return nil
	}
	until, err := e.timeOfLogs(ctx, logs, limit/percent*logCapKept)
	if err != nil {
		return err
	}
	log.WarnContext(ctx, "change logs are over their cap: the oldest changes are trimmed, streams and point-in-time recovery "+
		"do not reach back to them", "bytes", bytes, "cap", limit, "before", time.UnixMilli(until).UTC())
	for _, id := range logs {
		err = errors.Join(err, e.capLog(ctx, id, until))
	}
	return err
}

// capLog deletes the records of a log before a time, in milliseconds. Record numbers of format 1 do not determine how far back
// the table can still be restored, so the descriptor is updated first.
func (e *Engine) capLog(ctx context.Context, log kv.LogID, until int64) error {
	trimmed, err := e.store.LogTrimmed(ctx, log)
	if err != nil {
		return err
	}
	counted, _, err := e.countedSince(ctx, log, trimmed, 0)
	if err != nil {
		return err
	}
	for _, t := range e.catalog.Tables() {
		if !counted || kv.LogID(t.ID) != log || !t.Descriptor.PITR.Enabled {
			continue
		}
		_, err := e.catalog.Change(ctx, t.Name, func(_ kv.Txn, d *catalog.Descriptor) error {
			d.PITR.Since = max(d.PITR.Since, until)
			return nil
		})
		if err != nil && !isNotFound(err) {
			return err
		}
	}
	return e.trimLog(ctx, log, time.UnixMilli(until), ^kv.Seq(0))
}

// countedSince reports whether the first record of a log after a number is in format 1, where numbers are counters, and not
// earlier than a time.
func (e *Engine) countedSince(ctx context.Context, log kv.LogID, after kv.Seq, since int64) (counted, later bool, err error) {
	records, _, err := e.store.ReadLog(ctx, log, after, 1)
	if err != nil || len(records) == 0 || records[0].Seq.Timed() {
		return false, false, err
	}
	change, err := decodeRecord(log, &records[0])
	return true, change.Time >= since, err
}

// lastBefore returns a number after which a log's records of a time or later begin. Among records of format 1 it uses a binary
// search, which is accurate enough to add up their sizes.
func (e *Engine) lastBefore(ctx context.Context, log kv.LogID, trimmed kv.Seq, since int64) (kv.Seq, error) {
	first := kv.SeqAt(since)
	timed := max(trimmed, first-min(first, 1))
	if trimmed.Timed() || since == 0 {
		return timed, nil
	}
	counted, _, err := e.countedSince(ctx, log, trimmed, since)
	if err != nil || !counted {
		return timed, err
	}
	n := sort.Search(int(kv.FirstTimed-trimmed), func(n int) bool { //nolint:gosec // below 2^52
		if err != nil {
			return true
		}
		counted, later, failed := e.countedSince(ctx, log, trimmed+kv.Seq(n), since) //nolint:gosec // not negative
		err = failed
		return !counted || later
	})
	after := trimmed + kv.Seq(n) //nolint:gosec // not negative
	if err == nil {
		counted, _, err = e.countedSince(ctx, log, after, since)
	}
	if counted {
		return after, err
	}
	return timed, err
}

// logs returns the logs of all tables, and of deleted ones whose streams can still be read.
func (e *Engine) logs(ctx context.Context) ([]kv.LogID, error) {
	dropped, err := e.jobs.stored(ctx, func(j job.Record) bool { return j.Kind == job.DropLog })
	var ids []kv.LogID
	for i := range dropped {
		ids = append(ids, kv.LogID(dropped[i].Table))
	}
	for _, t := range e.catalog.Tables() {
		if t.Descriptor.GoneAt == 0 { // otherwise it is among the dropped logs
			ids = append(ids, kv.LogID(t.ID))
		}
	}
	return ids, err
}

// logBytes adds up the sizes of logs from a time on, in milliseconds. Trimmed records do not count, although the store may
// reclaim their space later.
func (e *Engine) logBytes(ctx context.Context, logs []kv.LogID, since int64) (sum int64, err error) {
	for _, id := range logs {
		after, err := e.store.LogTrimmed(ctx, id)
		if err != nil {
			return 0, err
		}
		if after, err = e.lastBefore(ctx, id, after, since); err != nil {
			return 0, err
		}
		n, err := e.store.LogSize(ctx, id, after)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// timeOfLogs returns the earliest time, in milliseconds, from which on the logs have at most a given size.
func (e *Engine) timeOfLogs(ctx context.Context, logs []kv.LogID, bytes int64) (ms int64, err error) {
	now := e.options.Now().UnixMilli()
	n := sort.Search(int(now), func(ms int) bool {
		if err != nil {
			return true
		}
		var left int64
		left, err = e.logBytes(ctx, logs, int64(ms))
		return left <= bytes
	})
	return int64(n), err
}
