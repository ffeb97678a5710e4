package engine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Stats is the contents and size of a store. Disk sizes are the store's estimates, in bytes.
type Stats struct {
	Tables []TableStats // by name
	// DeletedLogs is the size of the change logs of deleted tables.
	DeletedLogs int64
	// Room is the size of everything except kept snapshots, including the catalog and the like.
	Room int64
	// Kept are the kept snapshots, with the size that each would have on its own.
	Kept []KeptStats
}

// KeptStats is a kept snapshot.
type KeptStats struct {
	kv.KeptSnapshot
	// Table and Backup are the names of the snapshot's backup and of its table; "" if it does not belong to a backup.
	Table, Backup string
}

// TableStats is the contents and size of a table.
type TableStats struct {
	Name    string
	Status  catalog.Status
	Items   IndexStats
	Indexes []IndexStats // in the order of creation
	TTL     int64        // size of the TTL entries, which are not counted
	Log     int64        // size of the change log
}

// IndexStats is the number of a table's items or an index's entries, their size by DynamoDB's accounting, and their disk size.
type IndexStats struct {
	Name              string // "" for the items
	Rows, Bytes, Room int64
}

// Merge adds the stats of a Region's part of the store. Its keys are already included in Room, and its kept snapshots in Kept.
func (s *Stats) Merge(region string, more *Stats) {
	for i := range more.Tables {
		s.Room += more.Tables[i].Log
		more.Tables[i].Name = region + "/" + more.Tables[i].Name
	}
	s.Room += more.DeletedLogs
	s.DeletedLogs += more.DeletedLogs
	s.Tables = append(s.Tables, more.Tables...)
	for _, k := range more.Kept {
		i := slices.IndexFunc(s.Kept, func(whole KeptStats) bool { return strings.HasSuffix(whole.Name, region+"-"+k.Name) })
		if i >= 0 && k.Table != "" {
			s.Kept[i].Table, s.Kept[i].Backup = region+"/"+k.Table, k.Backup
		}
	}
}

// Stats returns the stats of the engine's store.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	return ReadStats(ctx, e.store, e.options.Now())
}

// ReadStats returns the stats of a store at a time.
func ReadStats(ctx context.Context, store kv.Store, now time.Time) (Stats, error) {
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return Stats{}, err
	}
	defer snapshot.Close()
	if err := format.Check(snapshot); err != nil {
		return Stats{}, err
	}
	tables, err := catalog.Load(snapshot)
	if err != nil {
		return Stats{}, err
	}
	r := &statsReader{ctx: ctx, store: store, snapshot: snapshot}
	s := Stats{Room: r.room(nil, nil)}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		s.Tables = append(s.Tables, r.table(tables[name], now))
		s.Room += s.Tables[len(s.Tables)-1].Log
	}
	if s.DeletedLogs, err = r.deletedLogs(); err != nil {
		return Stats{}, err
	}
	s.Room += s.DeletedLogs
	if s.Kept, err = r.kept(); err != nil {
		return Stats{}, err
	}
	return s, r.err
}

// statsReader reads sizes and counters. It keeps the first error in err; all results after it are 0.
type statsReader struct {
	ctx      context.Context //nolint:containedctx // of one call of ReadStats, which the reader does not outlive
	store    kv.Store
	snapshot kv.Snapshot
	err      error
}

func (r *statsReader) table(t *catalog.Table, now time.Time) TableStats {
	s := TableStats{Name: t.Name, Status: t.Descriptor.Status(now), Items: r.index(t.ID, 0, "")}
	for _, x := range t.Indexes {
		s.Indexes = append(s.Indexes, r.index(t.ID, x.ID, x.Name))
	}
	s.TTL = r.room(keyenc.TTLTableBounds(t.ID))
	s.Log = r.log(t.ID)
	return s
}

func (r *statsReader) index(t keyenc.TableID, x keyenc.IndexID, name string) IndexStats {
	s := IndexStats{Name: name, Room: r.room(keyenc.IndexBounds(t, x))}
	if r.err != nil {
		return s
	}
	var counters []int64
	if counters, r.err = r.snapshot.Counter(keyenc.Statistics(t, x)); len(counters) >= 2 {
		s.Rows, s.Bytes = counters[0], counters[1]
	}
	return s
}

func (r *statsReader) room(lo, hi []byte) (n int64) {
	if r.err == nil {
		n, r.err = r.store.Size(r.ctx, lo, hi)
	}
	return n
}

func (r *statsReader) log(t keyenc.TableID) (n int64) {
	if r.err == nil {
		n, r.err = r.store.LogSize(r.ctx, kv.LogID(t), 0)
	}
	return n
}

// deletedLogs returns the size of the logs waiting to be dropped.
func (r *statsReader) deletedLogs() (n int64, err error) {
	jobs, err := job.Stored(r.snapshot, func(j job.Record) bool { return j.Kind == job.DropLog })
	for i := range jobs {
		n += r.log(jobs[i].Table)
	}
	return n, err
}

// kept lists the kept snapshots by name.
func (r *statsReader) kept() ([]KeptStats, error) {
	kept, err := r.store.Kept(r.ctx)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	backups := map[string]*backup.Record{}
	err = backup.Each(r.snapshot, nil, func(b *backup.Record) bool { backups[b.Kept()] = b; return true })
	all := make([]KeptStats, len(kept))
	for i, k := range kept {
		all[i].KeptSnapshot = k
		if b := backups[k.Name]; b != nil {
			all[i].Table, all[i].Backup = b.Table.Name, b.Name
		}
	}
	return all, err
}
