//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// appendRecords appends to a log in an update of its own.
func appendRecords(t *testing.T, s kv.Store, log kv.LogID, records ...string) {
	t.Helper()
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		for _, r := range records {
			txn.AppendLog(log, []byte(r))
		}
		return nil
	})
}

func logTrimmed(t *testing.T, s kv.Store, log kv.LogID) kv.Seq {
	t.Helper()
	seq, err := s.LogTrimmed(t.Context(), log)
	if err != nil {
		t.Fatalf("LogTrimmed: %v", err)
	}
	return seq
}

func trimLog(t *testing.T, s kv.Store, log kv.LogID, upTo kv.Seq) {
	t.Helper()
	if err := s.TrimLog(t.Context(), log, upTo); err != nil {
		t.Fatalf("TrimLog: %v", err)
	}
}

// through returns how far ReadLog reports to have read.
func through(t *testing.T, s kv.Store, log kv.LogID, after kv.Seq, limit int) kv.Seq {
	t.Helper()
	_, seq, err := s.ReadLog(t.Context(), log, after, limit)
	if err != nil {
		t.Fatalf("ReadLog: %v", err)
	}
	return seq
}

func testLogTrimmed(t *testing.T, s kv.Store) {
	if got := logTrimmed(t, s, 1); got != 0 {
		t.Errorf("of an empty log %d is forgotten", got)
	}
	trimLog(t, s, 2, 0)
	for range 5 {
		appendRecords(t, s, 1, "r")
		appendRecords(t, s, 2, "r")
	}
	records := readLog(t, s, 1, 0, 100)
	if got := logTrimmed(t, s, 1); got != 0 {
		t.Errorf("before any trimming %d is forgotten", got)
	}
	trimLog(t, s, 1, records[2].Seq)
	trimLog(t, s, 1, records[1].Seq)
	if got := logTrimmed(t, s, 1); got != records[2].Seq {
		t.Errorf("%d is forgotten, want %d", got, records[2].Seq)
	}
	trimLog(t, s, 1, records[2].Seq) // nothing of it is left to trim
	trimLog(t, s, 3, math.MaxUint64)
	if got, other := logTrimmed(t, s, 1), logTrimmed(t, s, 3); got != records[2].Seq || other != 0 {
		t.Errorf("with nothing to trim, %d and %d are trimmed", got, other)
	}
	if got := logTrimmed(t, s, 2); got != 0 {
		t.Errorf("of the other log %d is forgotten", got)
	}
	// Only existing records are trimmed, not future ones.
	trimLog(t, s, 1, math.MaxUint64)
	got := logTrimmed(t, s, 1)
	appendRecords(t, s, 1, "new")
	fresh := readLog(t, s, 1, 0, 100)
	if len(fresh) != 1 || got != records[4].Seq || got >= fresh[0].Seq {
		t.Errorf("%d is trimmed of %v, then there are %v", got, records, fresh)
	}
}

