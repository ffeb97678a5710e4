package move

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

const (
	// chunkBytes and chunkCounters are the approximate amounts written at once.
	chunkBytes    = 64 << 20
	chunkCounters = 1000
	// logPage is the number of records read at once.
	logPage = 1000
)

// checkUnderWay rejects a database with running work that depends on external data, or on data kept only for that work,
// because the target's servers might not have it.
func (m *mover) checkUnderWay(ctx context.Context) error {
	return eachPart(ctx, m.source, func(region string, store kv.Store) error {
		snapshot, err := store.Snapshot(ctx)
		if err != nil {
			return err
		}
		defer snapshot.Close()
		restores, err := job.Stored(snapshot, func(j job.Record) bool { return j.Kind == job.Restore })
		if err != nil {
			return err
		}
		var tables []string
		for i := range restores {
			tables = append(tables, restores[i].Name)
		}
		for _, kind := range []transfer.Kind{transfer.Export, transfer.Import, transfer.Bulk} {
			transfers, err := transfer.All(snapshot, kind, (*transfer.Record).UnderWay)
			if err != nil {
				return err
			}
			for _, x := range transfers {
				tables = append(tables, x.Table)
			}
		}
		if len(tables) > 0 {
			return &underWayError{tables, region}
		}
		return nil
	})
}

// underWayError is the error for work that cannot be moved.
type underWayError struct {
	tables []string
	region string
}

func (e *underWayError) Error() string {
	return fmt.Sprintf("a restore, export, import or bulk operation is in progress for the tables %q%s: let a server complete it first", e.tables, e.region)
}

// eachPart calls see with the store and with each Region's part of it. region is for messages.
func eachPart(ctx context.Context, store kv.Store, see func(region string, store kv.Store) error) error {
	if err := see("", store); err != nil {
		return err
	}
	names, err := part.Names(ctx, store)
	for _, name := range names {
		p, opened := part.Open(ctx, store, name)
		if opened != nil {
			return opened
		}
		if err := see(" of the Region "+name, p); err != nil {
			return err
		}
	}
	return err
}

// eachBackup calls see with each backup of a database whose data is kept. Other kept snapshots are leftovers, or belong to a
// running restore or export.
func eachBackup(ctx context.Context, database kv.Store, see func(store kv.Store, region string, b *backup.Record) error) error {
	return eachPart(ctx, database, func(region string, store kv.Store) error {
		list, err := backups(ctx, store)
		for _, b := range list {
			if err == nil {
				err = see(store, region, b)
			}
		}
		return err
	})
}

// backups are the backups of a store or a part whose data is kept.
func backups(ctx context.Context, store kv.Store) (list []*backup.Record, err error) {
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	err = backup.Each(snapshot, nil, func(b *backup.Record) bool {
		if !b.Making {
			list = append(list, b)
		}
		return true
	})
	return list, errors.Join(err, snapshot.Close())
}

// estimate counts what has to be copied, for the progress.
func (m *mover) estimate(ctx context.Context) (err error) {
	if m.total, err = m.source.Size(ctx, nil, nil); err != nil {
		return err
	}
	logs, err := m.source.Logs(ctx)
	for _, log := range logs {
		if err != nil {
			return err
		}
		var n int64
		n, err = m.source.LogSize(ctx, log, 0)
		m.total += n
	}
	if err != nil {
		return err
	}
	kept, err := m.source.Kept(ctx)
	for _, k := range kept {
		m.total += k.Bytes
	}
	return err
}

// report reports the progress of a phase, and waits if the rate is limited.
func (m *mover) report(ctx context.Context, phase Phase, bytes int) error {
	m.done += int64(bytes)
	if m.Progress != nil {
		m.Progress(phase, m.done, max(m.total, m.done))
	}
	for m.pace != nil && bytes > 0 {
		n := min(bytes, m.pace.Burst())
		if err := m.pace.WaitN(ctx, n); err != nil {
			return err
		}
		bytes -= n
	}
	return ctx.Err()
}

