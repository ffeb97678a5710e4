package kvtest

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// processAddress is the environment variable by which RunProcesses tells a process that it started where the store is.
	processAddress = "KVTEST_PROCESS_ADDRESS"
	sharedItems    = 3
)

// IsProcess tells TestMain that RunProcesses has started this process, for which the store's server runs already.
func IsProcess() bool { return os.Getenv(processAddress) != "" }

// RunProcesses tests a store that several processes share: three count in the same items, and one is killed meanwhile. The values, the
// counters and the logs have the same count, and a reader that follows the logs misses no record. It ends after a number of updates.
//
// The processes run the test binary again with nothing but the calling test, which must do nothing before the call. address is called by the first process only.
func RunProcesses(t *testing.T, updates int, address func() string, open func(t *testing.T, address string) kv.Core) {
	t.Helper()
	if at := os.Getenv(processAddress); at != "" {
		countUntilKilled(t, open(t, at))
		return
	}
	at := address()
	s := open(t, at)
	var children []*exec.Cmd
	for range 3 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this program
		child.Env = append(os.Environ(), processAddress+"="+at)
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, child)
	}
	f := &itemFollower{t: t, store: s}
	killed := false
	for total := 0; total < updates; {
		if total = f.follow(); total > updates/3 && !killed {
			killed = true
			if err := children[0].Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if t.Context().Err() != nil {
			t.Fatal("the processes make no progress")
		}
	}
	for _, child := range children {
		_ = child.Process.Kill()
		_ = child.Wait()
	}
	f.compare()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// itemFollower reads the logs of the items.
type itemFollower struct {
	t     *testing.T
	store kv.Core
	after [sharedItems]kv.Seq
	seen  [sharedItems]int
}

// follow reads on, and returns how many records it has read in all.
func (f *itemFollower) follow() (total int) {
	f.t.Helper()
	for i := range sharedItems {
		records, through, err := f.store.ReadLog(f.t.Context(), kv.LogID(i), f.after[i], 7) //nolint:gosec // small
		if err != nil {
			f.t.Fatal(err)
		}
		for _, r := range records {
			if n := int(binary.BigEndian.Uint64(r.Data)); n != f.seen[i]+1 { //nolint:gosec // small
				f.t.Fatalf("item %d: record %d comes after %d", i, n, f.seen[i])
			}
			f.seen[i]++
		}
		f.after[i] = through
		total += f.seen[i]
	}
	return total
}

// compare compares values, counters and logs when the processes are gone. An update that one of them had begun ends before this
// one's if both have the same key. One of another key may go on for a moment, and until it ends the logs can be read up to its start.
func (f *itemFollower) compare() {
	f.t.Helper()
	for i := range sharedItems {
		var value []byte
		var end kv.Seq // above all records of the item
		err := f.store.Update(f.t.Context(), kv.Intent{Write: [][]byte{key("shared%d", i)}}, func(txn kv.Txn) (err error) {
			value, err = txn.Get(key("shared%d", i))
			end = txn.LogSeq()
			return err
		})
		if err != nil {
			f.t.Fatal(err)
		}
		for f.after[i] < end-1 {
			f.follow()
		}
		sums, err := f.store.Counter(f.t.Context(), key("sum%d", i))
		if n := int(binary.BigEndian.Uint64(value)); err != nil || n != f.seen[i] || len(sums) != 1 || int(sums[0]) != n { //nolint:gosec // small
			f.t.Errorf("item %d: value %d, counter %v, %d records, %v", i, n, sums, f.seen[i], err)
		}
	}
}

// countUntilKilled counts until the process is killed.
func countUntilKilled(t *testing.T, s kv.Core) {
	t.Helper()
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := w; ; i++ {
				if err := countIn(t.Context(), s, i); err != nil && !errors.Is(err, kv.ErrUndetermined) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// countIn raises an item, its counter and its log by one.
func countIn(ctx context.Context, s kv.Core, i int) error {
	item := i % sharedItems
	k := key("shared%d", item)
	return s.Update(ctx, kv.Intent{Write: [][]byte{k}, Transaction: i%5 == 0}, func(txn kv.Txn) error {
		value, err := txn.Get(k)
		n := uint64(1)
		if value != nil {
			n += binary.BigEndian.Uint64(value)
		}
		next := binary.BigEndian.AppendUint64(nil, n)
		txn.Set(k, next)
		txn.Add(key("sum%d", item), 1)
		txn.AppendLog(kv.LogID(item), next) //nolint:gosec // small
		return err
	})
}
