package history_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/cloudwatch/history"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

const put, query = 0, 1

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// recording is a history over a store, with the counters that it records. The clock is the test's.
type recording struct {
	*testing.T
	*history.History
	store  kv.Store
	counts *observe.Database
	tables history.Tables
	clock  atomic.Int64 // nanoseconds since the epoch
}

func record(t *testing.T, store kv.Store, at time.Time) *recording {
	t.Helper()
	r := &recording{T: t, store: store, counts: observe.New("PutItem", "Query"), tables: history.Tables{}}
	r.clock.Store(at.UnixNano())
	r.create("things")
	r.History = history.Start(history.Options{
		Store: store, Observe: r.counts, Logger: slog.New(slog.DiscardHandler),
		Tables: func() history.Tables { return r.tables }, Now: r.now,
	})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *recording) now() time.Time { return time.Unix(0, r.clock.Load()) }

func (r *recording) create(name string) {
	d := &catalog.Descriptor{Name: name, Billing: catalog.Billing{OnDemand: true}, Indexes: []catalog.IndexDescriptor{{Name: "local", Local: true}, {Name: "global"}}}
	r.tables[name] = &catalog.Table{Name: name, Descriptor: d}
}

// finish counts a request.
func (r *recording) finish(table string, operation int, took time.Duration, failure observe.Failure) {
	r.counts.Finish(&observe.Request{Operation: operation, Table: r.counts.Table(table)}, took, failure)
}

