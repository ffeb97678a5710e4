package observe

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// shardsMax is the maximum number of shards of a table's streams whose readers are tracked.
	shardsMax = 1000
	// readerKept is how long a reader that has stopped is remembered: as long as a stream retains records.
	readerKept = 24 * time.Hour
)

// reader is the progress of GetRecords in a shard.
type reader struct {
	mu     sync.Mutex
	stream string
	// upTo is a time, in milliseconds since the epoch, up to which all records of the shard have been returned.
	upTo int64
	done bool // the shard is closed and was read to its end
}

// Wrote records the time of the latest write to a stream of the table, in milliseconds since the epoch. A table can have had
// several streams, with different labels.
func (t *Table) Wrote(stream string, ms int64) {
	if newest := t.newest.get(stream, shardsMax, func(string) *atomic.Int64 { return new(atomic.Int64) }); newest != nil {
		newest.Store(ms)
	}
}

// Read records a call of GetRecords for a shard of a stream: it returned n records, and all records of the shard up to upTo have
// been returned to the caller. done means that the shard is closed and has no more. Callers are not distinguished, so two readers
// of the same shard overwrite each other.
func (t *Table) Read(stream, shard string, n int, upTo int64, done bool) {
	t.Records.Add(int64(n))
	r := t.readers.get(shard, shardsMax, func(string) *reader { return new(reader) })
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stream, r.upTo, r.done = stream, upTo, done
}

// IteratorAges returns, for each shard being read, an upper bound on the age of the oldest record that GetRecords has not
// returned; 0 if it has returned all.
func (t *Table) IteratorAges(now time.Time) map[string]time.Duration {
	ages := map[string]time.Duration{}
	newest := t.newest.all()
	t.readers.retain(func(shard string, r *reader) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		age := now.Sub(time.UnixMilli(r.upTo))
		if r.done || age > readerKept {
			return false
		}
		if written := newest[r.stream]; written == nil || written.Load() <= r.upTo {
			age = 0
		}
		ages[shard] = max(age, 0)
		return true
	})
	t.newest.retain(func(_ string, ms *atomic.Int64) bool { return now.Sub(time.UnixMilli(ms.Load())) <= readerKept })
	return ages
}