// testLogTrimmedFromManyGoroutines: a reader that reads a log and then checks what is trimmed knows whether it missed something,
// however many goroutines trim concurrently.
func testLogTrimmedFromManyGoroutines(t *testing.T, s kv.Store) {
	const n = 200
	for i := range n {
		appendRecords(t, s, 1, fmt.Sprint(i))
	}
	all := readLog(t, s, 1, 0, n)
	ctx := background(t)
	var trimmers sync.WaitGroup
	var stop atomic.Bool
	for g := range 4 {
		trimmers.Go(func() {
			for i := g; i < n; i += 4 {
				if err := s.TrimLog(ctx, 1, all[i].Seq); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			records, _, err := s.ReadLog(ctx, 1, 0, n)
			trimmed, err2 := s.LogTrimmed(ctx, 1)
			if err != nil || err2 != nil {
				t.Error(err, err2)
				return
			}
			if missing := n - len(records); missing > 0 && trimmed < all[missing-1].Seq {
				t.Errorf("%d records are missing and %d is forgotten", missing, trimmed)
				return
			}
		}
	}()
	trimmers.Wait()
	stop.Store(true)
	<-done
	if got, want := logTrimmed(t, s, 1), all[n-1].Seq; got != want {
		t.Errorf("%d is forgotten, %d was trimmed", got, want)
	}
}

func testLogThrough(t *testing.T, s kv.Store) {
	if got := through(t, s, 1, 0, 10); got != 0 && len(readLog(t, s, 1, got, 10)) != 0 {
		t.Errorf("of an empty log through %d", got)
	}
	appendRecords(t, s, 1, "a", "b", "c")
	records := readLog(t, s, 1, 0, 10)
	for limit := 1; limit <= 3; limit++ {
		if got, want := through(t, s, 1, 0, limit), records[limit-1].Seq; got != want {
			t.Errorf("limit %d: through %d, want %d", limit, got, want)
		}
	}
	// A log without writes does not hold back its readers.
	appendRecords(t, s, 2, "x", "y")
	other := readLog(t, s, 2, 0, 10)
	for _, log := range []kv.LogID{1, 3} {
		if got := through(t, s, log, 0, 10); got < other[1].Seq {
			t.Errorf("log %d through %d, and %d is acknowledged", log, got, other[1].Seq)
		}
	}
	end := through(t, s, 1, 0, 10)
	for _, after := range []kv.Seq{end, end + 1, end + 1000, math.MaxUint64} {
		if got := through(t, s, 1, after, 10); got < after {
			t.Errorf("after %d through %d", after, got)
		}
		if got := through(t, s, 1, after, 0); got != after {
			t.Errorf("after %d, without a limit to read, through %d", after, got)
		}
	}
	appendRecords(t, s, 1, "d")
	if got := readLog(t, s, 1, end, 10); len(got) != 1 || string(got[0].Data) != "d" {
		t.Errorf("after %d there is %v", end, got)
	}
}

// testLogThroughUnderLoad: readers that always continue after through see every record exactly once.
func testLogThroughUnderLoad(t *testing.T, s kv.Store) {
	const goroutines, each, logs = 8, 60, 3
	ctx := background(t)
	var writers sync.WaitGroup
	var stop atomic.Bool
	for g := range goroutines {
		writers.Go(func() {
			for i := range each {
				// Some updates have many records, some take long, some keep their keys until they are durable.
				in := kv.Intent{Write: [][]byte{key("k%d", g)}, Transaction: i%3 == 0}
				err := s.Update(ctx, in, func(txn kv.Txn) error {
					txn.Set(key("k%d", g), make([]byte, 1+i%5*2000))
					for part := range 1 + i%4 {
						txn.AppendLog(kv.LogID((g+i)%logs), key("%d.%d.%d", g, i, part))
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := make([]map[string]int, logs)
	var readers sync.WaitGroup
	for log := range seen {
		seen[log] = map[string]int{}
		readers.Go(func() {
			after := kv.Seq(0)
			for limit := 1; ; limit = limit%9 + 1 {
				last := stop.Load() // everything is acknowledged before the reading that follows
				records, through, err := s.ReadLog(ctx, kv.LogID(log), after, limit)
				if err != nil || through < after || len(records) == limit && through != records[limit-1].Seq {
					t.Errorf("after %d: %d records through %d, %v", after, len(records), through, err)
					return
				}
				for _, r := range records {
					if r.Seq <= after || r.Seq > through {
						t.Errorf("record %d after %d through %d", r.Seq, after, through)
					}
					seen[log][string(r.Data)]++
				}
				if after = through; len(records) == 0 {
					if last {
						return
					}
					runtime.Gosched()
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	readers.Wait()
	for g := range goroutines {
		for i := range each {
			for part := range 1 + i%4 {
				r := fmt.Sprintf("%d.%d.%d", g, i, part)
				if n := seen[(g+i)%logs][r]; n != 1 {
					t.Errorf("record %s was seen %d times", r, n)
				}
			}
		}
	}
}

func testLogOfSnapshot(t *testing.T, s kv.Store) {
	appendRecords(t, s, 1, "a", "b")
	appendRecords(t, s, 2, "other")
	appendRecords(t, s, 1, "c")
	records := readLog(t, s, 1, 0, 10)
	snap := snapshot(t, s)
	defer closeSnapshot(t, snap)
	appendRecords(t, s, 1, "d")
	trimLog(t, s, 1, math.MaxUint64)
	appendRecords(t, s, 1, "e")
	for from := range len(records) + 1 {
		after := kv.Seq(0)
		if from > 0 {
			after = records[from-1].Seq
		}
		for limit := range 5 {
			got, err := snap.ReadLog(1, after, limit)
			want := records[from:min(from+limit, len(records))]
			if diff := cmp.Diff(want, got, cmp.Comparer(sameRecords)); diff != "" || err != nil {
				t.Errorf("after %d, limit %d: %v (-want +got):\n%s", after, limit, err, diff)
			}
		}
	}
	for log, want := range map[kv.LogID]string{1: "a b c ", 2: "other ", 3: ""} {
		if got := logText(t, snap, log); got != want {
			t.Errorf("log %d holds %s, want %s", log, got, want)
		}
	}
	if got, err := snap.ReadLog(1, math.MaxUint64, 10); len(got) != 0 || err != nil {
		t.Errorf("after the last number: %v, %v", got, err)
	}
}

// testLogOfSnapshotUnderLoad: the logs of a snapshot contain exactly the commits that it has.
func testLogOfSnapshotUnderLoad(t *testing.T, s kv.Store) {
	c := newTally(s)
	stop := c.run(background(t), t)
	defer stop()
	for range 10 {
		c.goOn(t, 40)
		before := c.now()
		snap := snapshot(t, s)
		n := c.check(t, snap, before)
		c.goOn(t, 5)
		if again := c.check(t, snap, before); again != n {
			t.Errorf("a snapshot changed from %d to %d", n, again)
		}
		closeSnapshot(t, snap)
	}
}

// divided appends to some logs in an update of its own and returns the number that divides them there, with the
// numbers of its records.
func divided(t *testing.T, s kv.Store, logs ...kv.LogID) (at kv.Seq, own []kv.Seq) {
	t.Helper()
	update(t, s, kv.Intent{}, func(txn kv.Txn) error {
		at = txn.LogSeq()
		for _, log := range logs {
			txn.AppendLog(log, []byte("r"))
		}
		return nil
	})
	for _, log := range logs {
		records := readLog(t, s, log, 0, math.MaxInt)
		own = append(own, records[len(records)-1].Seq)
	}
	return at, own
}

func testLogSeq(t *testing.T, s kv.Store) {
	var before []kv.Seq
	for i := range 30 {
		at, own := divided(t, s, kv.LogID(i%3), kv.LogID(3+i%2))
		if at == 0 {
			t.Error("LogSeq is 0, which is before the first")
		}
		if len(before) > 0 && slices.Max(before) >= at {
			t.Errorf("%d of an earlier update is not below %d", slices.Max(before), at)
		}
		if slices.Min(own) < at {
			t.Errorf("%d of the update itself is below %d", slices.Min(own), at)
		}
		before = append(before, own...)
		if i%4 == 0 { // an update without records, and a failing one, divide as well
			bare, _ := divided(t, s)
			if slices.Max(before) >= bare {
				t.Errorf("%d of an earlier update is not below %d", slices.Max(before), bare)
			}
			_ = s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error {
				txn.AppendLog(1, []byte("never"))
				bare = txn.LogSeq()
				return errUnwanted
			})
			if slices.Max(before) >= bare {
				t.Errorf("%d of an earlier update is not below %d", slices.Max(before), bare)
			}
		}
	}
}

// testLogSeqOfOneKey: successive updates of a key divide each other's records, in every log, while others append to the same
// logs.
func testLogSeqOfOneKey(t *testing.T, s kv.Store) {
	const goroutines, each, logs = 6, 60, 3
	ctx := background(t)
	divides := make([]atomic.Uint64, goroutines*each) // of each version of the key
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				in := kv.Intent{Write: keys("k"), Transaction: i%2 == 0}
				var version int64
				var at kv.Seq
				err := s.Update(ctx, in, func(txn kv.Txn) error {
					v, err := txn.Get([]byte("k"))
					version, at = number(v), txn.LogSeq()
					txn.Set([]byte("k"), bytesOf(version+1))
					txn.AppendLog(kv.LogID(version%logs), bytesOf(version))
					return err
				})
				if err != nil {
					t.Error(err)
				}
				divides[version].Store(uint64(at)) // of the run that committed
				other := kv.Intent{Write: [][]byte{key("other%d", g)}}
				err = s.Update(ctx, other, func(txn kv.Txn) error {
					txn.AppendLog(kv.LogID(i%logs), nil)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	sequence := make([]kv.Seq, len(divides))
	for log := range kv.LogID(logs) {
		for _, r := range readLog(t, s, log, 0, math.MaxInt) {
			if len(r.Data) > 0 {
				sequence[binary.BigEndian.Uint64(r.Data)] = r.Seq
			}
		}
	}
	for version, seq := range sequence {
		at := kv.Seq(divides[version].Load())
		if seq < at || version > 0 && sequence[version-1] >= at {
			t.Errorf("version %d: LogSeq %d, its record has %d, the one before %d",
				version, at, seq, sequence[max(version-1, 0)])
		}
	}
}

// testLogAdvance: numbers follow Advance and never go back, whatever its argument; by itself it writes nothing.
func testLogAdvance(t *testing.T, s kv.Store) {
	record := func(to kv.Seq) (at, own kv.Seq) {
		t.Helper()
		update(t, s, kv.Intent{}, func(txn kv.Txn) error {
			txn.Advance(to)
			at = txn.LogSeq()
			txn.AppendLog(1, []byte("r"))
			return nil
		})
		records := readLog(t, s, 1, 0, math.MaxInt)
		return at, records[len(records)-1].Seq
	}
	noon := kv.SeqAt(1_800_000_000_000)
	last := kv.Seq(0)
	for _, c := range []struct{ to, want kv.Seq }{
		{0, 1}, {noon, noon}, {noon, noon + 1}, {noon - 1, noon + 2}, {0, noon + 3}, {noon + 4, noon + 4}, {noon << 1, noon << 1}, {noon, noon<<1 + 1},
	} {
		at, own := record(c.to)
		if own < c.want || at > own || at < c.to || own <= last {
			t.Errorf("after Advance(%d) LogSeq is %d and the record's number %d, want %d", c.to, at, own, c.want)
		}
		last = own
	}
	// An update without records also advances; a failed one, or one that writes nothing, need not.
	update(t, s, writing("k"), func(txn kv.Txn) error {
		txn.Set([]byte("k"), nil)
		txn.Advance(last + 1000)
		return nil
	})
	if at, own := record(0); at < last+1000 || own < at {
		t.Errorf("after Advance(%d) without a record LogSeq is %d and the next record's number %d", last+1000, at, own)
	}
	if got, bound := logTrimmed(t, s, 1), through(t, s, 2, 0, 1); got != 0 || bound < last+1000 {
		t.Errorf("%d is forgotten, an empty log is complete through %d", got, bound)
	}
}
