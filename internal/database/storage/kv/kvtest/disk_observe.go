//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// grace is how long a call may return too early. A correct store passes whatever it is.
const grace = 20 * time.Millisecond

// observation is a call that reveals what an update in progress has done. The update has set "key" to "new", where it was "old",
// has deleted "gone", added to "count", and appended to log 1.
type observation struct {
	name string
	call func(ctx context.Context, s kv.Store) error
}

// observingReads, and observingUpdates, which commit nothing, return what a power failure would make untrue.
var observingReads = []observation{
	{"Get", func(ctx context.Context, s kv.Store) error {
		value, err := s.Get(ctx, []byte("key"))
		return want(string(value), "new", err)
	}},
	{"GetOfDeleted", func(ctx context.Context, s kv.Store) error {
		value, err := s.Get(ctx, []byte("gone"))
		return want(string(value), "", err)
	}},
	{"Counter", func(ctx context.Context, s kv.Store) error {
		sums, err := s.Counter(ctx, []byte("count"))
		return want(fmt.Sprint(sums), "[1]", err)
	}},
	{"Iter", func(ctx context.Context, s kv.Store) error {
		it, err := s.Iter(ctx, []byte("key"), []byte("kez"), kv.IterOptions{})
		if err != nil {
			return err
		}
		return wantOne(it)
	}},
	{"IterOverLongPrefix", func(ctx context.Context, s kv.Store) error {
		it, err := s.Iter(ctx, []byte("partition-a"), []byte("partition-b"), kv.IterOptions{Reverse: true})
		if err != nil {
			return err
		}
		return wantOne(it)
	}},
	{"IterOverEverything", func(ctx context.Context, s kv.Store) error {
		it, err := s.Iter(ctx, nil, nil, kv.IterOptions{})
		if err != nil {
			return err
		}
		for it.Next() {
		}
		return errors.Join(it.Err(), it.Close())
	}},
	{"SnapshotGet", inSnapshot(func(snap kv.Snapshot) error {
		value, err := snap.Get([]byte("key"))
		return want(string(value), "new", err)
	})},
	{"SnapshotCounter", inSnapshot(func(snap kv.Snapshot) error {
		sums, err := snap.Counter([]byte("count"))
		return want(fmt.Sprint(sums), "[1]", err)
	})},
	{"SnapshotIter", inSnapshot(func(snap kv.Snapshot) error {
		return wantOne(snap.Iter([]byte("key"), []byte("kez"), kv.IterOptions{}))
	})},
	{"SnapshotLog", inSnapshot(func(snap kv.Snapshot) error {
		records, err := snap.ReadLog(1, 0, 10)
		return want(fmt.Sprint(len(records)), "1", err)
	})},
}

var observingUpdates = []observation{
	{"UpdateThatWritesNothing", inUpdate(writing("key"), nil)},
	{"UpdateThatOnlyChecks", inUpdate(kv.Intent{Check: keys("key")}, nil)},
	{"UpdateThatFails", inUpdate(writing("key"), errUnwanted)},
	{"TransactionThatWritesNothing", inUpdate(kv.Intent{Write: keys("key"), Transaction: true}, nil)},
	{"TransactionThatFails", inUpdate(kv.Intent{Check: keys("key"), Transaction: true}, errUnwanted)},
	{"UpdateThatIsTooLarge", func(ctx context.Context, s kv.Store) error {
		err := s.Update(ctx, writing("key"), func(txn kv.Txn) error {
			txn.Set(make([]byte, s.Limits().KeyBytes+1), nil)
			return wantNew(txn)
		})
		return wantError(err, kv.ErrTooLarge)
	}},
	{"UpdateThatIterates", func(ctx context.Context, s kv.Store) error {
		return s.Update(ctx, writing("other"), func(txn kv.Txn) error {
			return wantOne(txn.Iter([]byte("key"), []byte("kez"), kv.IterOptions{}))
		})
	}},
	{"UpdateThatCounts", func(ctx context.Context, s kv.Store) error {
		return s.Update(ctx, writing("other"), func(txn kv.Txn) error {
			sums, err := txn.Counter([]byte("count"))
			return want(fmt.Sprint(sums), "[1]", err)
		})
	}},
}

// inSnapshot observes through a snapshot.
func inSnapshot(observe func(kv.Snapshot) error) func(context.Context, kv.Store) error {
	return func(ctx context.Context, s kv.Store) error {
		snap, err := s.Snapshot(ctx)
		if err != nil {
			return err
		}
		return errors.Join(observe(snap), snap.Close())
	}
}

