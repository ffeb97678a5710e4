package cli

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spareProcessors is how many goroutines a server under load runs in parallel beyond one per core. The operating system then
	// shares the cores among their threads.
	//
	// Go's scheduler polls the network only when a processor has nothing else to do, and every 10 ms. While long
	// operations, compactions and the collector keep all processors busy, a small request waits for that, and the Go
	// scheduler has no priorities. With a few more, there is nearly always a thread that waits for the network, and the
	// operating system soon gives it a core. On two cores under `make overload` the p99 of small requests was 23 ms with
	// two, 16 ms with three, 13 ms with four and 9 ms with six; the p50 1.7 ms with two and 0.7 ms with six.
	spareProcessors = 4

	// readProcessors and writeProcessors are how many goroutines a server with one core runs in parallel while it only reads, and
	// while it writes. With more threads, each one's turn on the core is longer than a small request: get reached 50 % of the echo
	// with five, 56 % with two and 67 % with one, with a p99 of 19, 7 and 2 ms. With one, each commit that waits for the
	// disk holds the processor for a while: put reached a third of what it reaches with two. See bench/README.md.
	readProcessors, writeProcessors = 1, 2

	// calmAfter is how long there must have been no long operation, flush or compaction before the spare processors are removed, and
	// few writes before the second one is. Adding processors stops the program for 15 µs, removing them for 75 µs.
	calmAfter = time.Second

	// writesMin is from how many writes in calmAfter on a server counts as writing. The server itself writes its metrics once a
	// minute, which gave reads a p99 of 5 ms instead of 1.2 for up to two seconds.
	writesMin = 3
)

// processors controls how many goroutines a server runs in parallel. It is safe for concurrent use.
type processors struct {
	cores int       // for long work
	set   func(int) // runtime.GOMAXPROCS; nil if the number never changes

	writes atomic.Int32 // since noteWrites last ran; not counted beyond writesMin, so that concurrent writes do not contend for it

	mu      sync.Mutex
	long    int         // operations, flushes and compactions in progress
	raised  bool        // the spare processors are there, or about to be added
	calm    *time.Timer // removes them
	noting  bool        // noteWrites is about to run
	writing bool        // there have been at least writesMin writes recently

	setting sync.Mutex // held while the number is being set, which may take as long as a garbage collection
	number  int        // the current number
}

// tuneProcessors sets the initial number. A GOMAXPROCS in the environment is left as it is.
func tuneProcessors(getenv func(string) string) *processors {
	cores := runtime.GOMAXPROCS(0)
	switch {
	case getenv("GOMAXPROCS") != "":
		return &processors{cores: cores}
	case cores == 1:
		return newProcessors(cores, func(n int) { runtime.GOMAXPROCS(n) })
	default:
		runtime.GOMAXPROCS(cores + spareProcessors)
		return &processors{cores: cores}
	}
}

// newProcessors starts with readProcessors, and changes the number with set.
func newProcessors(cores int, set func(int)) *processors {
	p := &processors{cores: cores, set: set}
	p.adjust()
	return p
}

// longOperation records that a long operation, a flush or a compaction begins or ends. The spare processors are added with the
// first, and removed when there has been none for a while. It does not wait for either.
func (p *processors) longOperation(begins bool) {
	if p.set == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if begins {
		p.long++
		if !p.raised {
			p.raised = true
			go p.adjust()
		}
		return
	}
	p.long--
	switch {
	case p.long > 0:
	case p.calm == nil:
		p.calm = time.AfterFunc(calmAfter, p.lower)
	default:
		p.calm.Reset(calmAfter)
	}
}

// lower removes the spare processors, unless a long operation has begun.
func (p *processors) lower() {
	p.mu.Lock()
	p.raised = p.long > 0
	p.mu.Unlock()
	p.adjust()
}

// write records a write.
func (p *processors) write() {
	if p.set == nil || p.writes.Load() >= writesMin {
		return
	}
	n := p.writes.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.noting {
		p.noting = true
		time.AfterFunc(calmAfter, p.noteWrites)
	}
	if n >= writesMin && !p.writing {
		p.writing = true
		go p.adjust()
	}
}

// noteWrites runs from time to time while there are writes, and adjusts the number when there have been few since it last ran.
func (p *processors) noteWrites() {
	p.mu.Lock()
	n := p.writes.Swap(0)
	p.writing = n >= writesMin
	p.noting = n > 0
	if p.noting {
		time.AfterFunc(calmAfter, p.noteWrites)
	}
	p.mu.Unlock()
	p.adjust()
}

// adjust sets the number that is needed now.
func (p *processors) adjust() {
	p.setting.Lock()
	defer p.setting.Unlock()
	p.mu.Lock()
	number := readProcessors
	switch {
	case p.raised:
		number = p.cores + spareProcessors
	case p.writing:
		number = writeProcessors
	}
	p.mu.Unlock()
	if number != p.number {
		p.number = number
		p.set(number)
	}
}
