package pebblekv

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	dto "github.com/prometheus/client_model/go"

	"github.com/monotable/monotable/internal/database/observe"
)

// stalls counts the periods in which Pebble makes all writes wait.
type stalls struct {
	mu    sync.Mutex
	count int64
	total time.Duration
	since time.Time // start of the current one; zero if there is none
}

func (s *stalls) begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.since = now
}

func (s *stalls) end(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += now.Sub(s.since)
	s.since = time.Time{}
}

func (s *stalls) read(now time.Time) (count int64, total time.Duration, stalled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count, total = s.count, s.total
	if stalled = !s.since.IsZero(); stalled {
		total += now.Sub(s.since)
	}
	return count, total, stalled
}

// Metrics returns the store's metrics, or the zero Storage if it is closed or frozen.
func (s *Store) Metrics() observe.Storage {
	if err := s.begin(); err != nil {
		return observe.Storage{}
	}
	defer s.end()
	m := s.db.Metrics()
	o := observe.Storage{
		Sync:       syncs(m.LogWriter.FsyncLatency),
		CacheBytes: m.BlockCache.Size, CacheHits: m.BlockCache.Hits, CacheMisses: m.BlockCache.Misses,
		CompactionDebt: m.Compact.EstimatedDebt, Compactions: m.Compact.Count, CompactionsFailed: m.Compact.FailedCount,
		CompactionsRunning: m.Compact.NumInProgress, CompactionSeconds: m.Compact.Duration.Seconds(), Flushes: m.Flush.Count,
		LogBytesIn: m.WAL.BytesIn, LogBytesOut: m.WAL.BytesWritten,
		Levels: levels(m.Levels[:]), ReadAmplification: m.ReadAmp(), LogFiles: m.WAL.Files,
		L0Files: m.Levels[0].TablesCount, L0Sublevels: int64(m.Levels[0].Sublevels),
		MemtableBytes: m.MemTable.Size, Memtables: m.MemTable.Count,
		OpenSnapshots: m.Snapshots.Count, OpenIterators: m.TableIters,
		Disk: map[string]uint64{
			observe.DiskTables:   m.Table.Local.LiveSize + m.BlobFiles.Local.LiveSize,
			observe.DiskLog:      max(m.WAL.PhysicalSize, m.WAL.Size) + m.WAL.ObsoletePhysicalSize, // the size of the file that is written lags behind
			observe.DiskObsolete: m.Table.ObsoleteSize + m.Table.ZombieSize + m.BlobFiles.ObsoleteSize + m.BlobFiles.ZombieSize,
		},
	}
	for i := range o.Levels { // Pebble's own total counts the log as flushed, too
		o.TableBytesOut += o.Levels[i].Out + m.Levels[i].TableBytesIngested
	}
	var stalled time.Duration
	o.Stalls, stalled, o.Stalled = s.stalls.read(time.Now())
	o.StalledSeconds = stalled.Seconds()
	if usage, err := s.DiskUsage(); err == nil {
		o.FileSystem, o.FileSystemFree, o.FileSystemWritable = usage.Total, usage.Available, usage.Writable()
	}
	return o
}

// levels are all levels of the tables on disk, the empty ones too: their numbers are their places.
func levels(all []pebble.LevelMetrics) []observe.Level {
	found := make([]observe.Level, 0, len(all))
	for i := range all {
		l := &all[i]
		found = append(found, observe.Level{
			Files: l.TablesCount, Bytes: l.AggregateSize(), In: l.TableBytesIn + l.TableBytesIngested + l.TableBytesMoved,
			Out: l.TableBytesFlushed + l.TableBytesCompacted + l.BlobBytesFlushed + l.BlobBytesCompacted, Score: l.Score,
		})
	}
	return found
}

// syncs converts Pebble's histogram, which is in nanoseconds and has a hundred buckets, to observe.Buckets. A bucket gets those
// of Pebble's buckets that lie completely within it.
func syncs(latency interface{ Write(*dto.Metric) error }) (d observe.Distribution) {
	var written dto.Metric
	if latency.Write(&written) != nil {
		return d
	}
	h := written.GetHistogram()
	d.Count, d.Sum = h.GetSampleCount(), time.Duration(h.GetSampleSum())
	for i, bound := range observe.Buckets {
		for _, b := range h.GetBucket() {
			if b.GetUpperBound() <= float64(bound) {
				d.UpTo[i] = b.GetCumulativeCount()
			}
		}
	}
	return d
}
