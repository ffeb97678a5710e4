package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

const (
	// liveChunkBytes is the amount copied between two rounds, and written to a log at once.
	liveChunkBytes = 4 << 20
	// batchKeys and batchBytes are the approximate number and size of changed keys in one update of the target.
	batchKeys  = 500
	batchBytes = 4 << 20
)

// logState is how far a log has been copied.
type logState struct{ last, trimmed kv.Seq }

// round copies the pending changes from a snapshot, and reads them back. The target then equals the snapshot, as far as it has
// been copied.
func (l *live) round(ctx context.Context, snapshot kv.Snapshot) error {
	if l.logged {
		if err := l.addBackups(ctx); err != nil {
			return err
		}
	}
	for _, span := range l.copied(l.pending.Ranges) {
		if err := l.copyRange(ctx, snapshot, span); err != nil {
			return err
		}
	}
	if err := l.copyChanged(ctx, snapshot); err != nil {
		return err
	}
	if l.logged {
		err := l.extendLogs(ctx, l.quiet, snapshot, func() error { return nil })
		if err = errors.Join(err, l.dropBackups(ctx)); err != nil {
			return err
		}
	}
	l.pending = kv.Changes{}
	return nil
}

// copied are the already copied parts of ranges, joined.
func (l *live) copied(ranges []kv.Span) (list []kv.Span) {
	slices.SortFunc(ranges, func(a, b kv.Span) int { return bytes.Compare(a.Lo, b.Lo) })
	for _, span := range ranges {
		if l.cursor != nil && bytes.Compare(span.Hi, l.cursor) > 0 {
			span.Hi = l.cursor
		}
		last := len(list) - 1
		switch {
		case bytes.Compare(span.Lo, span.Hi) >= 0:
		case last >= 0 && bytes.Compare(span.Lo, list[last].Hi) <= 0:
			if bytes.Compare(span.Hi, list[last].Hi) > 0 {
				list[last].Hi = span.Hi
			}
		default:
			list = append(list, span)
		}
	}
	return list
}

