//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

func readLog(t *testing.T, s kv.Store, log kv.LogID, after kv.Seq, limit int) []kv.Record {
	t.Helper()
	records, _, err := s.ReadLog(t.Context(), log, after, limit)
	if err != nil {
		t.Fatalf("ReadLog: %v", err)
	}
	return records
}

func add(t *testing.T, s kv.Store, k string, deltas ...int64) {
	t.Helper()
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		txn.Add([]byte(k), deltas...)
		return nil
	})
}

func expectCounters(t *testing.T, s kv.Store, k string, want ...int64) {
	t.Helper()
	got, err := s.Counter(t.Context(), []byte(k))
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("Counter(%q) = %v, %v; want %v", k, got, err, want)
	}
}

func testCounters(t *testing.T, s kv.Store) {
	expectCounters(t, s, "n")
	add(t, s, "n", 1)
	expectCounters(t, s, "n", 1)
	add(t, s, "n", 2, -5)
	expectCounters(t, s, "n", 3, -5)
	add(t, s, "n", math.MaxInt64-3, math.MinInt64+5, 7)
	expectCounters(t, s, "n", math.MaxInt64, math.MinInt64, 7)
	add(t, s, "z", 0, 0)
	expectCounters(t, s, "z", 0, 0)
	add(t, s, "none")
	if got, err := s.Counter(t.Context(), []byte("none")); got == nil || len(got) != 0 || err != nil {
		t.Errorf("after nothing was added the counters are %v, %v", got, err)
	}
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		txn.Add([]byte("twice"), 1, 10)
		txn.Add([]byte("other"), 100)
		txn.Add([]byte("twice"), 1, 10)
		return nil
	})
	expectCounters(t, s, "twice", 2, 20)
	expectCounters(t, s, "other", 100)
	update(t, s, writing("n"), func(txn kv.Txn) error {
		txn.Delete([]byte("n"))
		return nil
	})
	expectCounters(t, s, "n")
	add(t, s, "n", 4)
	expectCounters(t, s, "n", 4)
}

