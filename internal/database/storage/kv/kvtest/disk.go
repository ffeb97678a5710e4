//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Disk is the disk of a persistent store.
type Disk interface {
	// Open opens the store on the disk, which is empty the first time.
	Open(t *testing.T) kv.Store
	// Crash returns a disk as a power failure at this moment could leave it: with everything that was synced, and some part of
	// the rest that depends on the seed. The store open on the original disk is not affected.
	Crash(t *testing.T, seed uint64) Disk
	// CrashDuring runs fn, which uses the store open on the disk, and returns disks as power failures at moments during it could
	// leave them, the last one at its end.
	CrashDuring(t *testing.T, seed uint64, fn func()) []Disk
	// HoldSyncs blocks syncs of files until release is called.
	HoldSyncs(t *testing.T) (release func())
}

// RunDisk runs the persistence tests. newDisk returns an empty disk. durable means that what a call returned must survive a
// crash.
func RunDisk(t *testing.T, durable bool, newDisk func(t *testing.T) Disk) {
	t.Helper()
	t.Run("Reopen", func(t *testing.T) { testReopen(t, newDisk(t)) })
	t.Run("ReopenEmpty", func(t *testing.T) { testReopenEmpty(t, newDisk(t)) })
	t.Run("Crash", func(t *testing.T) { testCrash(t, newDisk(t), durable) })
	t.Run("CrashAgainAndAgain", func(t *testing.T) { testCrashes(t, newDisk(t), durable) })
	t.Run("CrashSequence", func(t *testing.T) { testCrashSequence(t, newDisk(t)) })
	t.Run("CrashAdvance", func(t *testing.T) { testCrashAdvance(t, newDisk(t)) })
	t.Run("CrashDuringTrim", func(t *testing.T) { testCrashDuringTrim(t, newDisk(t), durable) })
	t.Run("ReopenKept", func(t *testing.T) { testReopenKept(t, newDisk(t)) })
	t.Run("CrashDuringKeep", func(t *testing.T) { testCrashDuringKeep(t, newDisk(t)) })
	t.Run("CrashDuringDropKept", func(t *testing.T) { testCrashDuringDropKept(t, newDisk(t)) })
	t.Run("CrashAfterKeepUnderLoad", func(t *testing.T) { testCrashAfterKeep(t, newDisk(t)) })
	t.Run("CrashDuringLoad", func(t *testing.T) { testCrashDuringLoad(t, newDisk(t)) })
}

// RunUnsynced runs the tests of updates that are visible but not yet synced. The parameters are those of RunDisk.
func RunUnsynced(t *testing.T, durable bool, newDisk func(t *testing.T) Disk) {
	t.Helper()
	t.Run("EventualReads", func(t *testing.T) { testEventualReads(t, newDisk(t)) })
	if durable {
		t.Run("ObservationsWaitForSync", func(t *testing.T) { testObservationsWait(t, newDisk) })
	}
}

func closeStore(t *testing.T, s kv.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func testReopenEmpty(t *testing.T, d Disk) {
	for range 3 {
		s := d.Open(t)
		if got := scanStore(t, s); got != "" {
			t.Errorf("an empty store holds %s", got)
		}
		closeStore(t, s)
	}
}

func testReopen(t *testing.T, d Disk) {
	var last, trimmed kv.Seq
	for round := range 4 {
		s := d.Open(t)
		if round > 0 {
			want := fmt.Sprintf("a=%d b=2 ", round-1)
			snap := snapshot(t, s)
			if got := scan(t, snap, nil, []byte("n"), kv.IterOptions{}); got != want {
				t.Errorf("after reopening it holds %s, want %s", got, want)
			}
			closeSnapshot(t, snap)
			expectCounters(t, s, "n", int64(round), int64(-round))
		}
		update(t, s, writing("a", "b", "c"), func(txn kv.Txn) error {
			txn.Set([]byte("a"), fmt.Appendf(nil, "%d", round))
			txn.Set([]byte("b"), []byte("2"))
			txn.Delete([]byte("c"))
			txn.Add([]byte("n"), 1, -1)
			txn.AppendLog(1, fmt.Appendf(nil, "%d", round))
			return nil
		})
		records := readLog(t, s, 1, last, 10)
		if len(records) != 1 || string(records[0].Data) != fmt.Sprint(round) {
			t.Fatalf("round %d: the log after %d holds %v", round, last, records)
		}
		last = records[0].Seq
		if round == 1 {
			// Trimmed records stay trimmed, and their numbers are not reused.
			trimLog(t, s, 1, last)
			trimmed = last
		}
		if got := logTrimmed(t, s, 1); got != trimmed {
			t.Errorf("round %d: %d is forgotten, want %d", round, got, trimmed)
		}
		at, own := divided(t, s, 2)
		if at <= last || own[0] < at {
			t.Errorf("round %d: LogSeq %d after %d, of an update that has %d", round, at, last, own)
		}
		if got := through(t, s, 1, last, 10); got < own[0] {
			t.Errorf("round %d: the log reads through %d, and %d is acknowledged", round, got, own)
		}
		closeStore(t, s)
	}
	s := d.Open(t)
	if got := logTrimmed(t, s, 1); got != trimmed {
		t.Errorf("after reopening, %d is trimmed, want %d", got, trimmed)
	}
	if got := readLog(t, s, 1, 0, 10); len(got) != 2 || string(got[0].Data) != "2" {
		t.Errorf("the log holds %v", got)
	}
	closeStore(t, s)
}

// crashLoad consists of updates that each write one number to two keys, a log and a counter, and of their readers. The store must
// keep what was acknowledged or read.
type crashLoad struct {
	store        kv.Store
	pause        sync.RWMutex // held by a test to pause updates
	acknowledged [crashItems]atomic.Uint64
	attempted    [crashItems]atomic.Uint64
	seen         [crashItems]atomic.Uint64
}

const crashItems = 4

// run writes until stop is closed.
func (l *crashLoad) run(ctx context.Context, t *testing.T, stop <-chan struct{}) *sync.WaitGroup {
	t.Helper()
	var wg sync.WaitGroup
	for i := range crashItems {
		n := l.acknowledged[i].Load()
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n++
				if err := l.write(ctx, i, n); err != nil {
					t.Errorf("update: %v", err)
					return
				}
			}
		})
	}
	for i := range crashItems {
		wg.Go(func() {
			for n := range reads {
				select {
				case <-stop:
					return
				default:
				}
				if err := l.read(ctx, i, n); err != nil {
					t.Errorf("reading: %v", err)
					return
				}
			}
		})
	}
	return &wg
}

