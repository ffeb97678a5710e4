package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// backlogMax limits how many expired items of a table Gauges counts.
const backlogMax = 10_000

// Gauges is the state a monitoring system asks for every few seconds: counters and records, without reading items. Unlike Stats
// it does not estimate disk space, except that of change logs.
type Gauges struct {
	Tables []TableGauges  // by name
	Jobs   map[string]int // stored jobs that are due, by kind
	Logs   LogUse         // of all change logs, including those of deleted tables
}

// Merge adds the gauges of another engine.
func (g *Gauges) Merge(more *Gauges) {
	g.Tables = append(g.Tables, more.Tables...)
	for kind, n := range more.Jobs {
		g.Jobs[kind] += n
	}
	g.Logs.Bytes += more.Logs.Bytes
	g.Logs.Max += more.Logs.Max
}

// TableGauges is the state of one table.
type TableGauges struct {
	Name    string
	Items   IndexStats // without disk space
	Indexes []IndexStats
	// ChangeLog is the size of the table's change log, an estimate like LogUse.
	ChangeLog int64
	// Expires means that the table has a time to live. Expired is then the number of items that have expired but are not yet
	// deleted, at most backlogMax, and ExpiredFor is how long ago the first of them expired.
	Expires    bool
	Expired    int
	ExpiredFor time.Duration
	// Backups is the number of the table's user backups. NewestBackup is the time of the latest one, or zero.
	Backups      int
	NewestBackup time.Time
	// ReplicationLag is the age of the oldest change that has not yet arrived from each other Region; 0 if all have.
	ReplicationLag map[string]time.Duration
	// ReplicationPending is the number of changes that have not yet arrived in each other Region; a lower bound if it is large.
	ReplicationPending map[string]int64
}

// jobNames are the names of job kinds in metrics.
var jobNames = map[job.Kind]string{
	job.Backfill: "backfill_index", job.DropIndex: "drop_index", job.BuildTTL: "enable_ttl", job.DropTTL: "disable_ttl",
	job.DropTable: "drop_table", job.DropLog: "drop_change_log", job.Restore: "restore_table",
	job.Replica: "fill_replica", job.Leave: "leave_global_table",
}

// Gauges reads the state of all tables at one moment.
func (e *Engine) Gauges(ctx context.Context) (Gauges, error) {
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return Gauges{}, err
	}
	defer snapshot.Close()
	g := Gauges{Jobs: map[string]int{}}
	for _, name := range jobNames {
		g.Jobs[name] = 0
	}
	now := e.options.Now()
	jobs, err := job.Stored(snapshot, func(j job.Record) bool { return j.NotBefore <= now.UnixMilli() })
	if err != nil {
		return Gauges{}, err
	}
	for i := range jobs {
		g.Jobs[jobNames[jobs[i].Kind]]++
	}
	backups := map[string]*TableGauges{}
	err = backup.Each(snapshot, nil, func(b *backup.Record) bool {
		if b.Expired(now) || b.Making {
			return true
		}
		t := backups[b.Table.Name]
		if t == nil {
			t = new(TableGauges)
			backups[b.Table.Name] = t
		}
		t.Backups, t.NewestBackup = t.Backups+1, time.UnixMilli(b.Created) // backups are read in order of time
		return true
	})
	tables := e.catalog.Tables()
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		t, tableErr := e.tableGauges(ctx, snapshot, tables[name], now)
		if b := backups[name]; b != nil {
			t.Backups, t.NewestBackup = b.Backups, b.NewestBackup
		}
		g.Tables, err = append(g.Tables, t), errors.Join(err, tableErr)
	}
	logs, logErr := e.LogUse(ctx)
	g.Logs = logs
	return g, errors.Join(err, logErr)
}

func (e *Engine) tableGauges(ctx context.Context, snapshot kv.Snapshot, t *catalog.Table, now time.Time) (TableGauges, error) {
	g := TableGauges{Name: e.options.MetricsPrefix + t.Name, Expires: t.TTLAttribute != "", ReplicationLag: e.flows.lag(t.ID, now)}
	var err error
	g.ReplicationPending, err = e.pending(ctx, t)
	counted := func(x keyenc.IndexID, name string) IndexStats {
		counters, failed := snapshot.Counter(keyenc.Statistics(t.ID, x))
		if err = errors.Join(err, failed); len(counters) < 2 {
			return IndexStats{Name: name}
		}
		return IndexStats{Name: name, Rows: counters[0], Bytes: counters[1]}
	}
	g.Items = counted(0, "")
	for _, x := range t.Indexes {
		g.Indexes = append(g.Indexes, counted(x.ID, x.Name))
	}
	log, failed := e.logBytes(ctx, []kv.LogID{kv.LogID(t.ID)}, 0)
	g.ChangeLog, err = log, errors.Join(err, failed)
	if !g.Expires {
		return g, err
	}
	from := max(now.AddDate(-ttlYearsMax, 0, 0).Unix(), e.sweeps.doneUntil(t.ID)) // skip the tombstones of previous sweeps
	lo, hi := keyenc.TTLBounds(t.ID, from, now.Unix()+1)
	it := snapshot.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for g.Expired < backlogMax && it.Next() {
		if g.Expired++; g.Expired == 1 {
			_, seconds, _, _, failed := keyenc.ParseTTL(it.Key())
			g.ExpiredFor, err = now.Sub(time.Unix(seconds, 0)), errors.Join(err, failed)
		}
	}
	return g, errors.Join(err, it.Err())
}
