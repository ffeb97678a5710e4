// Package metrics exports to Prometheus, as a Collector, what a database counts (package observe), what its engine reads from the
// store (engine.Gauges) and the state of the store itself (observe.Storage).
//
// All names and help texts are in names.go; docs/metrics.md explains them, and a test compares the two. The collector is
// stateless: a scrape reads everything anew. It reads no items, so it takes a few milliseconds whatever the size of the database.
//
// The number of series is bounded: at most observe.TablesMax tables are counted by name, and a deleted table loses its series at
// the next scrape.
package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/observe"
)

// scrapeMax limits how long a scrape may read from the store.
const scrapeMax = 10 * time.Second

// Source is a database to export.
type Source struct {
	Observe *observe.Database
	Gauges  func(context.Context) (engine.Gauges, error)
	Ready   func() error
	Panics  func() int64
	// AuditLost returns how many records of the audit log were lost; nil if there is none.
	AuditLost func() int64
	Memory    func() (used, limit int64) // of requests in flight
	Now       func() time.Time
	// Storage is nil for a store that is not on disk.
	Storage func() observe.Storage
	Logger  *slog.Logger
}

// Collector implements prometheus.Collector.
type Collector struct{ source Source }

// New returns a collector of a database.
func New(s Source) *Collector { return &Collector{s} }

// Describe implements prometheus.Collector. It includes the metrics of a store on disk for a store in memory, too.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range all {
		descs <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	s := sink{metrics}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeMax)
	defer cancel()
	gauges, err := c.source.Gauges(ctx)
	if err != nil {
		c.source.Logger.Warn("metrics: cannot read the state of the tables", "error", err)
	} else {
		c.forgetDeleted(&gauges)
		s.gauges(&gauges)
	}
	s.put(scrapeOK, truth(err == nil))
	s.put(ready, truth(c.source.Ready() == nil))
	s.put(panics, float64(c.source.Panics()))
	if c.source.AuditLost != nil {
		s.put(auditLost, float64(c.source.AuditLost()))
	}
	c.requests(s)
	if c.source.Storage != nil {
		storage := c.source.Storage()
		s.storage(&storage)
	}
}

func (c *Collector) forgetDeleted(g *engine.Gauges) {
	exists := make(map[string]bool, len(g.Tables))
	for i := range g.Tables {
		exists[g.Tables[i].Name] = true
	}
	c.source.Observe.Retain(func(name string) bool { return exists[name] })
}

// requests sends the counts of package observe.
func (c *Collector) requests(s sink) {
	o := c.source.Observe
	s.put(requestsInFlight, float64(o.Requests.Load()))
	used, limit := c.source.Memory()
	s.put(memory, float64(used))
	s.put(memoryLimit, float64(limit))
	s.put(receivedBytes, float64(o.Received.Load()))
	s.put(sentBytes, float64(o.Sent.Load()))
	s.histogram(latchWait, o.LatchWaits.Distribution())
	s.histogram(syncWait, o.SyncWaits.Distribution())
	for _, t := range o.Tables() {
		t.Operations(func(i int, op *observe.Operation) { s.operation(t.Name, o.OperationName(i), op) })
		if t.Name == observe.None || t.Name == observe.Several {
			continue // only requests are counted for these
		}
		s.table(t, c.source.Now())
	}
}

func (s sink) operation(table, name string, o *observe.Operation) {
	latency, failed := o.Latency.Distribution(), int64(0)
	for failure, n := range o.Failures() {
		failed += n
		s.put(requestErrors, float64(n), name, table, failure.Code, string(failure.Class))
	}
	s.put(requests, float64(latency.Count)+float64(failed), name, table)
	s.histogram(requestDuration, latency, name, table)
	s.put(returnedItems, float64(o.Returned.Load()), name, table)
}

func (s sink) table(t *observe.Table, now time.Time) {
	s.put(readUnits, t.Capacity.Read.Total(), t.Name, "")
	s.put(writeUnits, t.Write.Total(), t.Name, "")
	for index, c := range t.Indexes() {
		s.put(readUnits, c.Read.Total(), t.Name, index)
		s.put(writeUnits, c.Write.Total(), t.Name, index)
	}
	s.put(conditionsFailed, float64(t.ConditionsFailed.Load()), t.Name)
	s.put(conflicts, float64(t.Conflicts.Load()), t.Name)
	for index, c := range t.Throttles() {
		for reason, n := range c.Reasons() {
			s.put(throttleEvents, float64(n.Load()), t.Name, index, reason)
		}
	}
	s.put(expiredItems, float64(t.Expired.Load()), t.Name)
	s.put(returnedRecords, float64(t.Records.Load()), t.Name)
	if d := t.Delivering(); d != nil {
		s.put(delivered, float64(d.Records.Load()), t.Name)
		s.put(deliveryFailures, float64(d.Failures.Load()), t.Name)
		s.put(deliveryLag, d.Lag(now).Seconds(), t.Name)
	}
	for region, h := range t.Replications() {
		s.histogram(replicationTime, h.Distribution(), t.Name, region)
	}
	for shard, age := range t.IteratorAges(now) {
		s.put(iteratorAge, age.Seconds(), t.Name, shard)
	}
}

