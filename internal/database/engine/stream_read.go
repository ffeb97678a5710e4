package engine

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// streams returns the readable streams, in the order of table names and labels.
func (e *Engine) streams(ctx context.Context) ([]*stream.Stream, error) {
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	all, err := readStreams(snapshot)
	if err != nil {
		return nil, err
	}
	now := e.options.Now()
	all = slices.DeleteFunc(all, func(s *stream.Stream) bool { return s.Gone(now) })
	slices.SortFunc(all, func(a, b *stream.Stream) int { return compareStreams(a.TableName, a.Label, b) })
	return all, nil
}

// compareStreams compares a table's name and a label with a stream's.
func compareStreams(table, label string, s *stream.Stream) int {
	if order := strings.Compare(table, s.TableName); order != 0 {
		return order
	}
	return strings.Compare(label, s.Label)
}

// streamID is the key of a stream's record.
type streamID struct {
	table keyenc.TableID
	label string
}

// findStream returns the id of the stream with an ARN. The table with that name may have been deleted or replaced since.
func (e *Engine) findStream(ctx context.Context, arn string) (streamID, error) {
	table, label, err := e.catalog.ParseStreamARN(arn)
	if err != nil {
		return streamID{}, err
	}
	if t := e.catalog.Tables()[table]; t != nil && t.Descriptor.Stream.Label == label {
		return streamID{t.ID, label}, nil
	}
	all, err := e.streams(ctx)
	if err != nil {
		return streamID{}, err
	}
	for _, s := range all {
		if s.TableName == table && s.Label == label {
			return streamID{s.Table, label}, nil
		}
	}
	return streamID{}, apierr.StreamNotFound.With(arn)
}

// oldestReadable returns the time, in milliseconds since the epoch, before which records of a stream cannot be read: now minus
// the retention, rounded to steps so that the position of a new iterator is not trimmed immediately.
func (e *Engine) oldestReadable() int64 {
	return e.options.Now().Add(-stream.Retention).Truncate(logTrimInterval).UnixMilli()
}

// streamState returns a stream as it can be read now, and the number that divides the records already assigned to its shards from
// those that may still go to a child: readers of a shard read below it.
func (e *Engine) streamState(ctx context.Context, id streamID) (s *stream.Stream, bound kv.Seq, err error) {
	key := keyenc.Stream(id.table, id.label)
	intent := kv.Intent{Check: [][]byte{keyenc.TableVersion(id.table), key}}
	err = e.store.Update(ctx, intent, func(txn kv.Txn) error {
		var err error
		bound = txn.LogSeq()
		s, err = e.knownStreams.read(txn, id)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if s == nil || s.Gone(e.options.Now()) {
		return nil, 0, apierr.NotFound.With()
	}
	return s.Readable(e.oldestReadable()), bound, nil
}

// knownStreamsMax limits the number of cached streams, since a table may have had any number of them.
const knownStreamsMax = 1024

// knownStreams caches decoded stream records. The record is still read from the store each time; the cache only avoids decoding
// the same bytes for every page of records.
type knownStreams struct {
	mu   sync.Mutex
	byID map[streamID]knownStream
}

type knownStream struct {
	stored []byte
	stream *stream.Stream // immutable
}

// read returns a stored stream, read only, or nil if it does not exist.
func (k *knownStreams) read(r kv.Reader, id streamID) (*stream.Stream, error) {
	data, err := r.Get(keyenc.Stream(id.table, id.label))
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil || data == nil {
		delete(k.byID, id)
		return nil, err
	}
	if known, ok := k.byID[id]; ok && bytes.Equal(known.stored, data) {
		return known.stream, nil
	}
	s, err := stream.Decode(data)
	if err != nil {
		return nil, err
	}
	if k.byID == nil || len(k.byID) >= knownStreamsMax {
		k.byID = map[streamID]knownStream{}
	}
	k.byID[id] = knownStream{stored: bytes.Clone(data), stream: s}
	return s, nil
}

// logBound returns the highest number up to which all logs are complete. The log that it reads belongs to no table.
func (e *Engine) logBound(ctx context.Context) (kv.Seq, error) {
	_, through, err := e.store.ReadLog(ctx, 0, 0, 1)
	return through, err
}
