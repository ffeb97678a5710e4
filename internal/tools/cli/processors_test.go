package cli

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTuneProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, test := range []struct {
		chosen      string
		cores, want int
	}{
		{cores: 3, want: 3 + spareProcessors},
		{cores: 1, want: readProcessors},
		{chosen: "3", cores: 3, want: 3},
		{chosen: "1", cores: 1, want: 1},
	} {
		runtime.GOMAXPROCS(test.cores)
		p := tuneProcessors(func(string) string { return test.chosen })
		if got := runtime.GOMAXPROCS(0); p.cores != test.cores || got != test.want {
			t.Errorf("with GOMAXPROCS %q in the environment: %d cores, GOMAXPROCS %d, want %d and %d", test.chosen, p.cores, got, test.cores, test.want)
		}
	}
}

// oneCore returns the processors of a server with one core, and a function that compares the numbers that were set.
func oneCore(t *testing.T) (p *processors, want func(when string, numbers ...int)) {
	t.Helper()
	var mu sync.Mutex
	var set []int
	record := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		set = append(set, n)
	}
	return newProcessors(1, record), func(when string, numbers ...int) {
		t.Helper()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(set, numbers) {
			t.Errorf("%s: set to %v, want %v", when, set, numbers)
		}
	}
}

// TestProcessorsFollowLongOperations tests that the spare processors are added with the first long operation and
// removed a while after the last. Operations in close succession change nothing.
func TestProcessorsFollowLongOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, want := oneCore(t)
		want("at first", readProcessors)
		p.longOperation(true)
		want("with one", readProcessors, 1+spareProcessors)
		p.longOperation(true)
		p.longOperation(false)
		<-time.After(2 * calmAfter)
		want("with one of two", readProcessors, 1+spareProcessors)
		for range 10 {
			p.longOperation(false)
			<-time.After(calmAfter - 1)
			p.longOperation(true)
		}
		<-time.After(2 * calmAfter)
		want("with one after the other", readProcessors, 1+spareProcessors)
		p.longOperation(false)
		<-time.After(calmAfter)
		want("without any for a while", readProcessors, 1+spareProcessors, readProcessors)
		p.longOperation(true)
		p.longOperation(false)
		want("again", readProcessors, 1+spareProcessors, readProcessors, 1+spareProcessors)
		<-time.After(calmAfter)
		want("in the end", readProcessors, 1+spareProcessors, readProcessors, 1+spareProcessors, readProcessors)
	})
}

// TestProcessorsFollowWrites tests that a server with one core has a second processor while there are several writes a second, and
// for a while afterwards.
func TestProcessorsFollowWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, want := oneCore(t)
		want("at first", readProcessors)
		for range 10 {
			for range writesMin - 1 {
				p.write()
			}
			<-time.After(calmAfter + 1)
		}
		want("with few writes", readProcessors)
		<-time.After(2 * calmAfter)
		for range 10 {
			for range writesMin {
				p.write()
			}
			<-time.After(calmAfter / 2)
		}
		<-time.After(calmAfter / 4)
		want("with writes", readProcessors, writeProcessors)
		p.longOperation(true)
		p.longOperation(false)
		want("with a flush", readProcessors, writeProcessors, 1+spareProcessors)
		<-time.After(calmAfter)
		want("without any for a while", readProcessors, writeProcessors, 1+spareProcessors, readProcessors)
	})
}
