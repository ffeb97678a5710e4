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
	// historyRecords is about how many records of a log one call of ItemHistory reads.
	historyRecords = 50_000
	// historyBytes is how much of changes it returns, about.
	historyBytes = 4 << 20
	// firstStretch is how far it looks back at first, in milliseconds; stretchGrowth, how much further each time.
	firstStretch  = int64(60_000)
	stretchGrowth = 4
)

// ItemHistory is what the change log of a table tells of one item.
type ItemHistory struct {
	// Changes are the newest first. A change has the images that the log keeps: for point-in-time recovery alone, the old one.
	Changes []ItemChange
	// Since is the time, in milliseconds, from which on the log has every change; 0 where it keeps none.
	Since int64
	// Before is where the changes go on, for the next call; 0 where there are no more.
	Before kv.Seq
}

// ItemChange is what one commit did to the item.
type ItemChange struct {
	Seq kv.Seq
	logenc.Change
}

// ItemHistory returns the latest changes of an item before a position (0: all), at most limit. A log has no order by items, so
// it is read backwards, in stretches that grow, until there are enough changes or enough was read: a call may return no
// change and where to go on.
func (e *Engine) ItemHistory(ctx context.Context, nameOrARN string, key attr.Item, before kv.Seq, limit int) (*ItemHistory, error) {
	t, err := e.catalog.Lookup(nameOrARN)
	if err != nil {
		return nil, err
	}
	h := &historian{limit: limit}
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

// historian looks for the changes of one item in a log.
type historian struct {
	from  kv.Snapshot
	log   kv.LogID
	key   []byte
	limit int

	found []ItemChange // newest first
	bytes int
	read  int // records
}

// search looks backwards from before until first, and returns where to go on, 0 at the end.
func (h *historian) search(ctx context.Context, first, before kv.Seq) (next kv.Seq, err error) {
	for width := firstStretch; before > first && !h.full() && h.read < historyRecords; {
		from := max(first, kv.SeqAt(before.Millis()-width))
		changes, whole, err := h.stretch(ctx, from, before, width > 1)
		if err != nil {
			return 0, err
		}
		if !whole { // too many records to read at once: nearer
			width = max(1, width/stretchGrowth/stretchGrowth)
			continue
		}
		for _, c := range slices.Backward(changes) {
			if h.full() {
				return before, nil
			}
			h.found, h.bytes, before = append(h.found, c), h.bytes+len(c.Old)+len(c.New), c.Seq
		}
		if h.full() { // of the stretch there may be more than was returned
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

func (h *historian) full() bool {
	return len(h.found) >= h.limit || len(h.found) > 0 && h.bytes >= historyBytes
}

// stretch returns the changes of [from, before), the oldest first, and no more of them than are wanted; whole is false where
// there were too many records to read them all.
func (h *historian) stretch(ctx context.Context, from, before kv.Seq, bounded bool) (changes []ItemChange, whole bool, err error) {
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

// Resource is the ARN of a table, as policies name it.
func (e *Engine) Resource(nameOrARN string) (string, error) {
	name, err := e.catalog.Name(nameOrARN)
	return e.catalog.TableARN(name), err
}
