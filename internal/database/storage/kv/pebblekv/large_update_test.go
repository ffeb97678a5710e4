package pebblekv_test

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/crashfs"
)

// largeFrom is the size of a large update in these tests.
const largeFrom = 1 << 10

// TestLargeAndSmallUpdates: large and small updates of the same keys, counters and log take effect in order, each with the last
// write of a key, and survive a power failure.
func TestLargeAndSmallUpdates(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	disk := memoryDisk{pebblekv.Options{MemTableBytes: 64 << 10}.WithLargeUpdates(largeFrom), crashfs.New()}
	s := disk.open(t, "/srv/db")
	values, sums, records := map[string]string{}, map[string]int64{}, []string{}
	for round := range 300 {
		large := random.IntN(2) == 0
		var in kv.Intent
		for k := range 20 {
			in.Write = append(in.Write, fmt.Appendf(nil, "k%d", k))
		}
		err := s.Update(t.Context(), in, func(txn kv.Txn) error {
			for range 1 + random.IntN(8) {
				k, v := string(in.Write[random.IntN(len(in.Write))]), fmt.Sprint(random.Uint64())
				if large {
					v = strings.Repeat(v, 1+largeFrom/len(v))
				}
				txn.Set([]byte(k), []byte(v))
				values[k] = v
				if random.IntN(3) == 0 {
					txn.Delete([]byte(k))
					delete(values, k)
				}
				sum := fmt.Sprint("sum", random.IntN(3))
				txn.Add([]byte(sum), int64(round))
				sums[sum] += int64(round)
				records = append(records, v)
				txn.AppendLog(1, []byte(v))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if random.IntN(20) == 0 {
			disk = disk.crash(random)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = disk.open(t, "/srv/db")
		}
		expectContent(t, s, round, values, sums)
	}
	expectRecords(t, s, records)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestUpdatesOfManyBatches: an update of several batches, committed as one or as tables, has the last write of each key, every
// addition, and its log records in order.
func TestUpdatesOfManyBatches(t *testing.T) {
	for _, size := range []int{3 << 20, 9 << 20} { // below and above the size of a large update
		disk := memoryDisk{pebblekv.Options{}, crashfs.New()}
		s := disk.open(t, "/srv/db")
		values, sums, records := map[string]string{}, map[string]int64{}, []string{}
		in := kv.Intent{Write: [][]byte{[]byte("k0"), []byte("k1"), []byte("k2")}}
		err := s.Update(t.Context(), in, func(txn kv.Txn) error {
			for n, written := 0, 0; written < size; n++ {
				k, v := fmt.Sprint("k", n%3), strings.Repeat(fmt.Sprintf("%08d", n), 40<<10/8)
				txn.Set([]byte(k), []byte(v))
				txn.Add([]byte("sum"), int64(n))
				record := fmt.Sprint("record ", n)
				txn.AppendLog(1, []byte(record))
				values[k], records = v, append(records, record)
				sums["sum"] += int64(n)
				written += len(v)
				if got, err := txn.Get([]byte(k)); string(got) != v || err != nil {
					return fmt.Errorf("the update reads %.30q, %w, where it wrote %.30q", got, err, v)
				}
			}
			txn.Delete([]byte("k2"))
			delete(values, "k2")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		disk = disk.crash(rand.New(rand.NewPCG(1, 1)))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = disk.open(t, "/srv/db")
		expectContent(t, s, 0, values, sums)
		expectRecords(t, s, records)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func expectContent(t *testing.T, s *pebblekv.Store, round int, values map[string]string, sums map[string]int64) {
	t.Helper()
	for k := range 20 {
		key := fmt.Sprint("k", k)
		if got, err := s.Get(t.Context(), []byte(key)); string(got) != values[key] || err != nil {
			t.Fatalf("round %d: %s is %.30q, %v, want %.30q", round, key, got, err, values[key])
		}
	}
	for key, want := range sums {
		if got, err := s.Counter(t.Context(), []byte(key)); err != nil || len(got) != 1 || got[0] != want {
			t.Fatalf("round %d: %s is %d, %v, want %d", round, key, got, err, want)
		}
	}
}

func expectRecords(t *testing.T, s *pebblekv.Store, want []string) {
	t.Helper()
	var got []string
	for after := kv.Seq(0); ; {
		records, _, err := s.ReadLog(t.Context(), 1, after, len(want)+1)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			break
		}
		for _, r := range records {
			got = append(got, string(r.Data))
		}
		after = records[len(records)-1].Seq
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log has %d records, want %d, or they differ", len(got), len(want))
	}
}

// heldTables blocks the creation of updates' tables, and signals when it has begun.
type heldTables struct{ begun, proceed chan struct{} }

func (h heldTables) MaybeError(op errorfs.Op) error {
	if op.Kind == errorfs.OpCreate && strings.Contains(op.Path, "/making/update-") {
		select {
		case h.begun <- struct{}{}:
			<-h.proceed
		case <-h.proceed:
		}
	}
	return nil
}

func (h heldTables) String() string { return "(held tables)" }

// largeSet is an update that makes a key's value, and a record, as large as a large update.
func largeSet(t *testing.T, s *pebblekv.Store, key string) error {
	t.Helper()
	return s.Update(t.Context(), intent(key), func(txn kv.Txn) error {
		txn.Set([]byte(key), make([]byte, largeFrom))
		txn.AppendLog(1, []byte(key))
		return nil
	})
}

// TestOthersDoNotWaitForLargeUpdate: while a large update writes its table, other keys can be updated and read. Its changes are
// not visible, and logs cannot be read beyond it.
func TestOthersDoNotWaitForLargeUpdate(t *testing.T) {
	held := heldTables{make(chan struct{}), make(chan struct{})}
	o := pebblekv.Options{FS: errorfs.Wrap(vfs.NewMem(), held), Logger: slog.New(slog.DiscardHandler)}.WithLargeUpdates(largeFrom)
	s := open(t, "/db", o)
	done := make(chan error, 1)
	go func() { done <- largeSet(t, s, "large") }()
	<-held.begun
	err := s.Update(t.Context(), intent("small"), func(txn kv.Txn) error {
		txn.Set([]byte("small"), []byte("v"))
		txn.AppendLog(1, []byte("small"))
		return nil
	})
	small, err1 := s.Get(t.Context(), []byte("small"))
	large, err2 := s.Get(t.Context(), []byte("large"))
	records, _, err3 := s.ReadLog(t.Context(), 1, 0, 10)
	if err := errors.Join(err, err1, err2, err3); err != nil || string(small) != "v" || large != nil || len(records) > 0 {
		t.Errorf("meanwhile: %q, %d bytes, %v, %v", small, len(large), records, err)
	}
	close(held.proceed)
	if err := <-done; err != nil {
		t.Error(err)
	}
	expectRecords(t, s, []string{"large", "small"})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLargeUpdateFails: wherever writing the table of a large update fails, nothing of the update is there, and the store,
// including the log, continues.
func TestLargeUpdateFails(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
		failed := 0
		for nth, hit := 0, true; hit; nth++ {
			memory := vfs.NewMem()
			spared := []errorfs.OpKind{errorfs.OpRemoveAll, errorfs.OpLink, errorfs.OpRemove}
			disk := &refusal{err: cause, about: func(op errorfs.Op) bool {
				return !slices.Contains(spared, op.Kind) && strings.Contains(op.Path, "/making")
			}}
			s := open(t, "/db", pebblekv.Options{
				FS: errorfs.Wrap(memory, disk), Logger: slog.New(slog.DiscardHandler),
			}.WithLargeUpdates(largeFrom))
			disk.arm(nth)
			err := largeSet(t, s, "large")
			hit = disk.disarm()
			var records []string
			if !hit {
				records = []string{"large"}
			} else {
				failed++
			}
			full := hit && errors.Is(cause, syscall.ENOSPC)
			if errors.Is(err, cause) != hit || errors.Is(err, kv.ErrUndetermined) || errors.Is(err, kv.ErrFull) != full {
				t.Errorf("write %d refused with %v: %v", nth, cause, err)
			}
			if value, err := s.Get(t.Context(), []byte("large")); (value == nil) != hit || err != nil {
				t.Errorf("write %d refused: %d bytes are there, %v", nth, len(value), err)
			}
			expectEmpty(t, memory, "/db/making")
			if err := largeSet(t, s, "next"); err != nil {
				t.Error(err)
			}
			expectRecords(t, s, append(records, "next"))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if nth > 1000 {
				t.Fatal("no end of writes")
			}
		}
		if failed < 5 {
			t.Errorf("the disk refused only %d times", failed)
		}
	}
}

// TestLargeUpdateUndetermined: whatever write in Pebble's own directory fails while the table of an update is ingested, the
// update is there after a crash if it was acknowledged, and never in part.
func TestLargeUpdateUndetermined(t *testing.T) {
	failed := 0
	for nth, hit := 0, true; hit; nth++ {
		memory := vfs.NewCrashableMem()
		disk := &refusal{err: syscall.EIO, about: func(op errorfs.Op) bool { return strings.HasPrefix(op.Path, "/db/pebble") }}
		o := pebblekv.Options{
			FS: badFS{errorfs.Wrap(memory, disk)}, Logger: slog.New(slog.DiscardHandler),
		}.WithLargeUpdates(largeFrom)
		s := open(t, "/db", o)
		set(t, s, "large", "small") // so that the table overlaps a memtable
		disk.arm(nth)
		err := largeSet(t, s, "large")
		hit = disk.disarm()
		records, _, reading := s.ReadLog(t.Context(), 1, 0, 10)
		if err != nil {
			failed++
			if !errors.Is(err, syscall.EIO) || len(records) > 0 {
				t.Errorf("write %d refused: %v; the log has %v", nth, err, records)
			}
		}
		crashed := memory.CrashClone(vfs.CrashCloneCfg{})
		closing := s.Close() // may return the failure
		if reading = cmp.Or(reading, closing); err == nil && reading != nil && !errors.Is(reading, syscall.EIO) {
			t.Error(reading)
		}
		o.FS = crashed
		s = open(t, "/db", o)
		value, err1 := s.Get(t.Context(), []byte("large"))
		records, _, err2 := s.ReadLog(t.Context(), 1, 0, 10)
		if errors.Join(err1, err2) != nil || (len(value) == largeFrom) != (len(records) == 1) || err == nil && len(records) == 0 {
			t.Errorf("write %d refused, %v: then %d bytes, %v and %v, %v", nth, err, len(value), err1, records, err2)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if nth > 1000 {
			t.Fatal("no end of writes")
		}
	}
	if failed < 3 {
		t.Errorf("the disk refused only %d times", failed)
	}
}
