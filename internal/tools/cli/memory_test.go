package cli

import (
	"testing"
)

func TestByteSize(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1": "1B", "1000": "1KB", "512MiB": "512MiB", "2048MiB": "2GiB", "3 KiB": "3KiB", "1TiB": "1TiB", "1MB": "1MB", "1023": "1023B",
	} {
		var size byteSize
		if err := size.Set(text); err != nil || size.String() != want {
			t.Errorf("%q: %s, %v, want %s", text, &size, err, want)
		}
	}
}

// TestMemoryPlan tests that the parts leave half of the limit for uncounted memory, at every limit.
func TestMemoryPlan(t *testing.T) {
	for _, limit := range []int64{minMemory, 4 << 30, 64 << 30} {
		p, err := planMemory(limit, 0)
		if err != nil {
			t.Fatal(err)
		}
		if parts := p.cache + memTables*p.memTable + p.writes + p.requests; parts > limit/2 || p.limit != limit {
			t.Errorf("%d: %+v takes %d", limit, p, parts)
		}
		outside := int64(0)
		if hasC {
			outside = p.cache + memTables*p.memTable
		}
		if all := p.heapLimit() + outside + programMemory; all > limit || all < limit*9/10-1 {
			t.Errorf("%d: the collector's limit is %d, so that all memory would be %d", limit, p.heapLimit(), all)
		}
	}
	for limit, want := range map[int64]int64{1 << 30: 128 << 20, 8 << 30: 1408 << 20, 64 << 30: 19328 << 20} {
		if p, err := planMemory(limit, 0); err != nil || p.cache != want {
			t.Errorf("the cache of %d: %d, %v, want %d", limit, p.cache, err, want)
		}
	}
	if p, err := planMemory(1<<30, 500<<20); err != nil || p.cache != 500<<20 {
		t.Errorf("a cache of its own: %+v, %v", p, err)
	}
	p, err := planMemory(0, 0)
	if err != nil || p.limit < smallestMemory {
		t.Errorf("of this machine: %+v, %v", p, err)
	}
}
