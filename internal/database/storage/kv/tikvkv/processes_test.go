//go:build tikv

package tikvkv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
)

// The environment of a process of TestProcesses.
const (
	processAddress = "TIKVKV_TEST_ADDRESS"
	processNumber  = "TIKVKV_TEST_NUMBER"
)

const sharedItems = 4

func sharedKey(i int) []byte { return fmt.Appendf(nil, "shared%d", i) }
func sumKey(i int) []byte    { return fmt.Appendf(nil, "sum%d", i) }

// TestProcesses: three processes count in the same items, and one is killed while it does. What they have counted stands in the values, the counters
// and the logs alike, and a reader of the logs who goes on after what it has read misses none.
func TestProcesses(t *testing.T) {
	if at := os.Getenv(processAddress); at != "" {
		countAlong(t, at)
		return
	}
	at := address()
	s := openCore(t, at)
	children := make([]*exec.Cmd, 0, 3)
	for n := range 3 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$")
		child.Env = append(os.Environ(), processAddress+"="+at, processNumber+"="+strconv.Itoa(n))
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, child)
	}
	after, seen := [sharedItems]kv.Seq{}, [sharedItems]int{}
	follow := func() (total int) {
		for i := range sharedItems {
			records, through, err := s.ReadLog(t.Context(), kv.LogID(i), after[i], 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if n := int(binary.BigEndian.Uint64(r.Data)); n != seen[i]+1 {
					t.Fatalf("item %d: record %d comes after %d", i, n, seen[i])
				}
				seen[i]++
			}
			after[i] = through
			total += seen[i]
		}
		return total
	}
	killed := false
	for total := 0; total < 300; {
		if total = follow(); total > 100 && !killed {
			killed = true
			if err := children[0].Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if t.Context().Err() != nil {
			t.Fatal("they do not come on")
		}
	}
	for _, child := range children {
		_ = child.Process.Kill()
		_ = child.Wait()
	}
	for i := range sharedItems {
		value, err := s.Get(t.Context(), sharedKey(i)) // ends what the killed ones had begun
		if err != nil {
			t.Fatal(err)
		}
		for last := -1; seen[i] != last; {
			last = seen[i]
			follow()
		}
		sums, err := s.Counter(t.Context(), sumKey(i))
		if n := int(binary.BigEndian.Uint64(value)); err != nil || n != seen[i] || len(sums) != 1 || int(sums[0]) != n {
			t.Errorf("item %d: value %d, counter %v, %d records, %v", i, n, sums, seen[i], err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// countAlong counts in the items until the process is killed.
func countAlong(t *testing.T, at string) {
	t.Helper()
	s := openCore(t, at)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; t.Context().Err() == nil; i++ {
				if err := countIn(t.Context(), s, i%sharedItems); err != nil && !errors.Is(err, kv.ErrUndetermined) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// countIn raises an item, its counter and its log by one.
func countIn(ctx context.Context, s *tikvkv.Store, i int) error {
	k := sharedKey(i)
	return s.Update(ctx, kv.Intent{Write: [][]byte{k}}, func(txn kv.Txn) error {
		v, err := txn.Get(k)
		if err != nil {
			return err
		}
		n := uint64(1)
		if v != nil {
			n = binary.BigEndian.Uint64(v) + 1
		}
		next := binary.BigEndian.AppendUint64(nil, n)
		txn.Set(k, next)
		txn.Add(sumKey(i), 1)
		txn.AppendLog(kv.LogID(i), next) //nolint:gosec // small
		return nil
	})
}

// TestSteadyKey: an update that has seen a steady key does not commit after another process has changed it, and those that check it do not get
// in each other's way.
func TestSteadyKey(t *testing.T) {
	at := address()
	stores := []*tikvkv.Store{openCore(t, at), openCore(t, at)}
	version, copies := []byte("c-version"), func(g int) []byte { return fmt.Appendf(nil, "k%d", g) }
	change := func(s *tikvkv.Store, key []byte, n byte) {
		t.Helper()
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
			txn.Set(key, []byte{n})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change(stores[0], version, 1)
	// Each writer copies the version that it sees to a key of its own, which never goes back.
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for g := range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				k := copies(g)
				err := stores[g%2].Update(ctx, kv.Intent{Write: [][]byte{k}, Check: [][]byte{version}}, func(txn kv.Txn) error {
					v, err := txn.Get(version)
					if err != nil {
						return err
					}
					old, err := txn.Get(k)
					if err == nil && old != nil && old[0] > v[0] {
						err = fmt.Errorf("version %d after %d", v[0], old[0])
					}
					txn.Set(k, v)
					return err
				})
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for n := byte(2); n < 6; n++ {
		change(stores[n%2], version, n)
		for g := range 4 { // whoever commits from now on has seen n
			change(stores[0], copies(g), n)
		}
	}
	cancel()
	writers.Wait()
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
