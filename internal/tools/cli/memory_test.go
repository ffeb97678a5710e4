package cli

import (
	"testing"
)

func TestByteSize(t *testing.T) {
	for text, want := range map[string]struct {
		bytes int64
		shown string
	}{
		"0": {0, "0"}, "1": {1, "1"}, "1000": {1000, "1000"}, "512MB": {512 << 20, "512MB"}, "512 MiB": {512 << 20, "512MB"},
		"2gb": {2 << 30, "2GB"}, "2048MB": {2 << 30, "2GB"}, "3kb": {3 << 10, "3KB"}, "1TB": {1 << 40, "1TB"},
	} {
		var size byteSize
		if err := size.Set(text); err != nil || int64(size) != want.bytes || size.String() != want.shown {
			t.Errorf("%q: %d (%s), %v, want %d (%s)", text, size, &size, err, want.bytes, want.shown)
		}
	}
	for _, text := range []string{"", "MB", "-1", "1.5GB", "1PB", "9999999999TB", "lots"} {
		if err := new(byteSize).Set(text); err == nil {
			t.Errorf("%q is taken for a size", text)
		}
	}
}

// TestMemoryPlan: the parts leave half of the limit for what nobody counts, at every limit.
func TestMemoryPlan(t *testing.T) {
	for _, limit := range []int64{minMemory, 1 << 30, 4 << 30, 64 << 30} {
		p, err := planMemory(limit, 0)
		if err != nil {
			t.Fatal(err)
		}
		if parts := p.cache + memTables*p.memTable + p.writes + p.requests; parts > limit/2 || p.limit != limit {
			t.Errorf("%d: %+v takes %d", limit, p, parts)
		}
	}
	if p, err := planMemory(1<<30, 500<<20); err != nil || p.cache != 500<<20 {
		t.Errorf("a cache of its own: %+v, %v", p, err)
	}
	p, err := planMemory(0, 0)
	if err != nil || p.limit < minMemory {
		t.Errorf("of this machine: %+v, %v", p, err)
	}
}
