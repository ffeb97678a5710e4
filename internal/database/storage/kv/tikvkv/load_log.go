//go:build tikv

package tikvkv

import (
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Logs lists the logs that have records or have been trimmed. It skips from the first record of each to the next
// log.
func (s *Store) Logs(ctx context.Context) (list []kv.LogID, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		v, err := s.latest(ctx)
		if err != nil {
			return err
		}
		found := map[kv.LogID]bool{}
		for _, space := range []byte{logSpace, trimSpace} {
			for next := uint64(0); next <= math.MaxUint32; next++ {
				it := v.scan(s.key(space, binary.BigEndian.AppendUint32(nil, uint32(next))...), s.end(space), kv.IterOptions{Limit: 1})
				has := it.Next()
				if has {
					log := binary.BigEndian.Uint32(it.key[len(s.prefix)+1:])
					found[kv.LogID(log)], next = true, uint64(log)
				}
				if err := it.Err(); err != nil {
					return err
				}
				_ = it.Close()
				if !has {
					break
				}
			}
		}
		list = slices.Sorted(maps.Keys(found))
		return nil
	})
	return list, err
}

// LoadLog writes the records in transactions of about a megabyte.
func (s *Store) LoadLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return s.loadLog(ctx, log, trimmed, math.MaxUint64-1, fill)
}

// ExtendLog writes the records like LoadLog.
func (s *Store) ExtendLog(ctx context.Context, log kv.LogID, trimmed kv.Seq, fill func(put func(kv.Record) error) error) error {
	return s.loadLog(ctx, log, trimmed, trimmed, fill)
}

// loadLog removes the records of a log up to a number, records how far it has been trimmed, and adds records.
func (s *Store) loadLog(ctx context.Context, log kv.LogID, trimmed, upTo kv.Seq, fill func(put func(kv.Record) error) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	for more := true; more; {
		err := s.write(ctx, func(t *txn) (err error) {
			more, err = t.trim(log, upTo)
			return err
		})
		if err != nil {
			return err
		}
	}
	last := trimmed
	err := s.write(ctx, func(t *txn) error {
		it := t.scan(s.recordKey(log, 0), s.recordKey(log, math.MaxUint64), kv.IterOptions{Reverse: true, Limit: 1})
		defer it.Close()
		if it.Next() {
			last = max(trimmed, seqOf(it.key))
		}
		if it.Err() != nil {
			return it.Err()
		}
		if trimmed == 0 {
			return t.tx.Delete(s.trimKey(log))
		}
		return t.tx.Set(s.trimKey(log), binary.BigEndian.AppendUint64(nil, uint64(trimmed)))
	})
	if err != nil {
		return err
	}
	l := &logLoad{ctx: ctx, store: s, log: log}
	if err := kv.FillLog(ctx, limits, last, fill, l.add); err != nil {
		return err
	}
	return l.send()
}

// write runs do in a transaction and commits it, and retries after conflicts.
func (s *Store) write(ctx context.Context, do func(t *txn) error) error {
	return inTime(ctx, func(ctx context.Context) error {
		return s.again(ctx, func() error {
			t, err := s.begin(ctx)
			if err != nil {
				return err
			}
			if err := do(t); err != nil {
				return err
			}
			return t.send()
		})
	})
}

// logLoad is a running loadLog.
type logLoad struct {
	ctx     context.Context //nolint:containedctx // that of loadLog
	store   *Store
	log     kv.LogID
	records []kv.Record
	bytes   int
}

func (l *logLoad) add(r kv.Record) error {
	const batchBytes, batchRecords = 1 << 20, 4000
	if len(l.records) == batchRecords || len(l.records) > 0 && l.bytes+len(r.Data) > batchBytes {
		if err := l.send(); err != nil {
			return err
		}
	}
	l.records, l.bytes = append(l.records, kv.Record{Seq: r.Seq, Data: append([]byte{}, r.Data...)}), l.bytes+len(r.Data)
	return nil
}

// send writes what has been put since the previous call.
func (l *logLoad) send() error {
	if len(l.records) == 0 {
		return l.ctx.Err()
	}
	err := l.store.write(l.ctx, func(t *txn) error {
		for _, r := range l.records {
			if err := t.tx.Set(l.store.recordKey(l.log, r.Seq), append([]byte{isValue}, r.Data...)); err != nil {
				return err
			}
		}
		return nil
	})
	l.records, l.bytes = nil, 0
	return err
}
