package engine

import (
	"context"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// A log is read in chunks: the first of so many records, the next of as many as come to about so many bytes. They
// are never many, for large records may stand behind small ones.
const (
	firstLogChunk = 16
	logChunkBytes = 256 << 10
	logChunkMax   = 64
)

// walkLog calls visit with the records of a log after a number, in order, until it returns false or there are no
// more. It returns how far that is: nothing up to there was left out, nor will anything appear there.
func (e *Engine) walkLog(ctx context.Context, log kv.LogID, after kv.Seq,
	visit func(seq kv.Seq, change *logenc.Change) (more bool, err error),
) (through kv.Seq, err error) {
	chunk, count, bytes := firstLogChunk, 0, 0
	for {
		records, complete, err := e.store.ReadLog(ctx, log, after, chunk)
		if err != nil {
			return after, err
		}
		for i := range records {
			change, err := logenc.Decode(records[i].Data)
			if err != nil {
				return after, fmt.Errorf("engine: record %d of log %d: %w", records[i].Seq, log, err)
			}
			more, err := visit(records[i].Seq, &change)
			if err != nil {
				return after, err
			}
			after = records[i].Seq
			if !more {
				return after, nil
			}
			bytes += len(records[i].Data)
		}
		after = max(after, complete)
		if len(records) < chunk {
			return after, nil
		}
		count += len(records)
		chunk = min(max(logChunkBytes*count/max(bytes, 1), 1), logChunkMax)
	}
}
