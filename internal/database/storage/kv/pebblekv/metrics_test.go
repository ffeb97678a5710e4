package pebblekv

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

func TestStalls(t *testing.T) {
	var s stalls
	start := time.Now()
	expect := func(at time.Duration, count int64, total time.Duration, stalled bool) {
		t.Helper()
		if c, d, now := s.read(start.Add(at)); c != count || d != total || now != stalled {
			t.Errorf("after %v: %d stalls, %v, %v", at, c, d, now)
		}
	}
	expect(0, 0, 0, false)
	s.begin(start.Add(time.Second))
	expect(3*time.Second, 1, 2*time.Second, true)
	s.end(start.Add(4 * time.Second))
	expect(10*time.Second, 1, 3*time.Second, false)
}

// TestTableBytesOut: what is written to tables does not contain what is written to the log, of which Pebble has a total that does.
func TestTableBytesOut(t *testing.T) {
	s, err := Open("/db", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte("key")}}, func(tx kv.Txn) error {
		tx.Set([]byte("key"), bytes.Repeat([]byte("compresses well "), 1<<14))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	m := s.Metrics()
	if size := m.Disk[observe.DiskTables]; m.TableBytesOut != size || size >= m.LogBytesOut {
		t.Errorf("%d bytes written to tables of %d bytes, %d to the log", m.TableBytesOut, size, m.LogBytesOut)
	}
}

// TestSyncs: Pebble's histogram has different buckets, in nanoseconds.
func TestSyncs(t *testing.T) {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Buckets: []float64{0, 100e3, 200e3, 1e6, 5e6, 20e9}})
	for _, d := range []time.Duration{150 * time.Microsecond, 900 * time.Microsecond, 4 * time.Millisecond, 15 * time.Second} {
		h.Observe(float64(d))
	}
	d := syncs(h)
	if d.Count != 4 || math.Abs(d.Sum.Seconds()-15.00505) > 1e-6 {
		t.Errorf("%d syncs of %v", d.Count, d.Sum)
	}
	for i, bound := range observe.Buckets {
		want := uint64(3)
		switch {
		case bound < 200*time.Microsecond:
			want = 0
		case bound < time.Millisecond:
			want = 1
		case bound < 5*time.Millisecond:
			want = 2
		}
		if d.UpTo[i] != want {
			t.Errorf("up to %v: %d, want %d", bound, d.UpTo[i], want)
		}
	}
}
