package postgreskv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// TestFailover kills the primary while sixteen writers count, and promotes its synchronous standby. No acknowledged write is
// lost, the store continues by itself, and each count is in its value, its counter and its log.
func TestFailover(t *testing.T) {
	primary, err := postgrestest.Start("wal_level = replica", "synchronous_standby_names = '*'", "synchronous_commit = local")
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Remove()
	standby, err := primary.Standby("synchronous_standby_names = ''")
	if err != nil {
		t.Fatal(err)
	}
	defer standby.Remove()
	address := postgrestest.URL("failover", primary, standby) + "&synchronous_commit=on&connect_timeout=2"
	s, err := postgreskv.Open(t.Context(), address, postgreskv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const writers = 16
	var acknowledged, attempted [writers]atomic.Uint64
	var undetermined atomic.Int32
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var all sync.WaitGroup
	halt := make(chan struct{})
	for w := range writers {
		all.Go(func() {
			for {
				select {
				case <-halt:
					return
				default:
				}
				n := attempted[w].Add(1)
				err := counted(ctx, s, w, n)
				switch {
				case err == nil:
					acknowledged[w].Store(n)
				case errors.Is(err, kv.ErrUndetermined):
					undetermined.Add(1)
				default:
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	reach(t, acknowledged[:], 30)
	primary.Kill()
	if err := standby.Promote(); err != nil {
		t.Fatal(err)
	}
	reach(t, acknowledged[:], 30)
	close(halt)
	all.Wait()
	t.Logf("%d commits were undetermined", undetermined.Load())
	for w := range writers {
		// The value is the last one written; the counter and the log include each acknowledged write once, and each
		// unacknowledged one at most once.
		value, err := s.Get(ctx, key("item%d", w))
		count, err2 := s.Counter(ctx, key("count%d", w))
		records, _, err3 := s.ReadLog(ctx, kv.LogID(w), 0, math.MaxInt)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		seen := map[uint64]int{}
		for _, r := range records {
			seen[binary.BigEndian.Uint64(r.Data)]++
		}
		last := acknowledged[w].Load()
		if got := binary.BigEndian.Uint64(value); got < last || got > attempted[w].Load() || len(count) != 1 || count[0] != int64(len(records)) || len(seen) != len(records) {
			t.Errorf("writer %d: value %d after %d was acknowledged, counter %v, %d records of %d", w, got, last, count, len(records), len(seen))
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func key(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }

// counted writes a number to a value, adds it to a counter and appends it to a log.
func counted(ctx context.Context, s kv.Store, w int, n uint64) error {
	k := key("item%d", w)
	return s.Update(ctx, kv.Intent{Write: [][]byte{k}}, func(txn kv.Txn) error {
		value := binary.BigEndian.AppendUint64(nil, n)
		txn.Set(k, value)
		txn.Add(key("count%d", w), 1)
		txn.AppendLog(kv.LogID(w), value)
		return nil
	})
}

// reach waits until each writer has a number of further acknowledgements.
func reach(t *testing.T, acknowledged []atomic.Uint64, more uint64) {
	t.Helper()
	for w := range acknowledged {
		for until := acknowledged[w].Load() + more; acknowledged[w].Load() < until; {
			if t.Failed() || t.Context().Err() != nil {
				t.Fatal("the writers do not come on")
			}
			<-time.After(10 * time.Millisecond) // there is no signal for it
		}
	}
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

// TestUnusableServersAreRejected tests that an address without a server, a server that loses acknowledged writes, and tables of a newer program
// are rejected, with errors that say what to do.
func TestUnusableServersAreRejected(t *testing.T) {
	for name, c := range map[string]struct{ address, want string }{
		"no server": {"postgres://postgres@/postgres?host=/nowhere", "no such file"},
		"no URL":    {"postgres://[", "parse"},
	} {
		if s, err := postgreskv.Open(t.Context(), c.address, postgreskv.Options{}); err == nil || !contains(err, c.want) {
			t.Errorf("%s: %v, %v; want %q", name, s, err, c.want)
		}
	}
	careless, err := postgrestest.Start("fsync = off")
	if err != nil {
		t.Fatal(err)
	}
	defer careless.Remove()
	if _, err := postgreskv.Open(t.Context(), postgrestest.URL("any", careless), postgreskv.Options{}); err == nil || !contains(err, "fsync is off") {
		t.Errorf("a server that does not sync: %v", err)
	}
}

// TestProcesses tests that three processes can share a store, of which one is killed.
func TestProcesses(t *testing.T) {
	address := func() string { return postgrestest.URL(schema(), server) }
	kvtest.RunProcesses(t, 600, address, func(t *testing.T, address string) kv.Core {
		t.Helper()
		s, err := postgreskv.Open(t.Context(), address, postgreskv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
