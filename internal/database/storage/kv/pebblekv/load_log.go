package pebblekv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Logs lists the logs that have records or have been trimmed. It reads one record of each.
func (s *Store) Logs(ctx context.Context) (list []kv.LogID, err error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	defer s.catch(&err)
	found := map[kv.LogID]bool{}
	// note adds the log of a key, whose id is followed by tail bytes, and returns the first key of the next log.
	note := func(key []byte, tail int, first func(kv.LogID) []byte) (next []byte, err error) {
		if len(key) < 4+tail {
			return nil, fmt.Errorf("the key %x of a change log is corrupted", key)
		}
		log := kv.LogID(binary.BigEndian.Uint32(key[len(key)-tail-4:]))
		found[log] = true
		if log == math.MaxUint32 {
			return nil, nil
		}
		return first(log + 1), nil
	}
	record := func(log kv.LogID) []byte { lo, _ := logBounds(log); return lo }
	_, end := logBounds(math.MaxUint32)
	if err := s.eachLog(ctx, record(0), end, func(key []byte) ([]byte, error) { return note(key, seqLen, record) }); err != nil {
		return nil, err
	}
	err = s.eachLog(ctx, trimmedKey(0), append(trimmedKey(math.MaxUint32), 0), func(key []byte) ([]byte, error) { return note(key, 0, trimmedKey) })
	return slices.Sorted(maps.Keys(found)), err
}

// eachLog calls see with the first key of a range, then with the first key at or after the result of see.
func (s *Store) eachLog(ctx context.Context, lo, hi []byte, see func(key []byte) (next []byte, err error)) (err error) {
	walk, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, walk.Close()) }()
	for ok := walk.First(); ok; {
		next, err := see(walk.Key())
		if err := errors.Join(err, ctx.Err()); err != nil || next == nil {
			return err
		}
		ok = walk.SeekGE(next)
	}
	return walk.Error()
}

// LoadLog empties the log and writes the records as tables, like Load.
func (s *Store) LoadLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return s.loadLog(ctx, log, trimmed, math.MaxUint64, fill)
}

// ExtendLog also writes the records as tables.
func (s *Store) ExtendLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return s.loadLog(ctx, log, trimmed, trimmed, fill)
}

// loadLog deletes the records of a log up to a number, stores how far it has been trimmed, and adds records.
func (s *Store) loadLog(ctx context.Context, log kv.LogID, trimmed, upTo kv.Seq, fill func(put func(kv.Record) error) error) (err error) {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	defer s.catch(&err)
	s.trimming.Lock()
	defer s.trimming.Unlock()
	if err := errors.Join(ctx.Err(), s.writable(), s.forget(log, trimmed, upTo)); err != nil {
		return err
	}
	last, err := s.lastRecord(log, trimmed, math.MaxUint64)
	if err != nil {
		return err
	}
	l := &load{fs: s.files, space: s.space, dir: s.makingPath("load"), options: s.tableOptions(bottomLevel)}
	defer s.discard(l.dir)
	err = kv.FillLog(ctx, s.Limits(), max(trimmed, last), fill, func(r kv.Record) error { return l.add(appendLogKey(nil, log, r.Seq), r.Data) })
	if closing := l.endFile(); err == nil {
		err = closing
	}
	if err != nil {
		return err // fill's own error, unchanged
	}
	if err := s.beginCommit(); err != nil {
		return err
	}
	defer s.endCommit()
	return s.ingest(ctx, l.files, nil)
}

// forget deletes the records of a log up to a number, and stores how far it has been trimmed.
func (s *Store) forget(log kv.LogID, trimmed, upTo kv.Seq) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	err := batch.DeleteRange(appendLogKey(nil, log, 0), append(appendLogKey(nil, log, upTo), 0), nil)
	if key := trimmedKey(log); trimmed == 0 {
		err = errors.Join(err, batch.Delete(key, nil))
	} else {
		err = errors.Join(err, batch.Set(key, binary.BigEndian.AppendUint64(nil, uint64(trimmed)), nil))
	}
	if err != nil {
		return err
	}
	return s.applyWhole(batch, false)
}
