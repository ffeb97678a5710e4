package observe_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/observe"
)

const get, put = 0, 1

func newDatabase() *observe.Database { return observe.New("GetItem", "PutItem") }

// TestTablesAreLimited tests that the names of tables cannot increase the number of series without limit, and that a
// deleted table makes room.
func TestTablesAreLimited(t *testing.T) {
	d := newDatabase()
	for i := range observe.TablesMax {
		if name := fmt.Sprint("t", i); d.Table(name).Name != name {
			t.Fatalf("table %d is counted as %q", i, d.Table(name).Name)
		}
	}
	if got := d.Table("beyond").Name; got != observe.Other {
		t.Errorf("a table beyond the limit is counted as %q, want %q", got, observe.Other)
	}
	d.Retain(func(name string) bool { return name != "t7" })
	if got := d.Table("beyond").Name; got != "beyond" {
		t.Errorf("after a table was deleted, another is counted as %q", got)
	}
	if n := len(d.Tables()); n != observe.TablesMax+3 {
		t.Errorf("%d tables, want %d and the three fixed ones", n, observe.TablesMax)
	}
}

func TestRequestsOfNoneAndSeveralTables(t *testing.T) {
	d := newDatabase()
	a, b := d.Table("a"), d.Table("b")
	for _, tables := range [][]*observe.Table{nil, {a}, {a, a}, {a, b}, {a, b, b, a}} {
		r := observe.Request{Operation: put}
		for _, table := range tables {
			r.On(table, table.Name)
		}
		d.Finish(&r, time.Millisecond, observe.Failure{})
	}
	got := map[string]uint64{}
	for _, table := range d.Tables() {
		table.Operations(func(_ int, o *observe.Operation) { got[table.Name] += o.Latency.Distribution().Count })
	}
	if want := map[string]uint64{observe.None: 1, "a": 2, observe.Several: 2}; !maps.Equal(got, want) {
		t.Errorf("requests by table %v, want %v", got, want)
	}
}

