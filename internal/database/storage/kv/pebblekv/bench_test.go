package pebblekv_test

import (
	"log/slog"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

func BenchmarkStore(b *testing.B) {
	kvtest.Benchmark(b, func(b *testing.B) kv.Store {
		b.Helper()
		s, err := pebblekv.Open(b.TempDir(), pebblekv.Options{
			Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			b.Fatal(err)
		}
		return s
	})
}
