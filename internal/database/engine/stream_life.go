package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// A stream's record is created and closed in the transaction that changes its table, which holds the table's version exclusively.
// Everyone else holds that version shared, and the record's own key: shared to read, exclusively to change it. So a boundary set
// by a change is never below one that a reader got before (see streamState).

// openStream creates the stream that a table's descriptor names, in the transaction that creates or changes the table. A label
// that an earlier stream of a table with that name had is advanced, since labels must be unique.
func (e *Engine) openStream(txn kv.Txn, d *catalog.Descriptor, now time.Time, enabledAt int64) error {
	s := &stream.Stream{
		Table: d.ID, TableName: d.Name, Label: d.Stream.Label, View: catalog.View(d.Stream.View), Keys: d.Keys,
		Created: now.UnixMilli(), EnabledAt: enabledAt,
	}
	others, err := readStreams(txn)
	if err != nil {
		return err
	}
	for at := now; labelTaken(others, s); {
		at = at.Add(time.Millisecond)
		s.Label = at.UTC().Format(catalog.StreamLabelLayout)
	}
	d.Stream.Label = s.Label
	s.Open(txn.LogSeq(), e.options.StreamShards)
	return saveStream(txn, s)
}

func labelTaken(others []*stream.Stream, s *stream.Stream) bool {
	for _, o := range others {
		if o.TableName == s.TableName && o.Label == s.Label {
			return true
		}
	}
	return false
}

// closeStream closes the stream that a table's descriptor names, in the transaction that disables it or deletes the table.
func (e *Engine) closeStream(txn kv.Txn, d *catalog.Descriptor, now time.Time, settledAt int64) error {
	s, err := readStream(txn, d.ID, d.Stream.Label)
	if err != nil || s == nil {
		return err
	}
	s.Close(txn.LogSeq(), now.UnixMilli())
	s.SettledAt = settledAt
	return saveStream(txn, s)
}

// readStream reads one stream's record, or returns nil if it does not exist.
func readStream(r kv.Reader, table keyenc.TableID, label string) (*stream.Stream, error) {
	data, err := r.Get(keyenc.Stream(table, label))
	if err != nil || data == nil {
		return nil, err
	}
	return stream.Decode(data)
}

// readStreams reads the records of all streams, by table.
func readStreams(r kv.Reader) ([]*stream.Stream, error) {
	lo, hi := keyenc.Streams()
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	var streams []*stream.Stream
	for it.Next() {
		s, err := stream.Decode(it.Value())
		if err != nil {
			return nil, err
		}
		streams = append(streams, s)
	}
	return streams, it.Err()
}

func saveStream(txn kv.Txn, s *stream.Stream) error {
	data, err := s.Encode()
	if err != nil {
		return fmt.Errorf("engine: stream %s of table %q: %w", s.Label, s.TableName, err)
	}
	txn.Set(keyenc.Stream(s.Table, s.Label), data)
	return nil
}

// adoptStreams creates the records of enabled streams in a store from before streams could be read. They begin with the first
// change still in the log that was made while they were enabled.
func (e *Engine) adoptStreams(ctx context.Context) error {
	var errs error
	for _, t := range e.catalog.Tables() {
		d := t.Descriptor
		if !d.Stream.Enabled || d.GoneAt != 0 {
			continue
		}
		if data, err := e.store.Get(ctx, keyenc.Stream(d.ID, d.Stream.Label)); err != nil || data != nil {
			errs = errors.Join(errs, err)
			continue
		}
		errs = errors.Join(errs, e.adoptStream(ctx, d))
	}
	return errs
}

func (e *Engine) adoptStream(ctx context.Context, d *catalog.Descriptor) error {
	enabled, err := time.Parse(catalog.StreamLabelLayout, d.Stream.Label)
	if err != nil {
		return fmt.Errorf("engine: table %q: label of its stream: %w", d.Name, err)
	}
	log := kv.LogID(d.ID)
	trimmed, err := e.store.LogTrimmed(ctx, log)
	if err != nil {
		return err
	}
	bound, err := e.logBound(ctx)
	if err != nil {
		return err
	}
	from, err := firstSince(storeLog{e.store, ctx}, log, trimmed+1, enabled.UnixMilli())
	if err != nil {
		return err
	}
	from = min(from, bound+1)
	key := keyenc.Stream(d.ID, d.Stream.Label)
	return e.store.Update(ctx, kv.Intent{Write: [][]byte{key}, Frees: true}, func(txn kv.Txn) error {
		s := &stream.Stream{
			Table: d.ID, TableName: d.Name, Label: d.Stream.Label, View: catalog.View(d.Stream.View), Keys: d.Keys,
			Created: enabled.UnixMilli(),
		}
		s.Open(from, e.options.StreamShards)
		return saveStream(txn, s)
	})
}
