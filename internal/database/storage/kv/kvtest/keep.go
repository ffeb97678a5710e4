//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

func keep(t *testing.T, s kv.Store, name string, what kv.Selection) {
	t.Helper()
	if err := s.Keep(t.Context(), name, what); err != nil {
		t.Fatalf("Keep(%q): %v", name, err)
	}
}

func openKept(t *testing.T, s kv.Store, name string) kv.Snapshot {
	t.Helper()
	snap, err := s.OpenKept(t.Context(), name)
	if err != nil {
		t.Fatalf("OpenKept(%q): %v", name, err)
	}
	return snap
}

// keptNames lists the kept snapshots, separated by spaces.
func keptNames(t *testing.T, s kv.Store) string {
	t.Helper()
	list, err := s.Kept(t.Context())
	if err != nil {
		t.Fatalf("Kept: %v", err)
	}
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
		if k.Bytes < 0 {
			t.Errorf("%s has %d bytes", k.Name, k.Bytes)
		}
	}
	return strings.Join(names, " ")
}

// logText returns the records of a log in a snapshot, separated by spaces.
func logText(t *testing.T, snap kv.Snapshot, log kv.LogID) string {
	t.Helper()
	records, err := snap.ReadLog(log, 0, math.MaxInt)
	if err != nil {
		t.Fatalf("reading a snapshot's log: %v", err)
	}
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s ", r.Data)
	}
	return b.String()
}

// writeVersion writes a value to four keys and two logs, and counts.
func writeVersion(t *testing.T, s kv.Store, value string) {
	t.Helper()
	update(t, s, writing("a1", "a2", "b1", "c1"), func(txn kv.Txn) error {
		for _, k := range keys("a1", "a2", "b1", "c1") {
			txn.Set(k, []byte(value))
		}
		txn.Add([]byte("n"), 1, 10)
		txn.AppendLog(1, []byte(value))
		txn.AppendLog(2, []byte(value))
		return nil
	})
}

var versionSelection = kv.Selection{
	Spans: []kv.Span{{Lo: []byte("a"), Hi: []byte("b")}, {Lo: []byte("c")}},
	Logs:  []kv.LogID{1},
}

// expectVersion checks that a kept snapshot has a version, with the log and the counter of that time.
func expectVersion(t *testing.T, s kv.Store, name, value, log string, n int64) {
	t.Helper()
	snap := openKept(t, s, name)
	defer closeSnapshot(t, snap)
	want := strings.NewReplacer("V", value)
	if got := scan(t, snap, []byte("a"), []byte("b"), kv.IterOptions{}); got != want.Replace("a1=V a2=V ") {
		t.Errorf("%s holds %s", name, got)
	}
	reverse := kv.IterOptions{Reverse: true}
	if got := scan(t, snap, []byte("a"), []byte("b"), reverse); got != want.Replace("a2=V a1=V ") {
		t.Errorf("%s in reverse holds %s", name, got)
	}
	if v, err := snap.Get([]byte("c1")); string(v) != value || err != nil {
		t.Errorf("%s: c1 = %s, %v", name, v, err)
	}
	if v, err := snap.Get([]byte("a3")); v != nil || err != nil {
		t.Errorf("%s: a3 = %s, %v", name, v, err)
	}
	if c, err := snap.Counter([]byte("n")); !cmp.Equal(c, []int64{n, 10 * n}) || err != nil {
		t.Errorf("%s: counter %v, %v", name, c, err)
	}
	if got := logText(t, snap, 1); got != log {
		t.Errorf("%s: the log holds %s, want %s", name, got, log)
	}
}

