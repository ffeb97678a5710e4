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
	logTrimChunk    = 256
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

// trimLog reads a log from its beginning up to the first record that is young enough. What it has read it
// trims chunk by chunk, so it never reads a record twice.
func (e *Engine) trimLog(ctx context.Context, log kv.LogID, before int64) error {
	var after kv.Seq
	for {
		records, err := e.store.ReadLog(ctx, log, after, logTrimChunk)
		if err != nil {
			return err
		}
		old := 0
		for ; old < len(records); old++ {
			change, err := logenc.Decode(records[old].Data)
			if err != nil {
				return err
			}
			if change.Time >= before {
				break
			}
			after = records[old].Seq
		}
		if old == 0 {
			return nil
		}
		if err := e.store.TrimLog(ctx, log, after); err != nil {
			return err
		}
		if old < logTrimChunk {
			return nil
		}
	}
}