// TestFailuresHaveNoLatency tests that error responses, which are fast, do not make the database look fast.
func TestFailuresHaveNoLatency(t *testing.T) {
	d := newDatabase()
	conflict := observe.Failure{Code: "TransactionConflictException", Class: observe.User}
	for range 2 {
		r := observe.Request{Operation: put, Table: d.Table("a")}
		d.Finish(&r, time.Microsecond, conflict)
	}
	d.Table("a").Operations(func(i int, o *observe.Operation) {
		if i != put || o.Latency.Distribution().Count != 0 {
			t.Errorf("operation %d has %d latencies", i, o.Latency.Distribution().Count)
		}
		if diff := cmp.Diff(map[observe.Failure]int64{conflict: 2}, o.Failures()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHistogramBounds(t *testing.T) {
	var h observe.Histogram
	first, last := observe.Buckets[0], observe.Buckets[len(observe.Buckets)-1]
	for _, d := range []time.Duration{0, first, first + 1, last, last + 1} {
		h.Observe(d)
	}
	got := h.Distribution()
	if got.Count != 5 || got.Sum != 2*first+2*last+2 || got.UpTo[0] != 2 || got.UpTo[1] != 3 || got.UpTo[len(got.UpTo)-1] != 4 {
		t.Errorf("%+v", got)
	}
}

func TestIteratorAge(t *testing.T) {
	table := newDatabase().Table("a")
	start := time.UnixMilli(1_700_000_000_000)
	at := func(seconds int) int64 { return start.Add(time.Duration(seconds) * time.Second).UnixMilli() }
	age := func(seconds int) (time.Duration, bool) {
		d, ok := table.IteratorAges(time.UnixMilli(at(seconds)))["s"]
		return d, ok
	}
	expect := func(what string, seconds int, want time.Duration) {
		t.Helper()
		if got, ok := age(seconds); !ok || got != want {
			t.Errorf("%s: age %v, %v, want %v", what, got, ok, want)
		}
	}
	if _, ok := age(0); ok {
		t.Error("an unread shard has an iterator age")
	}
	table.Wrote("first", at(1))
	table.Read("first", "s", 1, at(1), false)
	expect("all was read", 100, 0)
	table.Wrote("first", at(101))
	table.Wrote("first", at(110))
	expect("the reader has stopped, and records came", 120, 119*time.Second)
	table.Read("first", "s", 1, at(101), false)
	expect("one of two records was read", 120, 19*time.Second)
	table.Read("first", "s", 1, at(121), false)
	expect("all was read again", 121, 0)
	table.Read("first", "s", 0, at(122), true)
	if _, ok := age(122); ok {
		t.Error("a closed shard that was read to its end has an iterator age")
	}
}

// TestIteratorAgeOfDisabledStream tests that records in a table's next stream do not count as unread in the previous one.
func TestIteratorAgeOfDisabledStream(t *testing.T) {
	table, start := newDatabase().Table("a"), time.UnixMilli(1_700_000_000_000)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	table.Wrote("first", at(1).UnixMilli())
	table.Read("first", "s1", 1, at(2).UnixMilli(), false)
	table.Read("second", "s2", 0, at(3).UnixMilli(), false)
	table.Wrote("second", at(4).UnixMilli())
	want := map[string]time.Duration{"s1": 0, "s2": 60 * time.Second}
	if diff := cmp.Diff(want, table.IteratorAges(at(63))); diff != "" {
		t.Error(diff)
	}
}

// TestCountingAllocatesNothing, because it is done for every request.
func TestCountingAllocatesNothing(t *testing.T) {
	d := newDatabase()
	background, carrier := t.Context(), observe.Context{}
	allocations := testing.AllocsPerRun(100, func() {
		carrier = observe.Context{Context: background}
		var ctx context.Context = &carrier
		r, table := observe.From(ctx), d.Table("a")
		r.On(table, table.Name)
		r.Return(1)
		table.Capacity.Read.Add(.5)
		table.Index("x").Write.Add(1)
		table.Wrote("first", 1)
		r.EndRead(r.BeginRead())
		d.Finish(r, time.Millisecond, observe.Failure{})
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// TestWorkOutsideRequests tests that work outside of requests is not counted, and may record anything.
func TestWorkOutsideRequests(t *testing.T) {
	r := observe.From(t.Context())
	r.On(newDatabase().Table("a"), "a")
	r.Return(1)
	r.WaitedForLatch(time.Now())
	r.WaitedForSync(time.Now())
	r.EndRead(r.BeginRead())
	if r != nil {
		t.Errorf("%+v", r)
	}
}

func TestConcurrentCounts(t *testing.T) {
	d := newDatabase()
	const workers, rounds = 8, 200
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range rounds {
				table := d.Table(fmt.Sprint("t", i%10))
				table.Write.Add(1.5)
				table.Index(fmt.Sprint("x", i%3)).Read.Add(.5)
				r := observe.Request{Operation: get, Table: table}
				d.Finish(&r, time.Millisecond, observe.Failure{})
			}
		})
	}
	wg.Wait()
	var requests uint64
	var write, read float64
	for _, table := range d.Tables() {
		table.Operations(func(_ int, o *observe.Operation) { requests += o.Latency.Distribution().Count })
		write += table.Write.Total()
		for _, x := range table.Indexes() {
			read += x.Read.Total()
		}
	}
	if requests != workers*rounds || write != workers*rounds*1.5 || read != workers*rounds*.5 {
		t.Errorf("%d requests, %v write and %v read units", requests, write, read)
	}
}

// TestSlowRequestsAreBounded tests that the latest are kept, newest first, and all are counted.
func TestSlowRequestsAreBounded(t *testing.T) {
	d := newDatabase()
	r := observe.Request{Table: d.Table("a")}
	for i := range 10 {
		r.On(d.Table(fmt.Sprint("t", i)), fmt.Sprint("t", i))
	}
	const many = 1000
	for i := range many {
		r.ID = fmt.Sprint(i)
		d.Slow.Add(&r, "PutItem", time.Unix(int64(i), 0), time.Second, observe.Failure{})
	}
	latest, total := d.Slow.Latest()
	if total != many || len(latest) >= many || latest[0].ID != "999" || latest[1].ID != "998" || len(latest[0].Tables) != 5 {
		t.Errorf("%d of %d requests are kept, the newest are %+v", len(latest), total, latest[:2])
	}
}

// TestDeliveryLag: tables that are counted together have the lag of the one that is furthest behind.
func TestDeliveryLag(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	d := observe.New("PutItem").Table("music").Delivery()
	d.Behind("one", at(1))
	d.Behind("two", at(5))
	d.CaughtUp("two")
	if lag := d.Lag(at(10)); lag != 9*time.Second {
		t.Errorf("lag %v while a table is 9 s behind", lag)
	}
	d.CaughtUp("one")
	if lag := d.Lag(at(10)); lag != 0 {
		t.Errorf("lag %v after all have caught up", lag)
	}
}
