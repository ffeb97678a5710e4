//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// fill writes n keys, a counter and a log, so that the kept data has all kinds.
func fill(t *testing.T, s kv.Store, prefix string, n int) {
	t.Helper()
	for i := range n {
		update(t, s, kv.Intent{Write: [][]byte{key("%s%d", prefix, i)}}, func(txn kv.Txn) error {
			txn.Set(key("%s%d", prefix, i), []byte("v"))
			txn.Add([]byte("count"+prefix), 1)
			txn.AppendLog(1, key("%s%d", prefix, i))
			return nil
		})
	}
}

var everything = kv.Selection{Spans: []kv.Span{{}}, Logs: []kv.LogID{1}}

// expectFilled checks that a snapshot has everything that fill wrote.
func expectFilled(t *testing.T, snap kv.Snapshot, prefix string, n int) {
	t.Helper()
	records, err := snap.ReadLog(1, 0, math.MaxInt)
	if err != nil || len(records) != n {
		t.Errorf("%d records, %v, want %d", len(records), err, n)
	}
	if c, err := snap.Counter([]byte("count" + prefix)); len(c) != 1 || c[0] != int64(n) || err != nil {
		t.Errorf("counter %v, %v, want %d", c, err, n)
	}
	for i := range n {
		if v, err := snap.Get(key("%s%d", prefix, i)); string(v) != "v" || err != nil {
			t.Errorf("%s%d = %q, %v", prefix, i, v, err)
		}
	}
}

func expectKept(t *testing.T, s kv.Store, name, prefix string, n int) {
	t.Helper()
	snap := openKept(t, s, name)
	defer closeSnapshot(t, snap)
	expectFilled(t, snap, prefix, n)
}

// testReopenKept: kept snapshots and loaded data survive a restart.
func testReopenKept(t *testing.T, d Disk) {
	s := d.Open(t)
	fill(t, s, "a", 30)
	load(t, s, "l", 100)
	keep(t, s, "one", everything)
	fill(t, s, "b", 5)
	keep(t, s, "dropped", everything)
	if err := s.DropKept(t.Context(), "dropped"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		closeStore(t, s)
		s = d.Open(t)
		if got := keptNames(t, s); got != "one" {
			t.Errorf("after reopening, the snapshots are %q", got)
		}
		expectKept(t, s, "one", "a", 30)
		snap := openKept(t, s, "one")
		if !loaded(t, snap, "l", 100) {
			t.Error("the earlier loaded data is missing")
		}
		closeSnapshot(t, snap)
		now := snapshot(t, s)
		if !loaded(t, now, "l", 100) {
			t.Error("the loaded data is missing")
		}
		closeSnapshot(t, now)
		if err := s.DeleteRange(t.Context(), []byte("a"), []byte("b")); err != nil {
			t.Fatal(err)
		}
		if err := s.Compact(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
}

// crashes returns the disks of CrashDuring with the seed printed.
func crashes(t *testing.T, d Disk, fn func()) []Disk {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	disks := d.CrashDuring(t, seed, fn)
	if len(disks) < 2 {
		t.Errorf("%d crash points are too few", len(disks))
	}
	return disks
}

// testCrashDuringTrim: a log is either trimmed or not, and reports which.
func testCrashDuringTrim(t *testing.T, d Disk, durable bool) {
	s := d.Open(t)
	for i := range 20 {
		update(t, s, writing("a"), func(txn kv.Txn) error {
			txn.AppendLog(1, fmt.Appendf(nil, "%d", i))
			return nil
		})
	}
	before := readLog(t, s, 1, 0, 100)
	upTo := before[11].Seq
	trim := func() { trimLog(t, s, 1, upTo) }
	var disks []Disk
	if durable {
		disks = crashes(t, d, trim)
	} else {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		disks = d.CrashDuring(t, seed, trim) // without syncs nothing is written during the trim
	}
	closeStore(t, s)
	for i, crashed := range disks {
		s := crashed.Open(t)
		after, last := readLog(t, s, 1, 0, 100), i == len(disks)-1
		switch trimmed := logTrimmed(t, s, 1); {
		case trimmed == upTo:
			if diff := cmp.Diff(before[12:], after); diff != "" && durable {
				t.Errorf("moment %d of %d, trimmed (-want +got):\n%s", i, len(disks), diff)
			}
		case trimmed != 0 || last && durable:
			t.Errorf("moment %d of %d: %d is forgotten, want 0 or %d", i, len(disks), trimmed, upTo)
		default:
			if diff := cmp.Diff(before, after); diff != "" && durable {
				t.Errorf("moment %d of %d, not trimmed (-want +got):\n%s", i, len(disks), diff)
			}
		}
		closeStore(t, s)
	}
}

func testCrashDuringKeep(t *testing.T, d Disk) {
	s := d.Open(t)
	fill(t, s, "a", 30)
	disks := crashes(t, d, func() { keep(t, s, "k", everything) })
	closeStore(t, s)
	for i, crashed := range disks {
		s := crashed.Open(t)
		switch names := keptNames(t, s); {
		case names == "k":
			expectKept(t, s, "k", "a", 30)
		case names != "" || i == len(disks)-1:
			t.Errorf("moment %d of %d: kept are %q", i, len(disks), names)
		default: // the name is free
			fill(t, s, "again", 1)
			keep(t, s, "k", everything)
			closeSnapshot(t, openKept(t, s, "k"))
		}
		closeStore(t, s)
	}
}

func testCrashDuringDropKept(t *testing.T, d Disk) {
	s := d.Open(t)
	fill(t, s, "a", 30)
	keep(t, s, "k", everything)
	fill(t, s, "b", 30)
	disks := crashes(t, d, func() {
		if err := s.DropKept(t.Context(), "k"); err != nil {
			t.Error(err)
		}
	})
	closeStore(t, s)
	for i, crashed := range disks {
		s := crashed.Open(t)
		switch names := keptNames(t, s); {
		case names == "k":
			expectKept(t, s, "k", "a", 30)
		case names != "":
			t.Errorf("moment %d of %d: kept are %q", i, len(disks), names)
		}
		closeStore(t, s)
	}
}

// testCrashAfterKeep: what was kept under load survives a crash in every mode, and the store then has at least as much.
func testCrashAfterKeep(t *testing.T, d Disk) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := newTally(d.Open(t))
	stop := c.run(background(t), t)
	for i := range 3 {
		c.goOn(t, 100)
		before := c.now()
		name := fmt.Sprint("k", i)
		keep(t, c.store, name, tallySelection)
		crashed := d.Crash(t, seed+uint64(i))
		s := crashed.Open(t)
		kept, now := openKept(t, s, name), snapshot(t, s)
		n := c.check(t, kept, before)
		c.check(t, now, n)
		closeSnapshot(t, kept)
		closeSnapshot(t, now)
		closeStore(t, s)
	}
	stop()
	closeStore(t, c.store)
}

// testCrashDuringLoad: a load is either complete or absent, and what was acknowledged before it is there, too.
func testCrashDuringLoad(t *testing.T, d Disk) {
	s := d.Open(t)
	set(t, s, "a", "before")
	disks := crashes(t, d, func() { load(t, s, "l", 2000) })
	set(t, s, "z", "after")
	closeStore(t, s)
	for i, crashed := range disks {
		s := crashed.Open(t)
		snap := snapshot(t, s)
		if loaded(t, snap, "l", 2000) {
			expect(t, s, "a", "before")
		} else if i == len(disks)-1 {
			t.Error("the loaded data is missing")
		}
		closeSnapshot(t, snap)
		load(t, s, "m", 10)
		closeStore(t, s)
	}
}