// gauges sends what the engine reads: for the first tables in the order of names, and for all others together.
func (s sink) gauges(g *engine.Gauges) {
	s.put(tables, float64(len(g.Tables)))
	s.put(changeLogs, float64(g.Logs.Bytes))
	s.put(changeLogsMax, float64(g.Logs.Max))
	for kind, n := range g.Jobs {
		s.put(jobs, float64(n), kind)
	}
	other := engine.TableGauges{Name: observe.Other, ReplicationLag: map[string]time.Duration{}, ReplicationPending: map[string]int64{}}
	for i := range g.Tables {
		t := &g.Tables[i]
		if i < observe.TablesMax {
			s.tableGauges(t)
			continue
		}
		other.Items.Rows += t.Items.Rows
		other.Items.Bytes += t.Items.Bytes
		other.ChangeLog += t.ChangeLog
		other.Expires = other.Expires || t.Expires
		other.Expired += t.Expired
		other.ExpiredFor = max(other.ExpiredFor, t.ExpiredFor)
		other.Backups += t.Backups
		if other.NewestBackup.IsZero() || !t.NewestBackup.IsZero() && t.NewestBackup.Before(other.NewestBackup) {
			other.NewestBackup = t.NewestBackup // of the table that lacks a backup for the longest time
		}
		for region, lag := range t.ReplicationLag {
			other.ReplicationLag[region] = max(other.ReplicationLag[region], lag)
		}
		for region, n := range t.ReplicationPending {
			other.ReplicationPending[region] += n
		}
	}
	if len(g.Tables) > observe.TablesMax {
		s.tableGauges(&other)
	}
}

func (s sink) tableGauges(t *engine.TableGauges) {
	for _, x := range append([]engine.IndexStats{t.Items}, t.Indexes...) {
		s.put(items, float64(x.Rows), t.Name, x.Name)
		s.put(itemBytes, float64(x.Bytes), t.Name, x.Name)
	}
	s.put(changeLogBytes, float64(t.ChangeLog), t.Name)
	s.put(backups, float64(t.Backups), t.Name)
	if !t.NewestBackup.IsZero() {
		s.put(newestBackup, float64(t.NewestBackup.UnixMilli())/1000, t.Name)
	}
	for region, lag := range t.ReplicationLag {
		s.put(replicationLag, lag.Seconds(), t.Name, region)
	}
	for region, n := range t.ReplicationPending {
		s.put(replicationPending, float64(n), t.Name, region)
	}
	if t.Expires {
		s.put(ttlBacklog, float64(t.Expired), t.Name)
		s.put(ttlBacklogAge, t.ExpiredFor.Seconds(), t.Name)
	}
}

func (s sink) storage(o *observe.Storage) {
	s.histogram(syncDuration, o.Sync)
	s.put(writeStalls, float64(o.Stalls))
	s.put(writeStallSeconds, o.StalledSeconds)
	s.put(writeStalled, truth(o.Stalled))
	s.put(cacheBytes, float64(o.CacheBytes))
	s.put(cacheHits, float64(o.CacheHits))
	s.put(cacheMisses, float64(o.CacheMisses))
	s.put(compactionDebt, float64(o.CompactionDebt))
	s.put(compactions, float64(o.Compactions))
	s.put(compactionsFailed, float64(o.CompactionsFailed))
	s.put(compactionsRunning, float64(o.CompactionsRunning))
	s.put(compactionSeconds, o.CompactionSeconds)
	s.put(flushes, float64(o.Flushes))
	s.put(writtenBytes, float64(o.LogBytesIn), "user")
	s.put(writtenBytes, float64(o.LogBytesOut), "log")
	s.put(writtenBytes, float64(o.TableBytesOut), "tables")
	if o.LogBytesIn > 0 {
		s.put(writeAmplification, float64(o.LogBytesOut+o.TableBytesOut)/float64(o.LogBytesIn))
	}
	s.put(l0Files, float64(o.L0Files))
	s.put(l0Sublevels, float64(o.L0Sublevels))
	s.put(memtableBytes, float64(o.MemtableBytes))
	s.put(memtables, float64(o.Memtables))
	s.put(openSnapshots, float64(o.OpenSnapshots))
	s.put(openIterators, float64(o.OpenIterators))
	for kind, bytes := range o.Disk {
		s.put(diskBytes, float64(bytes), kind)
	}
	if o.FileSystem > 0 {
		s.put(fileSystemBytes, float64(o.FileSystem))
		s.put(fileSystemFree, float64(o.FileSystemFree))
		s.put(fileSystemWritable, float64(o.FileSystemWritable))
	}
}

// sink sends metrics to a scrape.
type sink struct{ metrics chan<- prometheus.Metric }

func (s sink) put(m *metric, value float64, labels ...string) {
	s.metrics <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}

func (s sink) histogram(m *metric, d observe.Distribution, labels ...string) {
	buckets := make(map[float64]uint64, len(d.UpTo))
	for i, n := range d.UpTo {
		buckets[observe.Buckets[i].Seconds()] = n
	}
	s.metrics <- prometheus.MustNewConstHistogram(m.desc, d.Count, d.Sum.Seconds(), buckets, labels...)
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
