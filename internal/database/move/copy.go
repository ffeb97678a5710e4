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

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

const (
	// chunkBytes and chunkCounters are about how much is written at once.
	chunkBytes    = 64 << 20
	chunkCounters = 1000
	// logPage is how many records are read at once.
	logPage = 1000
)

// checkUnderWay refuses a database with work that needs what is outside of it, or what is kept for that work alone: the target's servers might
// not have it.
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
			return fmt.Errorf("a restore, export, import or bulk operation is under way for the tables %q%s: start a server, wait until it has ended, and stop the server", tables, region)
		}
		return nil
	})
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

// eachBackup calls see with each backup of a database whose data are kept. Kept snapshots that are not a backup's are nobody's: no server has the database
// open, and no restore and no export is under way.
func eachBackup(ctx context.Context, database kv.Store, see func(store kv.Store, region string, b *backup.Record) error) error {
	return eachPart(ctx, database, func(region string, store kv.Store) error {
		snapshot, err := store.Snapshot(ctx)
		if err != nil {
			return err
		}
		defer snapshot.Close()
		var seen error
		err = backup.Each(snapshot, nil, func(b *backup.Record) bool {
			if !b.Making {
				seen = see(store, region, b)
			}
			return seen == nil
		})
		return errors.Join(err, seen)
	})
}

// estimate counts what there is to copy, for the progress.
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

func (m *mover) report(phase Phase, bytes int) {
	m.done += int64(bytes)
	if m.Progress != nil {
		m.Progress(phase, m.done, max(m.total, m.done))
	}
}

// copyAll copies everything and returns what it has read. Backups come first: each is written where the tables will be, kept, and removed from there.
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
	if err := m.copyLogs(ctx, d, snapshot); err != nil {
		return Result{}, err
	}
	upcoming, err := upcomingSeq(ctx, m.source)
	if err != nil {
		return Result{}, err
	}
	err = m.target.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
		txn.Advance(upcoming)
		txn.LogSeq()
		return nil
	})
	return d.result(), err
}

// clear removes what an interrupted move has left in the target, but for its mark.
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
	mark := keyenc.FormatVersion()
	return errors.Join(err, m.target.DeleteRange(ctx, nil, mark), m.target.DeleteRange(ctx, append(bytes.Clone(mark), 0), nil))
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

// like is what a store is of another one: all of it, or a Region's part.
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
	for more := true; more; {
		var added []entry
		err := to.Load(ctx, func(put func(key, value []byte) error) error {
			for written := 0; written < chunkBytes && len(added) < chunkCounters; {
				if more = k.next(); !more {
					return k.err()
				}
				d.entry(&k.entry)
				written += k.size()
				m.report(Copy, k.size())
				if k.counter {
					added = append(added, entry{key: bytes.Clone(k.key), sums: k.sums})
				} else if err := put(k.key, k.value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := add(ctx, to, added); err != nil {
			return err
		}
	}
	return nil
}

// add gives counters that have none their sums.
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
			return eachRecord(from, log, func(r kv.Record) error {
				d.record(r)
				m.report(Copy, len(r.Data))
				return put(r)
			})
		})
		if err != nil {
			return fmt.Errorf("log %d: %w", log, err)
		}
	}
	return nil
}

func eachRecord(from kv.Snapshot, log kv.LogID, see func(kv.Record) error) error {
	for after := kv.Seq(0); ; {
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

// digest reads everything from the target as copyAll has read it from the source.
func (m *mover) digest(ctx context.Context) (Result, error) {
	d := newDigest()
	keys := func(from kv.Reader, span kv.Span) error {
		k := newKeys(from, span)
		defer k.it.Close()
		for k.next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.entry(&k.entry)
			m.report(Compare, k.size())
		}
		return k.err()
	}
	err := eachBackup(ctx, m.target, func(store kv.Store, region string, b *backup.Record) error {
		kept, err := store.OpenKept(ctx, b.Kept())
		if err != nil {
			return err
		}
		defer kept.Close()
		d.backup(region, b)
		for _, span := range backup.Selection(b.Table).Spans {
			err = errors.Join(err, keys(kept, span))
		}
		return err
	})
	if err != nil {
		return Result{}, err
	}
	snapshot, err := m.target.Snapshot(ctx)
	if err != nil {
		return Result{}, err
	}
	defer snapshot.Close()
	if err := keys(snapshot, kv.Span{}); err != nil {
		return Result{}, err
	}
	logs, err := m.target.Logs(ctx)
	if err != nil {
		return Result{}, err
	}
	for _, log := range logs {
		trimmed, err := m.target.LogTrimmed(ctx, log)
		if err != nil {
			return Result{}, err
		}
		d.log(log, trimmed)
		err = eachRecord(snapshot, log, func(r kv.Record) error {
			d.record(r)
			m.report(Compare, len(r.Data))
			return ctx.Err()
		})
		if err != nil {
			return Result{}, err
		}
	}
	return d.result(), nil
}

// entry is a key with its value or its counters.
type entry struct {
	key, value []byte
	counter    bool
	sums       []int64
}

func (e *entry) size() int { return len(e.key) + len(e.value) }

// keys are the keys of a range that a move takes along.
type keys struct {
	r  kv.Reader
	it kv.Iterator
	entry
	failed error
}

func newKeys(r kv.Reader, span kv.Span) *keys {
	return &keys{r: r, it: r.Iter(span.Lo, span.Hi, kv.IterOptions{})}
}

// next goes to the next key. It passes over the place of the version, and over what belongs to the servers of a store.
func (k *keys) next() bool {
	for k.failed == nil && k.it.Next() {
		inner := part.Inner(k.it.Key())
		if keyenc.IsCluster(inner) || bytes.Equal(k.it.Key(), keyenc.FormatVersion()) {
			continue
		}
		k.entry = entry{key: k.it.Key(), value: k.it.Value(), counter: keyenc.IsCounter(inner)}
		if k.counter {
			k.sums, k.failed = k.r.Counter(k.key)
		}
		return k.failed == nil
	}
	return false
}

func (k *keys) err() error { return errors.Join(k.failed, k.it.Err()) }

// digest is a checksum of what a move takes along, and counts it.
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
