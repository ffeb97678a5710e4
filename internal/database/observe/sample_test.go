package observe

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestSample tests that requests are kept from the first call on, in order, for their tables only, and only while someone
// observes them.
func TestSample(t *testing.T) {
	t.Parallel()
	d := New("Op")
	s, now := &d.Sample, time.Unix(1000, 0)
	add := func(id string, tables ...string) {
		r := &Request{ID: id, ReadUnits: 1.5}
		for _, name := range tables {
			r.On(d.Table(name), name)
		}
		s.Add(r, SampledRequest{Operation: "Op", Input: []byte(`{}`)}, now)
	}
	watch := func(table string, after, wantNext uint64, want ...string) {
		t.Helper()
		found, next, watched := s.Watch(table, after, now)
		var ids []string
		for i := range found {
			ids = append(ids, found[i].ID)
		}
		if !watched || next != wantNext || fmt.Sprint(ids) != fmt.Sprint(want) {
			t.Errorf("%s after %d: %v, next %d, %v; want %v, next %d", table, after, ids, next, watched, want, wantNext)
		}
	}
	add("before", "a")
	if s.On() {
		t.Error("sampling is on although no client watches")
	}
	watch("a", 0, 0)
	if !s.On() {
		t.Error("sampling is off although a client watches")
	}
	add("1", "a")
	add("other", "b")
	add("2", "b", "a")
	s.Add(&Request{ID: "no table"}, SampledRequest{}, now)
	watch("a", 0, 2, "1", "2")
	watch("a", 2, 2)
	now = now.Add(SampleFor)
	add("3", "a")
	watch("a", 2, 3, "3")
	now = now.Add(SampleFor + 1)
	add("late", "b")
	if s.On() {
		t.Error("sampling is still on although no client has watched for a while")
	}
	watch("a", 3, 0)
}

// TestSampleIsBounded tests that at most sampleMax requests with sampleBytes of inputs are kept per table, the latest, and for
// SampleTables tables.
func TestSampleIsBounded(t *testing.T) {
	t.Parallel()
	d := New("Op")
	s, now := &d.Sample, time.Unix(1000, 0)
	for i := range SampleTables {
		if _, _, watched := s.Watch(fmt.Sprint(i), 0, now); !watched {
			t.Fatalf("table %d is not watched", i)
		}
	}
	if _, _, watched := s.Watch("one more", 0, now); watched {
		t.Error("more tables are watched than allowed")
	}
	for size, want := range map[int]int{10: sampleMax, 64 << 10: sampleBytes / (64 << 10)} {
		r := &Request{}
		r.On(d.Table("0"), "0")
		for range sampleMax + 500 {
			s.Add(r, SampledRequest{Input: make([]byte, size)}, now)
		}
		found, next, _ := s.Watch("0", 0, now)
		if len(found) != want {
			t.Errorf("%d requests of %d bytes are kept, want %d", len(found), size, want)
		}
		if after, _, _ := s.Watch("0", next-1, now); len(after) != 1 {
			t.Errorf("%d requests after the last but one", len(after))
		}
	}
	if _, _, watched := s.Watch("one more", 0, now.Add(SampleFor+1)); !watched {
		t.Error("tables that are no longer watched are not removed")
	}
}

// TestSampleConcurrently tests that requests can be added and read concurrently, and each is read once, unless it was
// replaced.
func TestSampleConcurrently(t *testing.T) {
	t.Parallel()
	d := New("Op")
	s, now := &d.Sample, time.Unix(1000, 0)
	s.Watch("a", 0, now)
	const writers, each = 4, 2000
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				r := &Request{}
				r.On(d.Table("a"), "a")
				s.Add(r, SampledRequest{Input: []byte("{}")}, now)
			}
		})
	}
	read, after := 0, uint64(0)
	look := func() {
		found, next, watched := s.Watch("a", after, now)
		if !watched || next < after || uint64(len(found)) > next-after {
			t.Errorf("%d requests after %d, next %d", len(found), after, next)
		}
		read, after = read+len(found), next
	}
	for range 50 {
		look()
	}
	wg.Wait()
	look()
	if after != writers*each || read == 0 || read > writers*each {
		t.Errorf("%d of %d requests were read, the next is %d", read, writers*each, after)
	}
}

// BenchmarkSampleOff measures the cost per request while no table is observed.
func BenchmarkSampleOff(b *testing.B) {
	d := New("Op")
	for b.Loop() {
		if d.Sample.On() {
			b.Fatal("on")
		}
	}
}
