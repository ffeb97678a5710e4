package engine

import (
	"context"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// logChunk is the maximum number of log records read together; see also kv.LogReadBytes.
const logChunk = 64

// walkLog calls visit with the records of a log after a number, in order, until it returns false or there are no more. It returns
// the number up to which the log has been read: no record up to there was skipped, and none will appear there.
func (e *Engine) walkLog(ctx context.Context, log kv.LogID, after kv.Seq,
	visit func(seq kv.Seq, change *logenc.Change) (more bool, err error),
) (through kv.Seq, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return after, err
		}
		records, complete, err := e.store.ReadLog(ctx, log, after, logChunk)
		if err != nil {
			return after, err
		}
		for i := range records {
			change, err := decodeRecord(log, &records[i])
			if err != nil {
				return after, err
			}
			more, err := visit(records[i].Seq, &change)
			if err != nil {
				return after, err
			}
			after = records[i].Seq
			if !more {
				return after, nil
			}
		}
		if len(records) == 0 || complete > after { // otherwise the read ended before the log did
			return max(after, complete), nil
		}
	}
}

// decodeRecord decodes a record of a log and sets its time.
func decodeRecord(log kv.LogID, r *kv.Record) (logenc.Change, error) {
	change, err := logenc.Decode(r.Data)
	if err != nil {
		return change, fmt.Errorf("engine: record %d of log %d: %w", r.Seq, log, err)
	}
	if change.Time == 0 {
		change.Time = r.Seq.Millis()
	}
	return change, nil
}

// logReader reads one log, of a store or of a kept snapshot.
type logReader interface {
	ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error)
}

// storeLog reads the current logs of a store.
type storeLog struct {
	kv.Store
	ctx context.Context //nolint:containedctx // of one call
}

func (s storeLog) ReadLog(log kv.LogID, after kv.Seq, limit int) ([]kv.Record, error) {
	records, _, err := s.Store.ReadLog(s.ctx, log, after, limit)
	return records, err
}

// firstSince returns the number, starting from a number, at which the records of a time or later begin: all records between the
// two are earlier. Since numbers are times this is arithmetic. Only if the log begins with records of format 1, whose numbers are
// counters, are those read one by one.
func firstSince(r logReader, log kv.LogID, from kv.Seq, since int64) (kv.Seq, error) {
	for chunk := 1; !from.Timed(); chunk = logChunk {
		records, err := r.ReadLog(log, from-min(from, 1), chunk)
		if err != nil {
			return from, err
		}
		for i := range records {
			if records[i].Seq.Timed() {
				return max(from, kv.SeqAt(since)), nil
			}
			change, err := decodeRecord(log, &records[i])
			if err != nil || change.Time >= since {
				return from, err
			}
			from = records[i].Seq + 1
		}
		if len(records) == 0 {
			break
		}
	}
	return max(from, kv.SeqAt(since)), nil
}