func (r *recording) settle() {
	r.Helper()
	r.clock.Add(int64(time.Minute))
	if err := r.Settle(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// all returns what is kept, by minute since start and series.
func (r *recording) all() map[int]map[history.Series]history.Sample {
	r.Helper()
	found := map[int]map[history.Series]history.Sample{}
	err := r.Read(r.Context(), start.Add(-24*time.Hour), r.now().Add(time.Hour), func(minute time.Time, s history.Series, m history.Sample) {
		at := int(minute.Sub(start) / time.Minute)
		if found[at] == nil {
			found[at] = map[history.Series]history.Sample{}
		}
		sum := found[at][s]
		sum.Merge(m)
		found[at][s] = sum
	})
	if err != nil {
		r.Fatal(err)
	}
	return found
}

func (r *recording) want(minute int, s history.Series, count, sum float64) {
	r.Helper()
	if got := r.all()[minute][s]; got.Count != count || got.Sum != sum {
		r.Errorf("minute %d, %+v: count %v, sum %v, want %v and %v", minute, s, got.Count, got.Sum, count, sum)
	}
}

// TestSamplesByDimension: each counter is the metric that AWS has for it, with AWS's dimensions.
func TestSamplesByDimension(t *testing.T) {
	r := record(t, memkv.New(), start)
	things := r.counts.Table("things")
	things.Write.Add(2)
	things.Index("global").Write.Add(3)
	things.Index("local").Write.Add(4)
	things.ConditionsFailed.Add(2)
	things.Expired.Add(5)
	things.Throttle("", true, "ReadProvisionedThroughput")
	things.Throttle("", false, "WriteProvisionedThroughput", "WriteKeyRangeThroughput")
	things.Throttle("global", false, "WriteProvisionedThroughput")
	things.Throttle("global", false, "WriteProvisionedThroughput")
	things.Replication("eu-west-1").Observe(2 * time.Second)
	r.finish("things", put, 3*time.Millisecond, observe.Failure{})
	for _, f := range []observe.Failure{
		{Code: "ValidationException", Class: observe.User},
		{Code: "ConditionalCheckFailedException", Class: observe.User}, // AWS does not count it as a user error
		{Code: "(canceled)", Class: observe.User},                      // nobody got a response
		{Code: "InternalServerError", Class: observe.System},
		{Code: "ProvisionedThroughputExceededException", Class: observe.Throttled},
	} {
		r.finish("things", put, time.Millisecond, f)
	}
	r.finish("things", query, time.Millisecond, observe.Failure{Code: "ProvisionedThroughputExceededException", Class: observe.Throttled})
	r.counts.Finish(&observe.Request{Operation: put}, 0, observe.Failure{Code: "ResourceNotFoundException", Class: observe.User})
	one := history.Sample{Count: 1, Sum: 1, Low: 1, High: 1, Ranged: true}
	two := history.Sample{Count: 2, Sum: 2, Low: 1, High: 1, Ranged: true}
	want := map[history.Series]history.Sample{
		{Name: "ConsumedWriteCapacityUnits", Table: "things"}:                     {Count: 2, Sum: 6, Low: 2, High: 4, Ranged: true},
		{Name: "ConsumedWriteCapacityUnits", Table: "things", Index: "global"}:    {Count: 1, Sum: 3, Low: 3, High: 3, Ranged: true},
		{Name: "ConditionalCheckFailedRequests", Table: "things"}:                 {Count: 2, Sum: 2, Low: 1, High: 1, Ranged: true},
		{Name: "TimeToLiveDeletedItemCount", Table: "things"}:                     {Count: 5, Sum: 5, Low: 1, High: 1, Ranged: true},
		{Name: "SuccessfulRequestLatency", Table: "things", Operation: "PutItem"}: {Count: 1, Sum: 3, Low: 3, High: 3, Ranged: true},
		{Name: "ReplicationLatency", Table: "things", Receiver: "eu-west-1"}:      {Count: 1, Sum: 2000, Low: 2000, High: 2000, Ranged: true},
		{Name: "SystemErrors", Table: "things", Operation: "PutItem"}:             one,
		{Name: "ThrottledRequests", Table: "things", Operation: "PutItem"}:        one,
		{Name: "ThrottledRequests", Table: "things", Operation: "Query"}:          one,
		{Name: "WriteThrottleEvents", Table: "things"}:                            one,
		{Name: "WriteThrottleEvents", Table: "things", Index: "global"}:           two,
		{Name: "ReadThrottleEvents", Table: "things"}:                             one,

		{Name: "ReadProvisionedThroughputThrottleEvents", Table: "things"}:                   one,
		{Name: "WriteProvisionedThroughputThrottleEvents", Table: "things"}:                  one,
		{Name: "WriteProvisionedThroughputThrottleEvents", Table: "things", Index: "global"}: two,
		{Name: "WriteKeyRangeThroughputThrottleEvents", Table: "things"}:                     one,
		{Name: "UserErrors"}: {Count: 2, Sum: 2, Low: 1, High: 1, Ranged: true},
	}
	withoutBuckets := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Buckets" }, cmp.Ignore())
	for _, when := range []string{"under way", "settled"} {
		if diff := cmp.Diff(want, r.all()[0], withoutBuckets); diff != "" {
			t.Errorf("the minute is %s:\n%s", when, diff)
		}
		r.settle()
	}
}

// TestCrashKeepsSettledMinutes: what takes the place of a history that was never closed has all but the minute under way.
func TestCrashKeepsSettledMinutes(t *testing.T) {
	store := memkv.New()
	crashed := record(t, store, start)
	written := history.Series{Name: "ConsumedWriteCapacityUnits", Table: "things"}
	crashed.counts.Table("things").Write.Add(1)
	crashed.settle()
	crashed.counts.Table("things").Write.Add(2)

	r := record(t, store, crashed.now())
	r.counts.Table("things").Write.Add(5)
	r.want(0, written, 1, 1)
	r.want(1, written, 1, 5)
	r.settle()
	r.want(1, written, 1, 5)
}

// TestTableCreatedAgain: the counters of the new table begin at 0, which is no negative measurement.
func TestTableCreatedAgain(t *testing.T) {
	r := record(t, memkv.New(), start)
	written := history.Series{Name: "ConsumedWriteCapacityUnits", Table: "things"}
	r.counts.Table("things").Write.Add(9)
	r.settle()
	delete(r.tables, "things")
	r.settle()
	r.create("things")
	r.counts.Table("things").Write.Add(4)
	r.settle()
	r.want(0, written, 1, 9)
	r.want(1, written, 0, 0)
	r.want(2, written, 1, 4)
}

// TestOldMinutesAreRemoved: the store holds no more than 15 hours, and an idle database writes nothing.
func TestOldMinutesAreRemoved(t *testing.T) {
	r := record(t, memkv.New(), start)
	for range 16 * 60 {
		r.counts.Table("things").Write.Add(1)
		r.settle()
	}
	if n := r.records(); n != 15*60 {
		t.Errorf("%d minutes are kept, want 15 hours", n)
	}
	for range 16 * 60 {
		r.settle()
	}
	if n := r.records(); n != 0 {
		t.Errorf("after 16 idle hours %d minutes are kept", n)
	}
}

func (r *recording) records() (n int) {
	r.Helper()
	it, err := r.store.Iter(r.Context(), keyenc.Metrics(0), keyenc.Metrics(1<<40), kv.IterOptions{})
	if err != nil {
		r.Fatal(err)
	}
	defer it.Close()
	for it.Next() {
		n++
	}
	return n
}

// TestMinuteIsLimited: as many tables as are counted, with the longest names and all operations, stay within the bounds
// of a minute, and capacity is kept before latencies.
func TestMinuteIsLimited(t *testing.T) {
	r := record(t, memkv.New(), start)
	for i := range observe.TablesMax {
		name := fmt.Sprintf("%0255d", i)
		r.create(name)
		r.counts.Table(name).Write.Add(1)
		for x := range 20 {
			r.counts.Table(name).Index(fmt.Sprintf("%0255d", x)).Write.Add(1)
		}
		r.finish(name, put, time.Millisecond, observe.Failure{})
	}
	r.settle()
	value, err := r.store.Get(t.Context(), keyenc.Metrics(start.Unix()/60))
	if err != nil || len(value) == 0 || len(value) > 256<<10 {
		t.Errorf("a record of %d bytes, %v", len(value), err)
	}
	for s := range maps.Keys(r.all()[0]) {
		if s.Name == history.SuccessfulRequestLatency {
			t.Errorf("a latency is kept, and capacity is not")
			break
		}
	}
}

func TestPercentiles(t *testing.T) {
	r := record(t, memkv.New(), start)
	for i := range 100 {
		took := 2 * time.Millisecond // in the bucket of 1 to 2.5 ms
		if i >= 90 {
			took = 40 * time.Millisecond // in the bucket of 25 to 50 ms
		}
		r.finish("things", put, took, observe.Failure{})
	}
	sample := r.all()[0][history.Series{Name: "SuccessfulRequestLatency", Table: "things", Operation: "PutItem"}]
	for _, c := range []struct{ percent, low, high float64 }{
		{0, 1, 1}, {45, 1.75, 1.75}, {90, 2.5, 2.5}, {95, 37.5, 37.5}, {100, 50, 50},
	} {
		if got, ok := sample.Percentile(c.percent); !ok || got < c.low || got > c.high {
			t.Errorf("p%v: %v, %v, want %v to %v", c.percent, got, ok, c.low, c.high)
		}
	}
	if sample.Sum != 90*2+10*40 {
		t.Errorf("the sum is %v", sample.Sum)
	}
	unranged := history.Sample{Count: 2, Sum: 3}
	if _, ok := unranged.Percentile(50); ok {
		t.Error("a sum alone has a percentile")
	}
}

// countingStore counts the updates of a store.
type countingStore struct {
	kv.Store
	updates atomic.Int64
}

func (s *countingStore) Update(ctx context.Context, in kv.Intent, do func(kv.Txn) error) error {
	s.updates.Add(1)
	return s.Store.Update(ctx, in, do)
}

// TestClockStandsStill: while the clock stands still, just before the end of a minute, nothing is written, and nothing is lost.
func TestClockStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: memkv.New()}
		r := record(t, store, start.Add(time.Minute-time.Microsecond))
		r.finish("things", put, time.Millisecond, observe.Failure{})
		<-time.After(time.Hour)
		if n := store.updates.Load(); n != 0 {
			t.Errorf("%d writes", n)
		}
		r.clock.Add(int64(time.Minute))
		<-time.After(time.Minute)
		if n := store.updates.Load(); n != 1 || len(r.all()[0]) == 0 {
			t.Errorf("afterwards %d writes, of %v", n, r.all()[0])
		}
	})
}