// copyAll copies everything and returns what it has read. Backups come first: each is written to the tables' keys, kept, and
// removed from there.
func (m *mover) copyAll(ctx context.Context) (Result, error) {
	d := newDigest()
	if m.again {
		if err := m.clear(ctx); err != nil {
			return Result{}, err
		}
	}
	if err := part.CopyNames(ctx, m.source, m.target); err != nil {
		return Result{}, err
	}
	err := eachBackup(ctx, m.source, func(store kv.Store, region string, b *backup.Record) error {
		if err := m.copyBackup(ctx, d, store, region, b); err != nil {
			return fmt.Errorf("the backup %s of table %s%s: %w", b.Name, b.Table.Name, region, err)
		}
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	snapshot, err := m.source.Snapshot(ctx)
	if err != nil {
		return Result{}, err
	}
	defer snapshot.Close()
	if err := m.copyKeys(ctx, d, snapshot, m.target, kv.Span{}); err != nil {
		return Result{}, err
	}
	err = m.copyLogs(ctx, d, snapshot)
	return d.result(), err
}

// clear removes the leftovers of an interrupted move from the target, except its mark.
func (m *mover) clear(ctx context.Context) error {
	kept, err := m.target.Kept(ctx)
	for _, k := range kept {
		err = errors.Join(err, m.target.DropKept(ctx, k.Name))
	}
	if err != nil {
		return err
	}
	logs, err := m.target.Logs(ctx)
	for _, log := range logs {
		err = errors.Join(err, m.target.LoadLog(ctx, log, 0, func(func(kv.Record) error) error { return nil }))
	}
	if err != nil {
		return err
	}
	return m.deleteRange(ctx, nil, nil)
}

// deleteRange removes a range of the target, except its mark.
func (m *mover) deleteRange(ctx context.Context, lo, hi []byte) error {
	mark := keyenc.FormatVersion()
	if bytes.Compare(lo, mark) <= 0 && (hi == nil || bytes.Compare(mark, hi) < 0) {
		return errors.Join(m.target.DeleteRange(ctx, lo, mark), m.target.DeleteRange(ctx, append(mark, 0), hi))
	}
	return m.target.DeleteRange(ctx, lo, hi)
}

func (m *mover) copyBackup(ctx context.Context, d *digest, store kv.Store, region string, b *backup.Record) error {
	kept, err := store.OpenKept(ctx, b.Kept())
	if err != nil {
		return err
	}
	defer kept.Close()
	d.backup(region, b)
	target, err := like(ctx, store, m.target)
	if err != nil {
		return err
	}
	what := backup.Selection(b.Table)
	for _, span := range what.Spans {
		if err := m.copyKeys(ctx, d, kept, target, span); err != nil {
			return err
		}
	}
	if err := target.Keep(ctx, b.Kept(), what); err != nil {
		return err
	}
	for _, span := range what.Spans {
		if err := target.DeleteRange(ctx, span.Lo, span.Hi); err != nil {
			return err
		}
	}
	return nil
}

// like returns the part of a store that corresponds to another: the whole, or a Region's part.
func like(ctx context.Context, store kv.Store, of kv.Store) (kv.Store, error) {
	if p, is := store.(*part.Part); is {
		return part.Open(ctx, of, p.Name())
	}
	return of, nil
}

// copyKeys copies a range of keys in chunks, and adds it to the digest.
func (m *mover) copyKeys(ctx context.Context, d *digest, from kv.Reader, to kv.Store, span kv.Span) error {
	k := newKeys(from, span)
	defer k.it.Close()
	for {
		if more, err := m.copyChunk(ctx, d, k, to, chunkBytes); err != nil || !more {
			return err
		}
	}
}

// copyChunk copies some of the keys, and reports whether there may be more. k is then positioned on the last one.
func (m *mover) copyChunk(ctx context.Context, d *digest, k *keys, to kv.Store, bytesMax int) (more bool, err error) {
	var added []entry
	err = to.Load(ctx, func(put func(key, value []byte) error) error {
		for written := 0; written < bytesMax && len(added) < chunkCounters; {
			if more = k.next(); !more {
				return k.err()
			}
			d.entry(&k.entry)
			written += k.size()
			if err := m.report(ctx, Copy, k.size()); err != nil {
				return err
			}
			if k.counter {
				added = append(added, entry{key: bytes.Clone(k.key), sums: k.sums})
			} else if err := put(k.key, k.value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return more, add(ctx, to, added)
}

// add adds sums to new counters.
func add(ctx context.Context, to kv.Store, list []entry) error {
	if len(list) == 0 {
		return nil
	}
	return to.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
		for i := range list {
			txn.Add(list[i].key, list[i].sums...)
		}
		return nil
	})
}

// copyLogs copies the change logs, record by record with their numbers.
func (m *mover) copyLogs(ctx context.Context, d *digest, from kv.Snapshot) error {
	logs, err := m.source.Logs(ctx)
	if err != nil {
		return err
	}
	for _, log := range logs {
		trimmed, err := m.source.LogTrimmed(ctx, log)
		if err != nil {
			return err
		}
		d.log(log, trimmed)
		err = m.target.LoadLog(ctx, log, trimmed, func(put func(kv.Record) error) error {
			return eachRecord(from, log, 0, func(r kv.Record) error {
				d.record(r)
				return errors.Join(m.report(ctx, Copy, len(r.Data)), put(r))
			})
		})
		if err != nil {
			return fmt.Errorf("log %d: %w", log, err)
		}
	}
	return nil
}

// eachRecord calls see with the records of a log after a number.
func eachRecord(from kv.Snapshot, log kv.LogID, after kv.Seq, see func(kv.Record) error) error {
	for {
		records, err := from.ReadLog(log, after, logPage)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, r := range records {
			if err := see(r); err != nil {
				return err
			}
		}
		after = records[len(records)-1].Seq
	}
}

// digest reads everything from the target in the order in which copyAll has read it from the source.
func (m *mover) digest(ctx context.Context) (Result, error) {
	d := newDigest()
	err := eachBackup(ctx, m.target, func(store kv.Store, region string, b *backup.Record) error {
		return m.digestBackup(ctx, d, store, region, b)
	})
	if err != nil {
		return Result{}, err
	}
	snapshot, err := m.target.Snapshot(ctx)
	if err != nil {
		return Result{}, err
	}
	defer snapshot.Close()
	logs, err := m.target.Logs(ctx)
	if err != nil {
		return Result{}, err
	}
	trimmed := map[kv.LogID]kv.Seq{}
	for _, log := range logs {
		if trimmed[log], err = m.target.LogTrimmed(ctx, log); err != nil {
			return Result{}, err
		}
	}
	err = errors.Join(m.digestKeys(ctx, d, snapshot, kv.Span{}), m.digestLogs(ctx, d, snapshot, trimmed))
	return d.result(), err
}

func (m *mover) digestBackup(ctx context.Context, d *digest, store kv.Store, region string, b *backup.Record) error {
	kept, err := store.OpenKept(ctx, b.Kept())
	if err != nil {
		return err
	}
	defer kept.Close()
	d.backup(region, b)
	for _, span := range backup.Selection(b.Table).Spans {
		err = errors.Join(err, m.digestKeys(ctx, d, kept, span))
	}
	return err
}

func (m *mover) digestKeys(ctx context.Context, d *digest, from kv.Reader, span kv.Span) error {
	k := newKeys(from, span)
	defer k.it.Close()
	for k.next() {
		d.entry(&k.entry)
		if err := m.report(ctx, Compare, k.size()); err != nil {
			return err
		}
	}
	return k.err()
}

// digestLogs reads change logs, and how far they have been trimmed.
func (m *mover) digestLogs(ctx context.Context, d *digest, from kv.Snapshot, trimmed map[kv.LogID]kv.Seq) error {
	for _, log := range slices.Sorted(maps.Keys(trimmed)) {
		d.log(log, trimmed[log])
		err := eachRecord(from, log, trimmed[log], func(r kv.Record) error {
			d.record(r)
			return m.report(ctx, Compare, len(r.Data))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// entry is a key with its value or its counters.
type entry struct {
	key, value []byte
	counter    bool
	sums       []int64
}

func (e *entry) size() int { return len(e.key) + len(e.value) }

// keys iterates over the keys of a range that a move copies.
type keys struct {
	r  kv.Reader
	it kv.Iterator
	entry
	failed error
}

func newKeys(r kv.Reader, span kv.Span) *keys {
	return &keys{r: r, it: r.Iter(span.Lo, span.Hi, kv.IterOptions{})}
}

// moves reports whether a key belongs to the database, unlike the version's key and the keys of a store's servers.
func moves(key []byte) bool {
	return !keyenc.IsCluster(part.Inner(key)) && !bytes.Equal(key, keyenc.FormatVersion())
}

func isCounter(key []byte) bool { return keyenc.IsCounter(part.Inner(key)) }

// next advances to the next key that moves.
func (k *keys) next() bool {
	for k.failed == nil && k.it.Next() {
		if !moves(k.it.Key()) {
			continue
		}
		k.entry = entry{key: k.it.Key(), value: k.it.Value(), counter: isCounter(k.it.Key())}
		if k.counter {
			k.sums, k.failed = k.r.Counter(k.key)
		}
		return k.failed == nil
	}
	return false
}

func (k *keys) err() error { return errors.Join(k.failed, k.it.Err()) }

// digest is a checksum of what a move copies, with counts.
type digest struct {
	hash hash.Hash
	seen Result
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

// write adds a part: its kind, its length and its bytes.
func (d *digest) write(kind byte, data []byte) {
	d.hash.Write(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(data))))
	d.hash.Write(data)
}

func (d *digest) entry(e *entry) {
	d.seen.Keys++
	d.seen.Bytes += int64(len(e.key))
	d.write('k', e.key)
	if e.counter {
		d.write('c', counters.Append(nil, e.sums))
		return
	}
	d.seen.Bytes += int64(len(e.value))
	d.write('v', e.value)
}

func (d *digest) backup(region string, b *backup.Record) {
	d.seen.Backups++
	d.write('b', []byte(b.Kept()+region))
}

func (d *digest) log(log kv.LogID, trimmed kv.Seq) {
	d.seen.Logs++
	d.write('l', binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, uint32(log)), uint64(trimmed)))
}

func (d *digest) record(r kv.Record) {
	d.seen.LogRecords++
	d.seen.Bytes += int64(len(r.Data))
	d.write('r', binary.BigEndian.AppendUint64(nil, uint64(r.Seq)))
	d.write('d', r.Data)
}

func (d *digest) result() Result {
	result := d.seen
	result.Checksum = hex.EncodeToString(d.hash.Sum(nil))
	return result
}