// reads limits how much the readers slow down the writers.
const reads = 2000

// read reads an item in different ways in turn. It is the only goroutine that records what is read of it.
func (l *crashLoad) read(ctx context.Context, item, turn int) error {
	l.pause.RLock()
	defer l.pause.RUnlock()
	var n int64
	k := key("left%d", item)
	see := func(r interface {
		Get(key []byte) ([]byte, error)
	},
	) error {
		value, err := r.Get(k)
		n = number(value)
		return err
	}
	var err error
	switch turn % 4 {
	case 0:
		var value []byte
		value, err = l.store.Get(ctx, k)
		n = number(value)
	case 1:
		err = l.store.Update(ctx, kv.Intent{Check: [][]byte{k}}, func(txn kv.Txn) error { return see(txn) })
	case 2:
		err = l.store.Update(ctx, kv.Intent{Write: [][]byte{k}}, func(txn kv.Txn) error {
			return errors.Join(see(txn), errUnwanted)
		})
		if errors.Is(err, errUnwanted) {
			err = nil
		}
	default:
		err = inSnapshot(func(snap kv.Snapshot) error { return see(snap) })(ctx, l.store)
	}
	if err == nil {
		l.seen[item].Store(max(l.seen[item].Load(), uint64(n)))
	}
	return err
}

// promised returns the update of each item that must survive a crash from now on.
func (l *crashLoad) promised() (promised [crashItems]uint64) {
	for item := range promised {
		promised[item] = max(l.acknowledged[item].Load(), l.seen[item].Load())
	}
	return promised
}

func (l *crashLoad) write(ctx context.Context, item int, n uint64) error {
	l.pause.RLock()
	defer l.pause.RUnlock()
	l.attempted[item].Store(n)
	left, right := key("left%d", item), key("right%d", item)
	in := kv.Intent{Write: [][]byte{left, right}, Transaction: item == 0}
	err := l.store.Update(ctx, in, func(txn kv.Txn) error {
		value := binary.BigEndian.AppendUint64(nil, n)
		txn.Set(left, value)
		txn.Set(right, value)
		txn.Add(key("count%d", item), 1)
		txn.AppendLog(kv.LogID(item), value)
		return nil
	})
	if err == nil {
		l.acknowledged[item].Store(n)
	}
	return err
}

// check compares what is left of an item with what was promised: all parts of one update or none and, if durable, everything
// acknowledged before the crash.
func (l *crashLoad) check(t *testing.T, s kv.Store, item int, promised uint64, durable bool) uint64 {
	t.Helper()
	ctx := t.Context()
	left, err := s.Get(ctx, key("left%d", item))
	right, err2 := s.Get(ctx, key("right%d", item))
	count, err3 := s.Counter(ctx, key("count%d", item))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	records := readWholeLog(t, s, kv.LogID(item))
	n := uint64(number(left))
	if string(left) != string(right) || uint64(len(records)) != n || n > 0 && uint64(count[0]) != n {
		t.Fatalf("item %d: half an update is left: %d, %d, counter %v, %d records",
			item, n, number(right), count, len(records))
	}
	for i, r := range records {
		if uint64(number(r.Data)) != uint64(i)+1 {
			t.Fatalf("item %d: record %d is of update %d", item, i, number(r.Data))
		}
	}
	if durable && n < promised {
		t.Fatalf("item %d: update %d is left, %d was acknowledged or seen", item, n, promised)
	}
	if n > l.attempted[item].Load() {
		t.Fatalf("item %d: update %d was never sent", item, n)
	}
	return n
}