func testCountersFromManyGoroutines(t *testing.T, s kv.Store) {
	const goroutines, each = 8, 100
	ctx := background(t)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				k := key("item%d.%d", g, i)
				err := s.Update(ctx, kv.Intent{Write: [][]byte{k}}, func(txn kv.Txn) error {
					txn.Set(k, k)
					txn.Add([]byte("statistics"), 1, int64(g), -1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				if _, err := s.Counter(ctx, []byte("statistics")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n := int64(goroutines * each)
	expectCounters(t, s, "statistics", n, each*goroutines*(goroutines-1)/2, -n)
}

func testLog(t *testing.T, s kv.Store) {
	appendTo := func(log kv.LogID, records ...string) {
		update(t, s, kv.Intent{}, func(txn kv.Txn) error {
			for _, r := range records {
				txn.AppendLog(log, []byte(r))
			}
			return nil
		})
	}
	appendTo(1, "a", "b")
	appendTo(2, "other")
	appendTo(1, "c")
	appendTo(1, "", "e")
	records := readLog(t, s, 1, 0, 100)
	var data []string
	for i, r := range records {
		data = append(data, string(r.Data))
		if r.Seq == 0 || i > 0 && r.Seq <= records[i-1].Seq {
			t.Errorf("sequence numbers do not rise from 1: %v", records)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "", "e"}, data); diff != "" {
		t.Fatalf("log (-want +got):\n%s", diff)
	}
	if got := readLog(t, s, 2, 0, 100); len(got) != 1 || string(got[0].Data) != "other" {
		t.Errorf("other log: %v", got)
	}
	if got := readLog(t, s, 3, 0, 100); len(got) != 0 {
		t.Errorf("an unwritten log: %v", got)
	}
	for i, r := range records {
		rest := records[i+1:]
		for limit := range 4 {
			want := rest[:min(limit, len(rest))]
			if diff := cmp.Diff(want, readLog(t, s, 1, r.Seq, limit), cmp.Comparer(sameRecords)); diff != "" {
				t.Errorf("after %d, limit %d (-want +got):\n%s", r.Seq, limit, diff)
			}
		}
	}
	if got := readLog(t, s, 1, math.MaxUint64, 10); len(got) != 0 {
		t.Errorf("after the last number: %v", got)
	}
}

func sameRecords(a, b []kv.Record) bool {
	return slices.EqualFunc(a, b, func(a, b kv.Record) bool {
		return a.Seq == b.Seq && string(a.Data) == string(b.Data)
	})
}

// testLogFromManyGoroutines follows a log while many goroutines write it: the follower misses nothing, and the records of one key
// are in commit order.
func testLogFromManyGoroutines(t *testing.T, s kv.Store) {
	const goroutines, each, items = 8, 100, 5
	ctx := background(t)
	var writers sync.WaitGroup
	var stop atomic.Bool
	for g := range goroutines {
		writers.Go(func() {
			for i := range each {
				item := byte((g + i) % items)
				k := key("item%d", item)
				err := s.Update(ctx, kv.Intent{Write: [][]byte{k}, Transaction: g == 0}, func(txn kv.Txn) error {
					v, err := txn.Get(k)
					version := number(v) + 1
					txn.Set(k, bytesOf(version))
					txn.AppendLog(9, binary.BigEndian.AppendUint64([]byte{item, 1}, uint64(version)))
					txn.AppendLog(9, binary.BigEndian.AppendUint64([]byte{item, 2}, uint64(version)))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	f := follower{versions: map[byte]uint64{}}
	done := make(chan error, 1)
	go func() {
		for {
			last := stop.Load() // everything is committed before the reading that follows
			records, _, err := s.ReadLog(ctx, 9, f.seq, 7)
			if err == nil {
				err = f.take(records)
			}
			if err != nil || last && len(records) == 0 {
				done <- err
				return
			}
		}
	}()
	writers.Wait()
	stop.Store(true)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if want := goroutines * each * 2; f.records != want {
		t.Errorf("the follower saw %d records of %d", f.records, want)
	}
}

// follower checks the records of testLogFromManyGoroutines as it reads them.
type follower struct {
	seq      kv.Seq
	records  int
	versions map[byte]uint64
	half     []byte // the first record of an update whose second one is still missing
}

func (f *follower) take(records []kv.Record) error {
	for _, r := range records {
		if r.Seq <= f.seq {
			return fmt.Errorf("number %d after %d", r.Seq, f.seq)
		}
		f.seq = r.Seq
		f.records++
		item, part, version := r.Data[0], r.Data[1], binary.BigEndian.Uint64(r.Data[2:])
		if part == 1 {
			if f.half != nil || version != f.versions[item]+1 {
				return fmt.Errorf("item %d: version %d after %d", item, version, f.versions[item])
			}
			f.versions[item], f.half = version, r.Data
			continue
		}
		if f.half == nil || f.half[0] != item || version != f.versions[item] {
			return fmt.Errorf("item %d: records of an update are not adjacent", item)
		}
		f.half = nil
	}
	return nil
}

func testLogTrim(t *testing.T, s kv.Store) {
	for i := range 10 {
		update(t, s, kv.Intent{}, func(txn kv.Txn) error {
			txn.AppendLog(kv.LogID(1+i%2), key("r%d", i))
			return nil
		})
	}
	records := readLog(t, s, 1, 0, 100)
	trim := func(upTo kv.Seq, want []kv.Record) {
		t.Helper()
		if err := s.TrimLog(t.Context(), 1, upTo); err != nil {
			t.Fatal(err)
		}
		got := readLog(t, s, 1, 0, 100)
		if diff := cmp.Diff(want, got, cmp.Comparer(sameRecords)); diff != "" {
			t.Errorf("after trimming to %d (-want +got):\n%s", upTo, diff)
		}
	}
	trim(0, records)
	trim(records[1].Seq, records[2:])
	trim(records[0].Seq, records[2:])
	trim(records[3].Seq-1, records[3:])
	trim(math.MaxUint64, nil)
	if got := readLog(t, s, 2, 0, 100); len(got) != 5 {
		t.Errorf("the other log has %d records", len(got))
	}
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		txn.AppendLog(1, []byte("new"))
		return nil
	})
	got := readLog(t, s, 1, records[4].Seq, 100)
	if len(got) != 1 || string(got[0].Data) != "new" {
		t.Errorf("after trimming everything a new record reads as %v", got)
	}
}

// testLogReadsAreBounded reads large records after small ones: no read returns much more than kv.LogReadBytes, and the next one
// continues at through.
func testLogReadsAreBounded(t *testing.T, s kv.Store) {
	const small, large, largeBytes = 50, 10, kv.LogReadBytes/2 + 1
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		for range small {
			txn.AppendLog(1, []byte("small"))
		}
		for range large {
			txn.AppendLog(1, make([]byte, largeBytes))
		}
		return nil
	})
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for _, read := range []func(after kv.Seq) ([]kv.Record, kv.Seq, error){
		func(after kv.Seq) ([]kv.Record, kv.Seq, error) { return s.ReadLog(t.Context(), 1, after, math.MaxInt) },
		func(after kv.Seq) (records []kv.Record, through kv.Seq, err error) {
			records, err = snap.ReadLog(1, after, math.MaxInt)
			if len(records) > 0 {
				through = records[len(records)-1].Seq
			}
			return records, through, err
		},
	} {
		total, after := 0, kv.Seq(0)
		for {
			records, through, err := read(after)
			if err != nil {
				t.Fatal(err)
			}
			if len(records) == 0 {
				break
			}
			bytes := 0
			for _, r := range records {
				bytes += len(r.Data)
			}
			if bytes >= kv.LogReadBytes+largeBytes {
				t.Errorf("a read after %d returned %d bytes", after, bytes)
			}
			total, after = total+len(records), through
		}
		if total != small+large {
			t.Errorf("%d records were delivered, want %d", total, small+large)
		}
	}
}

// readWholeLog reads a log to its end, in as many parts as the store gives.
func readWholeLog(t *testing.T, s kv.Store, log kv.LogID) (all []kv.Record) {
	t.Helper()
	for after := kv.Seq(0); ; after = all[len(all)-1].Seq {
		part := readLog(t, s, log, after, math.MaxInt)
		if len(part) == 0 {
			return all
		}
		all = append(all, part...)
	}
}