// inUpdate reads the key in an update, which then ends with result.
func inUpdate(in kv.Intent, result error) func(context.Context, kv.Store) error {
	return func(ctx context.Context, s kv.Store) error {
		err := s.Update(ctx, in, func(txn kv.Txn) error { return errors.Join(wantNew(txn), result) })
		return wantError(err, result)
	}
}

func wantNew(txn kv.Txn) error {
	value, err := txn.Get([]byte("key"))
	return want(string(value), "new", err)
}

func want(got, want string, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("read %q, want %q", got, want)
	}
	return err
}

func wantError(got, want error) error {
	if !errors.Is(got, want) {
		return fmt.Errorf("got the error %w, want %w", got, want)
	}
	return nil
}

// wantOne reads an iterator with one entry, whose value is "new".
func wantOne(it kv.Iterator) error {
	var got []byte
	for it.Next() {
		got = append(got, it.Value()...)
	}
	return errors.Join(want(string(got), "new", it.Err()), it.Close())
}

// prepare writes what the update in progress finds. A store may have to sync once before it can number records, so it also writes
// one.
func prepare(t *testing.T, s kv.Store) {
	update(t, s, writing("key", "gone"), func(txn kv.Txn) error {
		txn.Set([]byte("key"), []byte("old"))
		txn.Set([]byte("gone"), []byte("there"))
		txn.AppendLog(2, []byte("record"))
		return nil
	})
}

// underWay starts the observed update, and returns when it is visible. Its result arrives when it is durable.
func underWay(t *testing.T, s kv.Store) (result <-chan error) {
	ctx, done := background(t), make(chan error, 1)
	go func() {
		done <- s.Update(ctx, writing("key", "gone", "partition-a1"), func(txn kv.Txn) error {
			txn.Set([]byte("key"), []byte("new"))
			txn.Set([]byte("partition-a1"), []byte("new"))
			txn.Delete([]byte("gone"))
			txn.Add([]byte("count"), 1)
			txn.AppendLog(1, []byte("record"))
			return nil
		})
	}()
	for {
		value, err := s.Eventual().Get(ctx, []byte("key"))
		if err != nil {
			t.Fatal(err)
		}
		if string(value) == "new" {
			return done
		}
		runtime.Gosched()
	}
}

// testObservationsWait: while the disk syncs nothing, no call returns what an update in progress has done.
func testObservationsWait(t *testing.T, newDisk func(t *testing.T) Disk) {
	for _, o := range slices.Concat(observingReads, observingUpdates) {
		t.Run(o.name, func(t *testing.T) {
			d := newDisk(t)
			s := d.Open(t)
			prepare(t, s)
			release := d.HoldSyncs(t)
			updated := underWay(t, s)
			ctx, returned := background(t), make(chan error, 1)
			go func() { returned <- o.call(ctx, s) }()
			select {
			case err := <-returned:
				t.Errorf("it returned, with the error %v, before the update was synced", err)
				returned <- err
			case <-time.After(grace):
			}
			release()
			if err := errors.Join(<-updated, <-returned); err != nil {
				t.Error(err)
			}
			closeStore(t, s)
		})
	}
}

// testEventualReads: the reads of Eventual see an update that is visible, and do not wait for its sync.
func testEventualReads(t *testing.T, d Disk) {
	s := d.Open(t)
	prepare(t, s)
	release := d.HoldSyncs(t)
	updated := underWay(t, s)
	for _, o := range observingReads {
		if err := o.call(t.Context(), eventual{s, s.Eventual()}); err != nil {
			t.Errorf("%s: %v", o.name, err)
		}
	}
	release()
	if err := <-updated; err != nil {
		t.Error(err)
	}
	closeStore(t, s)
}

// eventual is a store that reads with Eventual.
type eventual struct {
	kv.Store
	reads kv.Reads
}

func (e eventual) Get(ctx context.Context, key []byte) ([]byte, error) { return e.reads.Get(ctx, key) }

func (e eventual) Counter(ctx context.Context, key []byte) ([]int64, error) {
	return e.reads.Counter(ctx, key)
}

func (e eventual) Iter(ctx context.Context, lo, hi []byte, o kv.IterOptions) (kv.Iterator, error) {
	return e.reads.Iter(ctx, lo, hi, o)
}

func (e eventual) Snapshot(ctx context.Context) (kv.Snapshot, error) { return e.reads.Snapshot(ctx) }
