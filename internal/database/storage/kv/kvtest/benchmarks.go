package kvtest

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	benchmarkItems     = 100_000
	benchmarkItemBytes = 1000
	benchmarkScan      = 20
)

// Benchmark measures the typical operations of a database on its store, with 100,000 items of a kilobyte: one read, a scan of 20
// items, a write (an item, a counter, a log record, under a check that all writes share) from one and from 32 goroutines, and a
// transaction of five such writes. open returns an empty store; the benchmark closes it.
func Benchmark(b *testing.B, open func(b *testing.B) kv.Store) {
	b.Helper()
	s := open(b)
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	for from := 0; from < benchmarkItems; from += 1000 {
		benchmarkWrite(b, s, uint64(from), 1000, false)
	}
	b.Run("Get", func(b *testing.B) { benchmarkParallel(b, 1, benchmarkGet(s)) })
	b.Run("GetAbsent", func(b *testing.B) { benchmarkParallel(b, 1, benchmarkGetAbsent(s)) })
	b.Run("Scan20", func(b *testing.B) { benchmarkParallel(b, 1, benchmarkScan20(s)) })
	for _, w := range []struct {
		name    string
		writers int
		n       int
	}{{"Put1", 1, 1}, {"Put32", 32, 1}, {"Transaction1", 1, 5}, {"Transaction32", 32, 5}} {
		b.Run(w.name, func(b *testing.B) {
			write := func(b *testing.B, i uint64) {
				b.Helper()
				benchmarkWrite(b, s, i, w.n, w.n > 1)
			}
			if w.writers == 1 {
				for b.Loop() {
					write(b, rand.Uint64N(benchmarkItems))
				}
				return
			}
			benchmarkParallel(b, w.writers, write)
		})
	}
}

// benchmarkParallel runs op in a number of goroutines, at least one for each processor.
func benchmarkParallel(b *testing.B, goroutines int, op func(b *testing.B, i uint64)) {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(max(1, goroutines/runtime.GOMAXPROCS(0)))
	var stream atomic.Uint64
	b.RunParallel(func(pb *testing.PB) {
		rng := rand.New(rand.NewPCG(1, stream.Add(1)))
		for pb.Next() {
			op(b, rng.Uint64N(benchmarkItems))
		}
	})
}

// benchmarkKey distributes keys over the key space like hashed partition keys.
func benchmarkKey(dst []byte, i uint64) []byte {
	dst = append(dst, "d\x00\x00\x00\x01\x00\x00"...)
	dst = binary.BigEndian.AppendUint64(dst, i*0x9E3779B97F4A7C15)
	return append(dst, "customer#0123456789\x00order#"...)
}

func benchmarkGet(s kv.Store) func(*testing.B, uint64) {
	return func(b *testing.B, i uint64) {
		b.Helper()
		v, err := s.Get(b.Context(), benchmarkKey(make([]byte, 0, 64), i))
		if len(v) != benchmarkItemBytes || err != nil {
			b.Fatal(len(v), err)
		}
	}
}

func benchmarkGetAbsent(s kv.Store) func(*testing.B, uint64) {
	return func(b *testing.B, i uint64) {
		b.Helper()
		v, err := s.Get(b.Context(), append(benchmarkKey(make([]byte, 0, 64), i), 'x'))
		if v != nil || err != nil {
			b.Fatal(v, err)
		}
	}
}

func benchmarkScan20(s kv.Store) func(*testing.B, uint64) {
	return func(b *testing.B, i uint64) {
		b.Helper()
		snap, err := s.Snapshot(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		it := snap.Iter(benchmarkKey(make([]byte, 0, 64), i), nil, kv.IterOptions{Limit: benchmarkScan})
		n := 0
		for n < benchmarkScan && it.Next() {
			n += len(it.Value()) / benchmarkItemBytes
		}
		if it.Close() != nil || snap.Close() != nil {
			b.Error("closing")
		}
	}
}

func benchmarkWrite(b *testing.B, s kv.Store, i uint64, n int, transaction bool) {
	b.Helper()
	version := []byte("version of the table")
	in := kv.Intent{Check: [][]byte{version}, Transaction: transaction, FailOnTransaction: true}
	for j := range uint64(n) {
		in.Write = append(in.Write, benchmarkKey(make([]byte, 0, 64), (i+j)%benchmarkItems))
	}
	value := make([]byte, benchmarkItemBytes)
	for at := 0; at < len(value); at += 8 { // half as compressible as text
		binary.LittleEndian.PutUint32(value[at:], rand.Uint32())
	}
	for {
		err := s.Update(b.Context(), in, func(txn kv.Txn) error {
			if _, err := txn.Get(version); err != nil {
				return err
			}
			for _, k := range in.Write {
				if _, err := txn.Get(k); err != nil {
					return err
				}
				txn.Set(k, value)
				txn.AppendLog(1, value)
			}
			txn.Add([]byte("statistics"), int64(n), benchmarkItemBytes)
			return nil
		})
		if err == nil {
			return
		}
		if !transaction {
			b.Fatal(err)
		}
	}
}
