package engine

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// logCapInterval is how often the room of change logs is compared with Options.LogMaxBytes.
	logCapInterval = 10 * time.Second
	// From logAlarm percent of the cap on, the log warns of it; over the cap, logs are trimmed to logCapKept percent.
	logAlarm, logCapKept = 80, 90
	percent              = 100
)

// LogUse is the room that all change logs take together, as the store estimates it, and the cap on it; 0 is none.
type LogUse struct{ Bytes, Max int64 }

// LogUse returns the room of change logs.
func (e *Engine) LogUse(ctx context.Context) (LogUse, error) {
	logs, err := e.logs(ctx)
	if err != nil {
		return LogUse{}, err
	}
	bytes, err := e.logBytes(ctx, logs, 0)
	return LogUse{bytes, e.options.LogMaxBytes}, err
}

// capLogs keeps change logs below Options.LogMaxBytes: it warns while they come near, and forgets the oldest records of
// all tables when they are over it.
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
			"raise --log-max-bytes, shorten recovery periods or disable streams", "bytes", bytes, "cap", limit)
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
		err = errors.Join(err, e.store.TrimLog(ctx, id, kv.SeqAt(until)-1))
	}
	return err
}

// logs returns the logs of all tables, and of deleted ones whose streams can still be read.
func (e *Engine) logs(ctx context.Context) ([]kv.LogID, error) {
	dropped, err := e.jobs.stored(ctx, func(j job.Record) bool { return j.Kind == job.DropLog })
	var ids []kv.LogID
	for i := range dropped {
		ids = append(ids, kv.LogID(dropped[i].Table))
	}
	for _, t := range e.catalog.Tables() {
		if t.Descriptor.GoneAt == 0 { // else among the dropped
			ids = append(ids, kv.LogID(t.ID))
		}
	}
	return ids, err
}

// logBytes adds up the room of the records of logs from a time on, in milliseconds. What was trimmed before does not
// count, though the store may take its time to give the room back.
func (e *Engine) logBytes(ctx context.Context, logs []kv.LogID, since int64) (sum int64, err error) {
	first := kv.SeqAt(since)
	for _, id := range logs {
		after, err := e.store.LogTrimmed(ctx, id)
		if err != nil {
			return 0, err
		}
		n, err := e.store.LogSize(ctx, id, max(after, first-min(first, 1)))
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// timeOfLogs returns the earliest time, in milliseconds, from which on the records of logs take at most some room.
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
