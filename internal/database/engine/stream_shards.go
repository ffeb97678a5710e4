package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	// reshardInterval is how often shards are checked.
	reshardInterval = time.Second
	// loadWindow is how long records are counted before a shard is considered busy.
	loadWindow = 10 * time.Second
)

// shardWatch is the state of the task that rotates and splits shards.
type shardWatch struct {
	mu      sync.Mutex
	streams map[streamID]*watchedStream
}

// watchedStream is an enabled stream.
type watchedStream struct {
	rotateAt time.Time // when the oldest open shard is due for rotation; zero if not known
	since    time.Time // the start of the load window,
	from     kv.Seq    // its first number,
	counted  uint64    // and the record count of the table's log at the start
}

// reshardStreams rotates shards that have been open long enough and splits those that receive too many records.
func (e *Engine) reshardStreams(ctx context.Context) error {
	e.shards.mu.Lock()
	defer e.shards.mu.Unlock()
	through, err := e.logBound(ctx)
	if err != nil {
		return err
	}
	now := e.options.Now()
	before := e.shards.streams
	e.shards.streams = map[streamID]*watchedStream{}
	for _, t := range e.catalog.Tables() {
		if d := t.Descriptor; d.Stream.Enabled && d.GoneAt == 0 {
			id := streamID{t.ID, d.Stream.Label}
			w := before[id]
			if w == nil {
				w = &watchedStream{since: now, from: through + 1, counted: e.appendCounts.count(t.ID)}
			}
			e.shards.streams[id] = w
			err = errors.Join(err, e.reshardStream(ctx, id, w, now, through))
		}
	}
	return err
}

func (e *Engine) reshardStream(ctx context.Context, id streamID, w *watchedStream, now time.Time, through kv.Seq) error {
	busy, err := e.busyShards(ctx, id, w, now, through)
	rotation := e.options.StreamShardRotation
	if err != nil || len(busy) == 0 && (rotation <= 0 || now.Before(w.rotateAt)) {
		return err
	}
	pieces := func(x *stream.Shard) int {
		switch {
		case busy[x.ID]:
			return 2
		case rotation > 0 && !now.Before(time.UnixMilli(x.Opened).Add(rotation)):
			return 1
		default:
			return 0
		}
	}
	return e.changeStream(ctx, id, func(txn kv.Txn, s *stream.Stream) error {
		if s.DisabledAt != 0 {
			return nil
		}
		changed := s.Reshard(txn.LogSeq(), now.UnixMilli(), pieces)
		w.rotateAt = s.OldestOpen().Add(rotation)
		if !changed {
			return nil
		}
		return saveStream(txn, s)
	})
}

// busyShards returns the ids of the open shards that received too many records in the window ending now. While the table as a
// whole receives few, no shard is checked.
func (e *Engine) busyShards(ctx context.Context, id streamID, w *watchedStream, now time.Time, through kv.Seq) (map[string]bool, error) {
	elapsed := now.Sub(w.since)
	if e.options.StreamShardLoad < 0 || elapsed < loadWindow {
		return nil, nil
	}
	most := uint64(float64(e.options.StreamShardLoad) * elapsed.Seconds())
	from, counted := w.from, w.counted
	w.since, w.from, w.counted = now, through+1, e.appendCounts.count(id.table)
	if w.counted-counted <= most && e.member == nil { // records of other servers are not counted
		return nil, nil
	}
	s, _, err := e.streamState(ctx, id)
	if err != nil {
		return nil, err
	}
	counts := map[string]uint64{}
	_, err = e.walkLog(ctx, kv.LogID(id.table), from-1, func(seq kv.Seq, change *logenc.Change) (bool, error) {
		if seq > through {
			return false, nil
		}
		hash, err := keyenc.HashOf(change.Key)
		for i := range s.Shards {
			if x := &s.Shards[i]; x.Open() && x.Holds(seq, hash) {
				counts[x.ID]++
			}
		}
		return true, err
	})
	busy := map[string]bool{}
	for shard, count := range counts {
		if count > most {
			busy[shard] = true
		}
	}
	return busy, err
}

// changeStream changes a stream's record, holding it and its table's version. A record that no longer exists is ignored.
func (e *Engine) changeStream(ctx context.Context, id streamID, change func(kv.Txn, *stream.Stream) error) error {
	intent := kv.Intent{
		Write: [][]byte{keyenc.Stream(id.table, id.label)}, Check: [][]byte{keyenc.TableVersion(id.table)}, Frees: true,
	}
	return e.store.Update(ctx, intent, func(txn kv.Txn) error {
		s, err := readStream(txn, id.table, id.label)
		if err != nil || s == nil {
			return err
		}
		return change(txn, s)
	})
}