// testKeep: a kept snapshot never changes, whatever happens to the store.
func testKeep(t *testing.T, s kv.Store) {
	writeVersion(t, s, "old")
	keep(t, s, "first", versionSelection)
	writeVersion(t, s, "new")
	keep(t, s, "second", versionSelection)
	trimLog(t, s, 1, math.MaxUint64)
	if err := s.DeleteRange(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	compact(t, s)
	writeVersion(t, s, "last")
	expectVersion(t, s, "first", "old", "old ", 1)
	expectVersion(t, s, "second", "new", "old new ", 2)
	expect(t, s, "a1", "last")

	// Several readers may share one.
	one, two := openKept(t, s, "first"), openKept(t, s, "first")
	closeSnapshot(t, one)
	if v, err := two.Get([]byte("a1")); string(v) != "old" || err != nil {
		t.Errorf("after another one was closed a1 = %s, %v", v, err)
	}
	closeSnapshot(t, two)
}

func testDropKept(t *testing.T, s kv.Store) {
	writeVersion(t, s, "old")
	keep(t, s, "first", versionSelection)
	keep(t, s, "second", versionSelection)
	writeVersion(t, s, "new")
	if got := keptNames(t, s); got != "first second" {
		t.Errorf("kept are %q", got)
	}
	if err := s.Keep(t.Context(), "first", versionSelection); !errors.Is(err, kv.ErrKeptExists) {
		t.Errorf("a second one of the same name: %v", err)
	}
	expectVersion(t, s, "first", "old", "old ", 1)
	for range 2 {
		if err := s.DropKept(t.Context(), "first"); err != nil {
			t.Fatalf("DropKept: %v", err)
		}
	}
	if _, err := s.OpenKept(t.Context(), "first"); !errors.Is(err, kv.ErrNotKept) {
		t.Errorf("OpenKept of a dropped snapshot: %v", err)
	}
	expectVersion(t, s, "second", "old", "old ", 1)
	keep(t, s, "first", versionSelection)
	expectVersion(t, s, "first", "new", "old new ", 2)
}

func testKeepNames(t *testing.T, s kv.Store) {
	set(t, s, "k", "v")
	all := kv.Selection{Spans: []kv.Span{{}}}
	names := []string{"-", "0", "a-b-0123456789-z", strings.Repeat("n", 150)}
	for _, name := range names {
		keep(t, s, name, all)
	}
	if got := keptNames(t, s); got != strings.Join(names, " ") {
		t.Errorf("kept are %q", got)
	}
	for _, name := range names {
		closeSnapshot(t, openKept(t, s, name))
		if err := s.DropKept(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if got := keptNames(t, s); got != "" {
		t.Errorf("after all were dropped there are %q", got)
	}
}

func testKeepEmpty(t *testing.T, s kv.Store) {
	keep(t, s, "of-an-empty-store", kv.Selection{Spans: []kv.Span{{}}, Logs: []kv.LogID{1}})
	set(t, s, "k", "v")
	keep(t, s, "of-nothing", kv.Selection{})
	keep(t, s, "of-no-key", kv.Selection{Spans: []kv.Span{{Lo: []byte("k"), Hi: []byte("k")}}})
	snap := openKept(t, s, "of-an-empty-store")
	if got := scan(t, snap, nil, nil, kv.IterOptions{}); got != "" {
		t.Errorf("it holds %s", got)
	}
	if got := logText(t, snap, 1); got != "" {
		t.Errorf("its log holds %s", got)
	}
	closeSnapshot(t, snap)
	closeSnapshot(t, openKept(t, s, "of-nothing"))
	closeSnapshot(t, openKept(t, s, "of-no-key"))
}

func testKeepCancelled(t *testing.T, s kv.Store) {
	set(t, s, "k", "v")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Keep(ctx, "k", kv.Selection{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Keep: %v", err)
	}
	if got := keptNames(t, s); got != "" {
		t.Errorf("kept are %q", got)
	}
}

// tally consists of updates that each increment a value, a counter and a log.
type tally struct {
	store        kv.Store
	allowed      chan struct{} // permits one update
	acknowledged [tallyItems]atomic.Uint64
	attempted    [tallyItems]atomic.Uint64
}

const tallyItems = 4

func newTally(s kv.Store) *tally { return &tally{store: s, allowed: make(chan struct{}, 1<<16)} }

var tallySelection = kv.Selection{
	Spans: []kv.Span{{Lo: []byte("item"), Hi: []byte("itemz")}, {Lo: []byte("count"), Hi: []byte("countz")}},
	Logs:  []kv.LogID{0, 1, 2, 3},
}

func (c *tally) count(ctx context.Context, item int) error {
	n := c.attempted[item].Add(1)
	k := key("item%d", item)
	err := c.store.Update(ctx, kv.Intent{Write: [][]byte{k}}, func(txn kv.Txn) error {
		value := binary.BigEndian.AppendUint64(make([]byte, 0, 1000), n)
		txn.Set(k, value[:cap(value)]) // large enough to fill memtables
		txn.Add(key("count%d", item), 1)
		txn.AppendLog(kv.LogID(item), value)
		return nil
	})
	if err == nil {
		c.acknowledged[item].Store(n)
	}
	return err
}

// run increments as far as goOn permits until stop is called, which returns when the last update has ended.
func (c *tally) run(ctx context.Context, t *testing.T) (stop func()) {
	t.Helper()
	var wg sync.WaitGroup
	ended := make(chan struct{})
	for item := range tallyItems {
		wg.Go(func() {
			for {
				select {
				case <-ended:
					return
				case <-c.allowed:
				}
				if err := c.count(ctx, item); err != nil {
					t.Errorf("update: %v", err)
					return
				}
			}
		})
	}
	return func() {
		close(ended)
		wg.Wait()
	}
}

// goOn returns when a number of further updates have been acknowledged, while as many more are still permitted.
func (c *tally) goOn(t *testing.T, more int) {
	t.Helper()
	until := c.total() + uint64(more)
	for range 2 * more {
		c.allowed <- struct{}{}
	}
	for c.total() < until && !t.Failed() {
		runtime.Gosched()
	}
}

func (c *tally) total() (n uint64) {
	for item := range c.acknowledged {
		n += c.acknowledged[item].Load()
	}
	return n
}

// now returns what has been acknowledged of each item.
func (c *tally) now() (n [tallyItems]uint64) {
	for item := range n {
		n[item] = c.acknowledged[item].Load()
	}
	return n
}

// check reads a snapshot's state of each item: its value, counter and log must agree, and include everything acknowledged before
// the snapshot.
func (c *tally) check(t *testing.T, snap kv.Snapshot, before [tallyItems]uint64) (n [tallyItems]uint64) {
	t.Helper()
	for item := range n {
		v, err := snap.Get(key("item%d", item))
		count, err2 := snap.Counter(key("count%d", item))
		records, err3 := snap.ReadLog(kv.LogID(item), 0, math.MaxInt)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if v != nil {
			n[item] = binary.BigEndian.Uint64(v)
		}
		if counted := append(count, 0)[0]; uint64(counted) != n[item] || uint64(len(records)) != n[item] {
			t.Errorf("item %d: value %d, counter %d, %d records", item, n[item], counted, len(records))
		}
		if n[item] < before[item] || n[item] > c.attempted[item].Load() {
			t.Errorf("item %d: %d updates, %d were acknowledged before", item, n[item], before[item])
		}
	}
	return n
}

// testKeepUnderLoad: a kept snapshot is one moment, including everything acknowledged before it.
func testKeepUnderLoad(t *testing.T, s kv.Store) {
	c := newTally(s)
	stop := c.run(background(t), t)
	defer stop()
	for i := range 5 {
		c.goOn(t, 80)
		before := c.now()
		name := fmt.Sprint("k", i)
		keep(t, s, name, tallySelection)
		snap := openKept(t, s, name)
		n := c.check(t, snap, before)
		c.goOn(t, 20)
		if again := c.check(t, snap, before); again != n {
			t.Errorf("the snapshot changed from %d to %d", n, again)
		}
		closeSnapshot(t, snap)
		if err := s.DropKept(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

// testKeepWhileLoading: a kept snapshot has every load that was acknowledged before an update that it has.
func testKeepWhileLoading(t *testing.T, s kv.Store) {
	ctx := background(t)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			k := key("loaded%06d", i)
			err := s.Load(ctx, func(put func(key, value []byte) error) error { return put(k, k) })
			if err != nil {
				t.Error(err)
				return
			}
			err = s.Update(ctx, writing("last"), func(txn kv.Txn) error {
				txn.Set([]byte("last"), k)
				return nil
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 25 {
		name := fmt.Sprint("k", i)
		keep(t, s, name, kv.Selection{Spans: []kv.Span{{}}})
		snap := openKept(t, s, name)
		last, err := snap.Get([]byte("last"))
		if err != nil {
			t.Error(err)
		}
		if last != nil {
			if v, err := snap.Get(last); string(v) != string(last) || err != nil {
				t.Errorf("kept is the update after the load of %s, and of that %q, %v", last, v, err)
			}
		}
		closeSnapshot(t, snap)
	}
	close(done)
	wg.Wait()
}
