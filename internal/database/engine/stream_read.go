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

// streams returns the streams that can be read, in the order of table names and labels.
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

// compareStreams orders a table's name and a label against a stream's.
func compareStreams(table, label string, s *stream.Stream) int {
	if order := strings.Compare(table, s.TableName); order != 0 {
		return order
	}
	return strings.Compare(label, s.Label)
}

// streamID is what a stream's record is stored under.
type streamID struct {
	table keyenc.TableID
	label string
}

// findStream returns the id of the stream of that ARN. A table of that name may have been deleted since, or
// replaced by another.
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

// oldestReadable is the time before which records cannot be read from a stream, in milliseconds since the epoch: a
// retention ago, in steps, so that what an iterator points at is not gone at once.
func (e *Engine) oldestReadable() int64 {
	return e.options.Now().Add(-stream.Retention).Truncate(logTrimInterval).UnixMilli()
}

// streamState is a stream as it can be read now, and the number that divides the records that its shards were given
// from those that may yet be a child's: whoever reads from a shard reads below it.
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

// knownStreamsMax bounds the streams that are kept decoded. A table may have had any number of them.
const knownStreamsMax = 1024

// knownStreams keeps the records of streams decoded. The store is asked each time nevertheless; what is saved is to
// decode the same bytes again for every page of records.
type knownStreams struct {
	mu   sync.Mutex
	byID map[streamID]knownStream
}

type knownStream struct {
	stored []byte
	stream *stream.Stream // never changed
}

// read returns a stream as it is stored, read only; nil where it is not there.
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

// logBound is the highest number up to which all logs are complete. The log that it asks is no table's.
func (e *Engine) logBound(ctx context.Context) (kv.Seq, error) {
	_, through, err := e.store.ReadLog(ctx, 0, 0, 1)
	return through, err
}
