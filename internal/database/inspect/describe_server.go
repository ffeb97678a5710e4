package inspect

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/observe"
)

// serverOutput is the server's state. Times are seconds since the epoch, durations milliseconds, sizes bytes.
type serverOutput struct {
	Now, Started float64
	// SlowFrom is the threshold for slow requests. SlowTotal counts them since the start; SlowRequests are the latest, newest
	// first.
	SlowFrom     float64
	SlowTotal    int
	SlowRequests []slowRequest
	// Storage is absent if the store has no such data: in memory, and on another server.
	Storage *storage `json:",omitempty"`
	// Servers are those that share the store; none if it belongs to one process.
	Servers []sharer
}

type slowRequest struct {
	ID, Operation string
	Tables        []string
	Time, Took    float64
	// LatchWait is the time spent waiting for concurrent writes of the same items, SyncWait for the log to reach the disk.
	// ReadTime is measured only if the server times reads (Options.SlowRequest, --slow).
	LatchWait, SyncWait, ReadTime float64
	Error                         string `json:",omitempty"`
}

type storage struct {
	Levels                                              []level
	TablesBytes, LogBytes, ObsoleteBytes                uint64
	LogFiles                                            int64
	MemtableBytes                                       uint64
	Memtables, CacheBytes, CacheHits, CacheMisses       int64
	ReadAmplification                                   int
	WriteAmplification                                  float64
	WrittenByDatabase, WrittenToLog, WrittenToTables    uint64
	Flushes, Compactions, CompactionsRunning            int64
	CompactionsFailed                                   int64
	CompactionTime                                      float64
	CompactionDebt                                      uint64
	Stalls                                              int64
	StallTime                                           float64
	Stalled                                             bool
	Syncs                                               uint64
	SyncMean                                            float64
	FileSystemBytes, FileSystemFree, FileSystemWritable int64
	OpenSnapshots                                       int
	OpenIterators                                       int64
}

type level struct {
	Files, Bytes int64
	In, Out      uint64
	Score        float64
}

type sharer struct {
	ID                    string
	Self, Serves, Current bool
	Until                 float64
	Leads                 bool
	Term                  int64   `json:",omitempty"`
	LeadsUntil            float64 `json:",omitempty"`
	// Left is the rest of the lease in milliseconds, by the store's time; negative if it has expired.
	Left float64
}

func (h *Handler) describeServer(ctx context.Context, by caller, body []byte) (any, error) {
	if err := h.authorizeServer(by, "DescribeServer"); err != nil {
		return nil, err
	}
	if err := decode(body, new(struct{})); err != nil {
		return nil, err
	}
	out := serverOutput{
		Now: seconds(h.options.Now()), Started: seconds(h.begun), SlowFrom: milliseconds(h.options.SlowFrom),
		SlowRequests: []slowRequest{}, Servers: []sharer{},
	}
	slow, total := h.options.Observe.Slow.Latest()
	out.SlowTotal = total
	for i := range slow {
		out.SlowRequests = append(out.SlowRequests, newSlowRequest(&slow[i]))
	}
	if h.options.Storage != nil {
		o := h.options.Storage()
		out.Storage = newStorage(&o)
	}
	servers, self, now, err := h.options.Engine.Servers(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		x := sharer{
			ID: s.ID, Self: s.ID == self, Serves: s.Serves, Current: s.Current, Until: seconds(s.Until), Leads: s.Leads, Term: s.Term,
			Left: milliseconds(s.Until.Sub(now)),
		}
		if s.Leads {
			x.LeadsUntil = seconds(s.LeadsUntil)
		}
		out.Servers = append(out.Servers, x)
	}
	return out, nil
}

func newSlowRequest(r *observe.SlowRequest) slowRequest {
	return slowRequest{
		ID: r.ID, Operation: r.Operation, Tables: append([]string{}, r.Tables...), Time: seconds(r.At), Took: milliseconds(r.Took),
		LatchWait: milliseconds(r.Latch), SyncWait: milliseconds(r.Sync), ReadTime: milliseconds(r.Read), Error: r.Failure.Code,
	}
}

func newStorage(o *observe.Storage) *storage {
	s := &storage{
		TablesBytes: o.Disk[observe.DiskTables], LogBytes: o.Disk[observe.DiskLog], ObsoleteBytes: o.Disk[observe.DiskObsolete], LogFiles: o.LogFiles,
		MemtableBytes: o.MemtableBytes, Memtables: o.Memtables, CacheBytes: o.CacheBytes, CacheHits: o.CacheHits, CacheMisses: o.CacheMisses,
		ReadAmplification: o.ReadAmplification, WrittenByDatabase: o.LogBytesIn, WrittenToLog: o.LogBytesOut, WrittenToTables: o.TableBytesOut,
		Flushes: o.Flushes, Compactions: o.Compactions, CompactionsRunning: o.CompactionsRunning, CompactionsFailed: o.CompactionsFailed,
		CompactionTime: o.CompactionSeconds * float64(time.Second/time.Millisecond), CompactionDebt: o.CompactionDebt,
		Stalls: o.Stalls, StallTime: o.StalledSeconds * float64(time.Second/time.Millisecond), Stalled: o.Stalled, Syncs: o.Sync.Count,
		FileSystemBytes: o.FileSystem, FileSystemFree: o.FileSystemFree, FileSystemWritable: o.FileSystemWritable,
		OpenSnapshots: o.OpenSnapshots, OpenIterators: o.OpenIterators, Levels: []level{},
	}
	if o.LogBytesIn > 0 {
		s.WriteAmplification = float64(o.LogBytesOut+o.TableBytesOut) / float64(o.LogBytesIn)
	}
	if o.Sync.Count > 0 {
		s.SyncMean = milliseconds(o.Sync.Sum) / float64(o.Sync.Count)
	}
	for _, l := range o.Levels {
		s.Levels = append(s.Levels, level(l))
	}
	return s
}

func seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
