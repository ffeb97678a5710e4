package pebblekv_test

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

func BenchmarkStore(b *testing.B) { benchmark(b, pebblekv.Options{}) }

func BenchmarkEncrypted(b *testing.B) { benchmark(b, encrypting(pebblekv.Options{})) }

func benchmark(b *testing.B, o pebblekv.Options) {
	b.Helper()
	kvtest.Benchmark(b, func(b *testing.B) kv.Store {
		b.Helper()
		o.Logger = slog.New(slog.DiscardHandler)
		s, err := pebblekv.Open(b.TempDir(), o)
		if err != nil {
			b.Fatal(err)
		}
		return s
	})
}

// BenchmarkEncryptionCost compares two stores on one disk in alternating rounds, so that other load on the machine affects both:
// the slowdown of puts by encryption, as median and quartiles of all rounds.
func BenchmarkEncryptionCost(b *testing.B) {
	const each = 2000
	for name, writers := range map[string]int{"Put1": 1, "Put32": 32} {
		b.Run(name, func(b *testing.B) {
			var stores [2]*pebblekv.Store
			for i, o := range []pebblekv.Options{{}, encrypting(pebblekv.Options{})} {
				o.Logger = slog.New(slog.DiscardHandler)
				var err error
				if stores[i], err = pebblekv.Open(b.TempDir(), o); err != nil {
					b.Fatal(err)
				}
			}
			var ratios []float64
			for turn := 0; b.Loop(); turn++ {
				var took [2]time.Duration
				for i := range stores {
					which := (i + turn) % len(stores)
					begun := time.Now()
					putMany(b, stores[which], writers, each*(1+writers)/33)
					took[which] = time.Since(begun)
				}
				ratios = append(ratios, took[1].Seconds()/took[0].Seconds())
			}
			slices.Sort(ratios)
			for at, unit := range []string{"", "longer-quarter", "longer-middle", "longer-three-quarters"} {
				if unit != "" {
					b.ReportMetric(100*(ratios[at*(len(ratios)-1)/4]-1), unit+"-%")
				}
			}
			for _, s := range stores {
				if err := s.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}

func putMany(b *testing.B, s kv.Store, writers, n int) {
	b.Helper()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			value := make([]byte, 1000)
			for range max(1, n/writers) {
				key := []byte("k" + time.Duration(rand.Int64N(1_000_000)).String())
				for at := 0; at < len(value); at += 2 { // roughly as compressible as text
					value[at] = byte(rand.Uint32())
				}
				err := s.Update(b.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
					txn.Set(key, value)
					return nil
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}
