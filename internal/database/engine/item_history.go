package engine

import (
	"bytes"
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	// historyRecords is approximately how many log records one call of ItemHistory reads.
	historyRecords = 50_000
	// historyBytes is approximately the maximum size of the changes that it returns.
	historyBytes = 4 << 20
	// firstStretch is how far it looks back at first, in milliseconds; stretchGrowth is the factor for each further step.
	firstStretch  = int64(60_000)
	stretchGrowth = 4
)

// ItemHistory is a table's recorded changes of one item.
type ItemHistory struct {
	// Changes, newest first. A change has the images that the log contains: for point-in-time recovery, only the old one.
	Changes []ItemChange
	// Since is the time, in milliseconds, from which the log is complete; 0 if there is no log.
	Since int64
	// Before is where the next call continues; 0 at the end.
	Before kv.Seq
}

// ItemChange is the effect of one commit on the item.
type ItemChange struct {
	Seq kv.Seq
	logenc.Change
}

// ItemHistory returns at most limit changes of an item before a position (0: the latest). The log is not indexed by item, so it
// is read backwards, in growing steps, until there are enough changes or enough records were read: a call may return no changes
// and a position to continue at.
func (e *Engine) ItemHistory(ctx context.Context, nameOrARN string, key attr.Item, before kv.Seq, limit int) (*ItemHistory, error) {
	t, err := e.catalog.Lookup(nameOrARN)
	if err != nil {
		return nil, err
	}
	h := &historySearch{limit: limit}
	if h.key, err = storeKey(t, key); err != nil {
		return nil, err
	}
	h.log = kv.LogID(t.ID)
	out := &ItemHistory{Changes: []ItemChange{}}
	if t.Descriptor.Log.Keys == 0 {
		return out, nil
	}
	upcoming, err := e.awaitWrites(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	h.from = snapshot
	trimmed, err := e.store.LogTrimmed(ctx, h.log)
	if err != nil {
		return nil, err
	}
	first := max(trimmed+1, t.Descriptor.Log.Keys, kv.FirstTimed)
	out.Since = first.Millis()
	if before == 0 || before > upcoming {
		before = upcoming
	}
	out.Before, err = h.search(ctx, first, before)
	out.Changes = h.found
	return out, err
}

// historySearch searches a log for the changes of one item.
type historySearch struct {
	from  kv.Snapshot
	log   kv.LogID
	key   []byte
	limit int

	found []ItemChange // newest first
	bytes int
	read  int // records
}

// search reads backwards from before to first, and returns where to continue, 0 at the end.
func (h *historySearch) search(ctx context.Context, first, before kv.Seq) (next kv.Seq, err error) {
	for width := firstStretch; before > first && !h.full() && h.read < historyRecords; {
		from := max(first, kv.SeqAt(before.Millis()-width))
		changes, whole, err := h.stretch(ctx, from, before, width > 1)
		if err != nil {
			return 0, err
		}
		if !whole { // too many records for one step: take a shorter one
			width = max(1, width/stretchGrowth/stretchGrowth)
			continue
		}
		for _, c := range slices.Backward(changes) {
			if h.full() {
				return before, nil
			}
			h.found, h.bytes, before = append(h.found, c), h.bytes+len(c.Old)+len(c.New), c.Seq
		}
		if h.full() { // the step may contain more than was returned
			return before, nil
		}
		before = from
		width *= stretchGrowth
	}
	if before <= first {
		return 0, nil
	}
	return before, nil
}

func (h *historySearch) full() bool {
	return len(h.found) >= h.limit || len(h.found) > 0 && h.bytes >= historyBytes
}

// stretch returns the last wanted changes in [from, before), oldest first; whole is false if there were too many records to read
// all of them.
func (h *historySearch) stretch(ctx context.Context, from, before kv.Seq, bounded bool) (changes []ItemChange, whole bool, err error) {
	size := 0
	for after, n := from-1, 0; ; {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		records, err := h.from.ReadLog(h.log, after, logChunk)
		if err != nil || len(records) == 0 {
			return changes, true, err
		}
		for i := range records {
			if after = records[i].Seq; after >= before {
				return changes, true, nil
			}
			change, err := decodeRecord(h.log, &records[i])
			if err != nil {
				return nil, false, err
			}
			if !bytes.Equal(change.Key, h.key) {
				continue
			}
			changes, size = append(changes, ItemChange{after, change}), size+len(change.Old)+len(change.New)
			for len(changes) > h.limit || len(changes) > 1 && size > 2*historyBytes {
				size -= len(changes[0].Old) + len(changes[0].New)
				changes = slices.Delete(changes, 0, 1)
			}
		}
		n, h.read = n+len(records), h.read+len(records)
		if bounded && n > historyRecords {
			return nil, false, nil
		}
	}
}

// Resource is a table's ARN, for policies.
func (e *Engine) Resource(nameOrARN string) (string, error) {
	name, err := e.catalog.Name(nameOrARN)
	return e.catalog.TableARN(name), err
}
