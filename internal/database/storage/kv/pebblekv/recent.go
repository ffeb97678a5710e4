package pebblekv

import (
	"math/bits"
	"sync/atomic"
)

const (
	// recentShare: recent values may use this fraction of the block cache's size, in addition to it.
	recentShare = 16
	// recentValueBytes is the size of the largest value that is kept. Copying larger ones costs more than finding them.
	recentValueBytes = 4 << 10
	// recentSlotBytes is the limit divided by the number of slots.
	recentSlotBytes = 512
	// recentOverhead is the memory of an entry beyond its key and value.
	recentOverhead = 96
	// recentEvictions limits the slots that are emptied to make room for a value.
	recentEvictions = 16
)

// recent caches the values that Get read last. The hash of a key selects its slot. Finding a value in memtables and tables takes a
// third of the processor time of a GetItem; finding it here takes one comparison. See bench/README.md.
//
// A value is cached with the progress of its stripe before it was read, and only if no commit was in progress then. The entry is
// valid while the progress is the same, that is, until the next commit of the stripe begins. Commits count themselves in unsynced
// before they become visible, so they need not touch the cache. All that it returns is synced.
//
// A nil recent is always empty. Stores that promise no durability use it, because they do not count commits.
type recent struct {
	unsynced *unsynced
	slots    []atomic.Pointer[recentEntry] // a power of two, at most stripeCount
	limit    int64                         // of bytes
	bytes    atomic.Int64
	hand     atomic.Uint32 // the slot that was last emptied to make room
}

// recentEntry is immutable.
type recentEntry struct {
	key   string
	value []byte
	since progress
}

func (e *recentEntry) size() int64 {
	if e == nil {
		return 0
	}
	return int64(len(e.key) + len(e.value) + recentOverhead)
}

// newRecent returns a cache for a store with a block cache of cacheBytes.
func newRecent(u *unsynced, cacheBytes int64) *recent {
	limit := cacheBytes / recentShare
	slots := min(max(limit/recentSlotBytes, 64), stripeCount)
	return &recent{unsynced: u, slots: make([]atomic.Pointer[recentEntry], 1<<(bits.Len64(uint64(slots))-1)), limit: limit} //nolint:gosec // not negative
}

func (c *recent) slot(n uint32) *atomic.Pointer[recentEntry] {
	return &c.slots[int(n)&(len(c.slots)-1)]
}

// recentPlace is where a missing value can be cached. The zero value is nowhere.
type recentPlace struct {
	cache *recent
	slot  *atomic.Pointer[recentEntry]
	since progress
}

// get returns a copy of a value, or nil and its place. The caller must get the place before it reads the value elsewhere.
func (c *recent) get(key []byte) (value []byte, place recentPlace) {
	if c == nil {
		return nil, recentPlace{}
	}
	stripe := c.unsynced.stripe(key)
	slot := c.slot(stripe)
	e := slot.Load()
	now, quiet := c.unsynced.progress(stripe)
	switch {
	case e != nil && e.since == now && e.key == string(key):
		return append(make([]byte, 0, len(e.value)), e.value...), recentPlace{}
	case !quiet:
		return nil, recentPlace{}
	}
	return nil, recentPlace{c, slot, now}
}

// keep caches a copy of a value.
func (p recentPlace) keep(key, value []byte) {
	if p.cache == nil || value == nil || len(value) > recentValueBytes {
		return
	}
	size := int64(len(key) + len(value) + recentOverhead)
	for tries := 0; p.cache.bytes.Load()+size-p.slot.Load().size() > p.cache.limit; tries++ {
		if tries == recentEvictions {
			return
		}
		p.cache.put(p.cache.slot(p.cache.hand.Add(1)), nil)
	}
	p.cache.put(p.slot, &recentEntry{key: string(key), value: append(make([]byte, 0, len(value)), value...), since: p.since})
}

// put replaces the entry of a slot.
func (c *recent) put(slot *atomic.Pointer[recentEntry], e *recentEntry) {
	c.bytes.Add(e.size() - slot.Swap(e).size())
}