// copyRange makes a range of the target equal to the source.
func (l *live) copyRange(ctx context.Context, from kv.Snapshot, span kv.Span) error {
	if err := l.deleteRange(ctx, span.Lo, span.Hi); err != nil {
		return err
	}
	read, written := newDigest(), newDigest()
	if err := l.quiet.copyKeys(ctx, read, from, l.target, span); err != nil {
		return err
	}
	snapshot, err := l.target.Snapshot(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(l.quiet.digestKeys(ctx, written, snapshot, span), snapshot.Close())
	if err != nil {
		return err
	}
	return same(written.result(), read.result())
}

// copyChanged copies keys.
func (l *live) copyChanged(ctx context.Context, from kv.Snapshot) error {
	var batch []entry
	size := 0
	flush := func() error {
		err := l.write(ctx, batch)
		if err == nil {
			err = l.readBack(ctx, batch)
		}
		batch, size = nil, 0
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(l.pending.Keys)) {
		k := []byte(key)
		if !moves(k) || l.cursor != nil && bytes.Compare(k, l.cursor) >= 0 {
			continue
		}
		e := entry{key: k, counter: isCounter(k)}
		var err error
		if e.counter {
			e.sums, err = from.Counter(k)
		} else {
			e.value, err = from.Get(k)
		}
		if err != nil {
			return err
		}
		batch = append(batch, e)
		if size += e.size(); len(batch) >= batchKeys || size >= batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// write sets keys of the target to the source's values or sums, or deletes them. Only this move writes to the target.
func (l *live) write(ctx context.Context, batch []entry) error {
	var sums []entry // to be added
	gone := map[int]bool{}
	for i := range batch {
		e := &batch[i]
		if !e.counter {
			continue
		}
		have, err := l.target.Counter(ctx, e.key)
		if err != nil {
			return err
		}
		if gone[i] = have != nil && (e.sums == nil || len(have) > len(e.sums)); gone[i] {
			have = nil
		}
		if e.sums != nil {
			sums = append(sums, entry{key: e.key, sums: difference(e.sums, have)})
		}
	}
	return errors.Join(l.change(ctx, func(txn kv.Txn) {
		for i := range batch {
			switch e := &batch[i]; {
			case gone[i], !e.counter && e.value == nil:
				txn.Delete(e.key)
			case !e.counter:
				txn.Set(e.key, e.value)
			}
		}
	}), l.change(ctx, func(txn kv.Txn) {
		for i := range sums {
			txn.Add(sums[i].key, sums[i].sums...)
		}
	}))
}

// difference is the amount to add to each sum; no sum exceeds the wanted one.
func difference(want, have []int64) []int64 {
	deltas := slices.Clone(want)
	for i, n := range have {
		deltas[i] -= n
	}
	return deltas
}

// change changes the target.
func (l *live) change(ctx context.Context, write func(kv.Txn)) error {
	return l.target.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
		write(txn)
		return nil
	})
}

// readBack compares what has been written with what was intended.
func (l *live) readBack(ctx context.Context, batch []entry) error {
	var intent kv.Intent
	for i := range batch {
		if !batch[i].counter {
			intent.Check = append(intent.Check, batch[i].key)
		}
	}
	return l.target.Update(ctx, intent, func(txn kv.Txn) error {
		for i := range batch {
			e := &batch[i]
			var value []byte
			var sums []int64
			var err error
			if e.counter {
				sums, err = txn.Counter(e.key)
			} else {
				value, err = txn.Get(e.key)
			}
			switch {
			case err != nil:
				return err
			case (value == nil) != (e.value == nil) || !bytes.Equal(value, e.value) || (sums == nil) != (e.sums == nil) || !slices.Equal(sums, e.sums):
				return fmt.Errorf("the copy of the key %x differs from what was written", e.key)
			}
		}
		return nil
	})
}

// extendLogs copies the new records of change logs, and trims those that the source has trimmed. It calls between from time to
// time.
func (l *live) extendLogs(ctx context.Context, m *mover, from kv.Snapshot, between func() error) error {
	logs, err := l.source.Logs(ctx)
	if err != nil {
		return err
	}
	for _, log := range logs {
		for more := true; more; {
			if more, err = l.extendLog(ctx, m, from, log); err != nil {
				return fmt.Errorf("log %d: %w", log, err)
			}
			if err := between(); err != nil {
				return err
			}
		}
	}
	return nil
}

// extendLog copies some records of a log, and reports whether there may be more.
func (l *live) extendLog(ctx context.Context, m *mover, from kv.Snapshot, log kv.LogID) (more bool, err error) {
	state := l.logs[log]
	trimmed, err := l.source.LogTrimmed(ctx, log) // it may be later than the snapshot
	if err != nil {
		return false, err
	}
	after := max(state.last, trimmed)
	records, size, err := someRecords(from, log, after)
	if err != nil || len(records) == 0 && trimmed == state.trimmed {
		return false, err
	}
	err = l.target.ExtendLog(ctx, log, trimmed, func(put func(kv.Record) error) error {
		for _, r := range records {
			if err := put(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if err := l.readLogBack(ctx, log, trimmed, after, records); err != nil {
		return false, err
	}
	if state.trimmed = trimmed; len(records) > 0 {
		state.last = records[len(records)-1].Seq
	}
	l.logs[log] = state
	return len(records) > 0, m.report(ctx, Copy, size)
}

// someRecords reads some megabytes of records.
func someRecords(from kv.Snapshot, log kv.LogID, after kv.Seq) (records []kv.Record, size int, err error) {
	for size < liveChunkBytes {
		page, err := from.ReadLog(log, after, logPage)
		if err != nil || len(page) == 0 {
			return records, size, err
		}
		for _, r := range page {
			size += len(r.Data)
		}
		records, after = append(records, page...), page[len(page)-1].Seq
	}
	return records, size, nil
}

func (l *live) readLogBack(ctx context.Context, log kv.LogID, trimmed, after kv.Seq, want []kv.Record) error {
	snapshot, err := l.target.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	got, _, err := someRecords(snapshot, log, after)
	if err != nil {
		return err
	}
	now, err := l.target.LogTrimmed(ctx, log)
	if err == nil && (now != trimmed || !slices.EqualFunc(got, want, func(a, b kv.Record) bool { return a.Seq == b.Seq && bytes.Equal(a.Data, b.Data) })) {
		err = errors.New("the copy differs from what was written")
	}
	return err
}

// addBackups copies new backups.
func (l *live) addBackups(ctx context.Context) error {
	return l.eachPartOfBoth(ctx, func(region string, store, target kv.Store, have map[string]bool) error {
		list, err := backups(ctx, store)
		if err != nil {
			return err
		}
		for _, b := range list {
			if have[b.Kept()] {
				continue
			}
			if err := l.displace(ctx, target, backup.Selection(b.Table)); err != nil {
				return err
			}
			if err := l.quiet.copyBackupProved(ctx, store, region, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// displace makes room for a backup, which is written to the tables' keys, and schedules the tables to be copied again.
func (l *live) displace(ctx context.Context, target kv.Store, what kv.Selection) error {
	for _, span := range what.Spans {
		if p, is := target.(*part.Part); is {
			outer := p.Outer([][]byte{span.Lo, span.Hi})
			span = kv.Span{Lo: outer[0], Hi: outer[1]}
		}
		l.pending.Ranges = append(l.pending.Ranges, span)
		if err := l.target.DeleteRange(ctx, span.Lo, span.Hi); err != nil {
			return err
		}
	}
	return nil
}

// dropBackups removes deleted backups, once their records are gone.
func (l *live) dropBackups(ctx context.Context) error {
	return l.eachPartOfBoth(ctx, func(_ string, store, target kv.Store, have map[string]bool) error {
		list, err := backups(ctx, store)
		if err != nil {
			return err
		}
		for _, b := range list {
			delete(have, b.Kept())
		}
		for name := range have {
			err = errors.Join(err, target.DropKept(ctx, name))
		}
		return err
	})
}

// eachPartOfBoth calls see with the source and with each Region's part of it, with the corresponding part of the target, and
// with its backups.
func (l *live) eachPartOfBoth(ctx context.Context, see func(region string, store, target kv.Store, have map[string]bool) error) error {
	return eachPart(ctx, l.source, func(region string, store kv.Store) error {
		target, err := like(ctx, store, l.target)
		if err != nil {
			return err
		}
		kept, err := target.Kept(ctx)
		if err != nil {
			return err
		}
		have := map[string]bool{}
		for _, k := range kept {
			if backup.OwnsSnapshot(k.Name) {
				have[k.Name] = true
			}
		}
		return see(region, store, target, have)
	})
}

// copyBackupProved copies a backup and compares the copy with it. It skips one that has been deleted meanwhile.
func (m *mover) copyBackupProved(ctx context.Context, store kv.Store, region string, b *backup.Record) error {
	read, written := newDigest(), newDigest()
	err := m.copyBackup(ctx, read, store, region, b)
	if errors.Is(err, kv.ErrNotKept) {
		return nil
	}
	if err == nil {
		var target kv.Store
		if target, err = like(ctx, store, m.target); err == nil {
			err = m.digestBackup(ctx, written, target, region, b)
		}
	}
	if err == nil {
		err = same(written.result(), read.result())
	}
	if err != nil {
		return fmt.Errorf("the backup %s of table %s%s: %w", b.Name, b.Table.Name, region, err)
	}
	return nil
}
