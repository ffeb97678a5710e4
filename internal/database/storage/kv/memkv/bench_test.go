package memkv_test

import (
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = memkv.New()
	}
}

func BenchmarkStore(b *testing.B) {
	kvtest.Benchmark(b, func(*testing.B) kv.Store { return memkv.New() })
}
