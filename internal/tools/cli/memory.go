package cli

import (
	"fmt"
	"math"
	"runtime/debug"
	"strconv"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/monotable/monotable"
)

const (
	// gcPercent lets the heap of a store on disk grow further than Go's default between collections. What is
	// alive there is a few megabytes, and the items and pages read last; with the default of 100 a server under load collected every 4 MB.
	gcPercent = 400

	// minMemory is the memory for the largest write and the minimum of everything else.
	minMemory = 1 << 30
	// smallestMemory is the assumed minimum memory of a container or machine.
	smallestMemory = 256 << 20

	// programMemory is what the pages of the program take, which count as the process's memory: code and constants, mapped from its file.
	programMemory = 64 << 20

	// heapRatio leaves room for what the collector does not count, and for late collections.
	heapRatio = 0.9

	// The parts of a container's and of a machine's memory that the server uses.
	containerRatio = 0.9
	machineRatio   = 0.5

	// Bounds of values derived from the memory: more does not make writes faster.
	memTableMax    = 32 << 20
	memTables      = 4
	compactionsMax = 8
	writeMemoryMax = 1 << 30
)

// byteSize is a number of bytes in a flag, see parseSize.
type byteSize int64

// Set reads a size.
func (b *byteSize) Set(text string) error {
	n, err := parseSize(text)
	*b = byteSize(n)
	return err
}

// String is the size in the largest unit that divides it, preferring binary units.
func (b *byteSize) String() string {
	if *b == 0 {
		return "0"
	}
	for _, unit := range []int{3, 2, 1, 0, 7, 6, 5, 4} { // TiB to KiB, TB to KB
		if u := sizeUnits[unit]; int64(*b)%u.bytes == 0 {
			return strconv.FormatInt(int64(*b)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*b), 10) + "B"
}

// Type is the type's name in help texts.
func (*byteSize) Type() string { return "size" }

// availableMemory is the memory that the server may use: most of its container's, or half of its machine's.
func availableMemory() (int64, error) {
	bytes, err := memlimit.ApplyRatio(memlimit.FromCgroup, containerRatio)()
	if err != nil || bytes > math.MaxInt64/2 { // no container, or one without a limit
		bytes, err = memlimit.ApplyRatio(memlimit.FromSystem, machineRatio)()
	}
	if err != nil {
		return 0, fmt.Errorf("determine the memory of this machine: %w (use --memory-limit)", err)
	}
	return max(int64(bytes)>>20<<20, smallestMemory), nil
}

// memoryPlan divides the memory limit among its users:
//
//	1/8   cache, and what the next two leave of their parts
//	1/16  memtables, up to memTableMax each
//	1/8   batches of writes, up to writeMemoryMax
//	3/16  requests
//	1/2   the rest: one largest write, twice while its batch grows; values and ranges read last, at most an eighth of the cache's
//	      size; what waits to be flushed; connections; garbage; the program
//
// In a build with C the first two are outside Go's heap, as is always a part of what the collector's limit leaves.
type memoryPlan struct {
	limit, cache, memTable, writes, requests int64
	processors                               *processors // nil leaves settings that depend on cores at their defaults
}

// planMemory divides a limit; 0 means the available memory. A cache of 0 means its part of the limit.
func planMemory(limit, cache int64) (memoryPlan, error) {
	if limit == 0 {
		var err error
		if limit, err = availableMemory(); err != nil {
			return memoryPlan{}, err
		}
	} else if limit < minMemory {
		return memoryPlan{}, fmt.Errorf("--memory-limit %s: want at least %s", (*byteSize)(&limit), new(byteSize(minMemory)))
	}
	if cache > limit/2 {
		return memoryPlan{}, fmt.Errorf("--cache-size %s: want at most half of the memory limit, which is %s", (*byteSize)(&cache), (*byteSize)(&limit))
	}
	p := memoryPlan{
		limit: limit, cache: cache,
		memTable: min(limit/16/memTables, memTableMax),
		writes:   min(limit/8, writeMemoryMax),
		requests: limit / 16 * 3,
	}
	if cache == 0 {
		p.cache = limit/2 - memTables*p.memTable - p.writes - p.requests
	}
	return p, nil
}

func (p memoryPlan) apply(o *monotable.Options) {
	o.CacheSize, o.MemTableSize, o.WriteMemory, o.RequestMemory = p.cache, int(p.memTable), p.writes, p.requests
	if p.processors != nil {
		cores := p.processors.cores
		o.Compactions = min(max(2, cores/2), compactionsMax)
		o.LargeOperations, o.OnLongOperation, o.OnWrite = max(2, cores), p.processors.longOperation, p.processors.write
	}
}

// tuneCollector sets the collector for a store, as far as the environment does not. A store in memory gets Go's
// defaults: its data is in the heap, which should not take five times its size, and may be all there is.
func (p memoryPlan) tuneCollector(getenv func(string) string, memory bool) {
	percent := gcPercent
	if memory {
		percent = 100
	}
	if getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if getenv("GOMEMLIMIT") == "" && !memory {
		debug.SetMemoryLimit(p.heapLimit())
	}
}

// heapLimit is the limit for Go's collector. Pebble allocates its cache and its memtables with C if there is C, and otherwise, as in
// releases, in Go's heap.
func (p memoryPlan) heapLimit() int64 {
	heap := p.limit - programMemory
	if hasC {
		heap -= p.cache + memTables*p.memTable
	}
	return int64(heapRatio * float64(heap))
}