// testCrash crashes under load, many times in one run.
func testCrash(t *testing.T, d Disk, durable bool) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	load := &crashLoad{store: d.Open(t)}
	stop := make(chan struct{})
	wg := load.run(background(t), t, stop)
	for i := range uint64(5) {
		waitFor(load, load.acknowledged[0].Load()+20)
		promised := load.promised()
		crashed := d.Crash(t, seed+i)
		load.pause.Lock()
		s := crashed.Open(t)
		for item := range promised {
			load.check(t, s, item, promised[item], durable)
		}
		closeStore(t, s)
		load.pause.Unlock()
	}
	close(stop)
	wg.Wait()
	closeStore(t, load.store)
}

// waitFor returns when the load has made n updates.
func waitFor(l *crashLoad, n uint64) {
	for l.acknowledged[0].Load() < n {
		runtime.Gosched()
	}
}

// testCrashes continues after each crash with what it left.
func testCrashes(t *testing.T, d Disk, durable bool) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	load := &crashLoad{}
	for i := range uint64(5) {
		load.store = d.Open(t)
		for item := range crashItems {
			n := load.check(t, load.store, item, load.acknowledged[item].Load(), durable)
			load.acknowledged[item].Store(n)
			load.attempted[item].Store(n)
			load.seen[item].Store(n)
		}
		stop := make(chan struct{})
		wg := load.run(background(t), t, stop)
		waitFor(load, load.acknowledged[0].Load()+20)
		promised := load.promised()
		crashed := d.Crash(t, seed+i)
		close(stop)
		wg.Wait()
		closeStore(t, load.store)
		for item := range promised {
			load.acknowledged[item].Store(promised[item])
		}
		d = crashed
	}
}

// testCrashAdvance: whatever a crash loses, the store continues at or above the Advance of each surviving update, and skips at
// most a second. A clean restart skips nothing.
func testCrashAdvance(t *testing.T, d Disk) {
	const second = 1000 << 18
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	now := kv.SeqAt(1_800_000_000_000)
	upcoming := func(s kv.Store) (seq kv.Seq) {
		update(t, s, kv.Intent{}, func(txn kv.Txn) error {
			seq = txn.LogSeq()
			return nil
		})
		return seq
	}
	for i := range uint64(8) {
		s := d.Open(t)
		for range 20 {
			now += kv.Seq(random.IntN(second))
			update(t, s, writing("now"), func(txn kv.Txn) error {
				txn.Set([]byte("now"), bytesOf(int64(now)))
				txn.Advance(now)
				return nil
			})
		}
		crashed := d.Crash(t, seed+i)
		closeStore(t, s)
		s = d.Open(t)
		if got := upcoming(s); got < now || got > now+second/1000 {
			t.Errorf("after a clean restart the store continues at %d, want %d", got, now)
		}
		// Nothing is written, but callers have seen the number.
		seen := now + kv.Seq(1+random.IntN(10*second))
		update(t, s, kv.Intent{}, func(txn kv.Txn) error {
			txn.Advance(seen)
			if got := txn.LogSeq(); got != seen {
				t.Errorf("after Advance(%d) LogSeq is %d", seen, got)
			}
			return nil
		})
		closeStore(t, s)
		s = d.Open(t)
		if got := upcoming(s); got != seen {
			t.Errorf("LogSeq was %d, after a clean restart it is %d", seen, got)
		}
		closeStore(t, s)
		s = crashed.Open(t)
		value, err := s.Get(t.Context(), []byte("now"))
		if err != nil {
			t.Fatal(err)
		}
		if left, got := kv.Seq(number(value)), upcoming(s); got < left || got > now+second {
			t.Errorf("after a crash that left %d of %d the store continues at %d", left, now, got)
		}
		closeStore(t, s)
		d = crashed
	}
}

// testCrashSequence: a number that a reader of the log has seen is never reused for another record, even if the crash or a trim
// removed the first one.
func testCrashSequence(t *testing.T, d Disk) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var last kv.Seq
	for i := range uint64(6) {
		s := d.Open(t)
		for range 5 {
			update(t, s, writing("a"), func(txn kv.Txn) error {
				txn.AppendLog(1, []byte("r"))
				return nil
			})
		}
		records := readLog(t, s, 1, last, 100)
		if len(records) < 5 {
			t.Fatalf("of 5 new records %d are after %d", len(records), last)
		}
		last = records[len(records)-1].Seq
		if i%2 == 0 {
			if err := s.TrimLog(t.Context(), 1, last); err != nil {
				t.Fatal(err)
			}
		}
		crashed := d.Crash(t, seed+i)
		closeStore(t, s)
		d = crashed
	}
}
