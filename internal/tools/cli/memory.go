package cli

import "runtime/debug"

const (
	// gcPercent lets the heap of a store on disk grow further than Go's default between collections. What is
	// alive there is a few megabytes; with the default of 100 a server under load collected every 4 MB.
	gcPercent = 400
	// memoryLimit bounds what gcPercent allows where the store's cache and memtables, at most half of it,
	// are in the heap as well, as in a program built without cgo.
	memoryLimit = 1 << 30
)

// tuneCollector sets the collector for a store on disk, as far as the environment leaves it open. A store in
// memory keeps Go's defaults: its data is the heap, and that should not take five times its size.
func tuneCollector(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
