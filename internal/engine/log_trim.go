package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/storage/kv"
	"github.com/monotable/monotable/internal/storage/logenc"
)

const (
	// logRetention is for how long the records of a change log are kept.
	logRetention = 24 * time.Hour
	// logTrimInterval is how often older ones are looked for.
	logTrimInterval = 5 * time.Minute
	// logTrimChunk is how many records are looked at together.
	logTrimChunk = 64
)

// trimLogs forgets the records of all change logs that are older than logRetention.
func (e *Engine) trimLogs(ctx context.Context) error {
	before := e.options.Now().Add(-logRetention).UnixMilli()
	err := e.dropOldLogs(ctx)
	for _, t := range e.catalog.Tables() {
		err = errors.Join(err, e.trimLog(ctx, kv.LogID(t.ID), before))
	}
	return err
}

// trimLog forgets the records of a log up to the first one that is young enough: all at once, since a trim costs
// a store on disk as much for one record as for a million.
func (e *Engine) trimLog(ctx context.Context, log kv.LogID, before int64) error {
	upTo, err := e.lastBefore(ctx, log, before)
	if upTo == 0 {
		return err
	}
	return errors.Join(err, e.store.TrimLog(ctx, log, upTo))
}

// lastBefore reads a log from its beginning and returns the number of the last record that is older than
// before, 0 where there is none; beside an error, the number it came to.
func (e *Engine) lastBefore(ctx context.Context, log kv.LogID, before int64) (last kv.Seq, err error) {
	for {
		records, err := e.store.ReadLog(ctx, log, last, logTrimChunk)
		if err != nil || len(records) == 0 {
			return last, err
		}
		for i := range records {
			change, err := logenc.Decode(records[i].Data)
			if err != nil || change.Time >= before {
				return last, err
			}
			last = records[i].Seq
		}
	}
}
