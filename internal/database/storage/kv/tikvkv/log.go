//go:build tikv

package tikvkv

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/tikv/client-go/v2/oracle"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// recordsMax is the maximum number of records in an update.
const recordsMax = 1 << 16

// writeRecords appends the records, and advances the numbers as requested by Advance.
func (t *txn) writeRecords() error {
	most := 0 // records in one log
	count := map[kv.LogID]int{}
	for _, r := range t.records {
		count[r.log]++
		most = max(most, count[r.log])
	}
	if most > recordsMax {
		return kv.ErrTooLarge
	}
	first := t.start + 1
	if most > 0 {
		last, err := t.store.draw(t.ctx, most)
		if err != nil {
			return err
		}
		first = last - uint64(most) + 1 //nolint:gosec // not negative
	}
	if t.numbers.number(first) < t.floor {
		m := meta{window: t.numbers.window, offset: uint64(t.floor) - first, since: t.start}
		t.numbers = &m
		if err := t.tx.Set(t.store.key(metaSpace), m.encode()); err != nil {
			return err
		}
	}
	clear(count)
	for _, r := range t.records {
		seq := t.numbers.number(first + uint64(count[r.log])) //nolint:gosec // not negative
		count[r.log]++
		if err := t.tx.Set(t.store.recordKey(r.log, seq), append([]byte{isValue}, r.data...)); err != nil {
			return err
		}
	}
	return nil
}

// draw allocates n timestamps at once and returns the highest: the n numbers up to it are above all timestamps allocated
// before.
func (s *Store) draw(ctx context.Context, n int) (last uint64, err error) {
	futures := make([]oracle.Future, n)
	for i := range futures {
		futures[i] = s.client.GetOracle().GetTimestampAsync(ctx, &oracle.Option{TxnScope: oracle.GlobalTxnScope})
	}
	for _, f := range futures {
		ts, failed := f.Wait()
		if failed != nil {
			err = failed
		}
		last = max(last, ts)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errAgain, err)
	}
	return last, nil
}

// ReadLog returns records after a number. It waits, at most about a window, until no lower record can appear among those that
// it sees.
func (s *Store) ReadLog(ctx context.Context, log kv.LogID, after kv.Seq, limit int) (records []kv.Record, through kv.Seq, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		records, through = nil, after
		if limit <= 0 || after == math.MaxUint64 {
			return nil
		}
		return s.settled(ctx, func(v *view, complete kv.Seq) (kv.Seq, error) {
			seen, err := v.records(log, after, limit)
			if err != nil {
				return 0, err
			}
			full := len(seen) > 0 && (len(seen) == limit || bytesOf(seen) >= kv.LogReadBytes)
			last := kv.Seq(0)
			if len(seen) > 0 {
				last = seen[len(seen)-1].Seq
			}
			records, through = seen, max(after, complete)
			if full {
				through = last
			}
			for n := len(records); n > 0 && records[n-1].Seq > complete; n-- { // a later call may return them
				records, through = records[:n-1], max(after, complete)
			}
			return last, nil
		})
	})
	return records, through, err
}

func bytesOf(records []kv.Record) (n int) {
	for _, r := range records {
		n += len(r.Data)
	}
	return n
}

// settled calls look with a view of the store and the number up to which everything is decided. If look has seen more, settled
// waits until that is decided, and calls it again.
func (s *Store) settled(ctx context.Context, look func(v *view, complete kv.Seq) (seen kv.Seq, err error)) error {
	var want kv.Seq
	for first := true; ; first = false {
		v, err := s.latest(ctx)
		if err != nil {
			return err
		}
		m, err := v.meta()
		if err != nil {
			return err
		}
		// Undecided updates began after this, and know the offset if it was set at least another window earlier.
		began := before(v.at, s.window)
		var complete kv.Seq
		if before(began, s.window) > m.since {
			complete = m.number(began)
		}
		seen, err := look(v, complete)
		if err != nil {
			return err
		}
		if first {
			want = seen
		}
		if complete >= want {
			return nil
		}
		wait := time.Duration(oracle.ExtractPhysical(m.since)-oracle.ExtractPhysical(before(began, s.window)))*time.Millisecond + time.Millisecond
		if complete > 0 {
			wait = time.Duration((want-complete)>>18)*time.Millisecond + time.Millisecond //nolint:gosec // at most a window
		}
		select {
		case <-time.After(min(max(wait, time.Millisecond), s.window)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// trimRows is the maximum number of records that one update of TrimLog removes.
const trimRows = 2000

// TrimLog removes records up to a number.
func (s *Store) TrimLog(ctx context.Context, log kv.LogID, upTo kv.Seq) error {
	return s.call(ctx, func(ctx context.Context) error {
		var last kv.Seq
		err := s.settled(ctx, func(v *view, _ kv.Seq) (kv.Seq, error) {
			last = 0
			it := v.scan(s.recordKey(log, 0), append(s.recordKey(log, upTo), 0), kv.IterOptions{Reverse: true, Limit: 1})
			defer it.Close()
			if it.Next() {
				last = seqOf(it.key)
			}
			return last, it.Err()
		})
		if err != nil || last == 0 {
			return err
		}
		for more := true; more; {
			err := s.write(ctx, func(t *txn) (err error) {
				more, err = t.trim(log, last)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// trim removes the first records of a log up to a number, and reports whether there are more.
func (t *txn) trim(log kv.LogID, upTo kv.Seq) (more bool, err error) {
	s := t.store
	it := t.scan(s.recordKey(log, 0), append(s.recordKey(log, upTo), 0), kv.IterOptions{})
	defer it.Close()
	n, last := 0, kv.Seq(0)
	for it.Next() {
		if n == trimRows {
			more = true
			break
		}
		last = seqOf(it.key)
		if err := t.tx.Delete(bytes.Clone(it.key)); err != nil {
			return false, err
		}
		n++
	}
	if it.Err() != nil || n == 0 {
		return false, it.Err()
	}
	row, err := t.row(s.trimKey(log))
	if err != nil {
		return false, err
	}
	if len(row) == 8 {
		last = max(last, kv.Seq(binary.BigEndian.Uint64(row)))
	}
	return more, t.tx.Set(s.trimKey(log), binary.BigEndian.AppendUint64(nil, uint64(last)))
}

// LogTrimmed returns the number of the last record that has been removed.
func (s *Store) LogTrimmed(ctx context.Context, log kv.LogID) (seq kv.Seq, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		row, err := s.view(ctx, math.MaxUint64).row(s.trimKey(log))
		if len(row) == 8 {
			seq = kv.Seq(binary.BigEndian.Uint64(row))
		}
		return err
	})
	return seq, err
}
