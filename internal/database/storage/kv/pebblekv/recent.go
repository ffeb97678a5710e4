package pebblekv

import (
	"math/bits"
	"sync/atomic"
)

const (
	// recentShare is the part of the block cache's size that recent values may take in addition.
	recentShare = 16
	// recentValueBytes is the largest value that is kept: larger ones cost more than finding them.
	recentValueBytes = 4 << 10
	// recentSlotBytes is the memory for each slot.
	recentSlotBytes = 512
	// recentOverhead is the memory of an entry beyond its key and value.
	recentOverhead = 96
)

// recent holds the values that Get read last, each in a slot that is chosen by the stripe of its key. Pebble takes a third of the
// processor time of a GetItem to find one among the memtables and tables; here it is one comparison. See bench/README.md.
//
// An entry holds for as long as no commit of its stripe has begun since the moment before its value was read, when none was in
// progress. So it contains only what is synced, and reads of it wait for nothing. Commits do nothing for it: unsynced counts them
// before they become visible.
//
// A nil recent is always empty. It is used by stores that promise no durability, because they count no commits.
type recent struct {
	unsynced *unsynced
	slots    []atomic.Pointer[recentEntry] // a power of two, at most stripeCount
	limit    int64                         // of bytes
	bytes    atomic.Int64
	hand     atomic.Uint32 // the slot whose value was last removed to make room
}

// recentEntry is immutable.
type recentEntry struct {
	key   string
	value []byte
	at    moment
}

func (e *recentEntry) size() int64 {
	if e == nil {
		return 0
	}
	return int64(len(e.key) + len(e.value) + recentOverhead)
}

// newRecent returns a cache for a store whose block cache has a size.
func newRecent(u *unsynced, cacheBytes int64) *recent {
	limit := cacheBytes / recentShare
	slots := min(max(limit/recentSlotBytes, 64), stripeCount)
	return &recent{unsynced: u, slots: make([]atomic.Pointer[recentEntry], 1<<(bits.Len64(uint64(slots))-1)), limit: limit} //nolint:gosec // not negative
}

func (c *recent) slot(n uint32) *atomic.Pointer[recentEntry] {
	return &c.slots[int(n)&(len(c.slots)-1)]
}

// recentPlace is where a value that was not found can be kept.
type recentPlace struct {
	cache *recent
	slot  *atomic.Pointer[recentEntry]
	at    moment
}

// get returns a copy of a value, or nil and its place, which has to be taken before the value is read elsewhere.
func (c *recent) get(key []byte) (value []byte, place recentPlace) {
	if c == nil {
		return nil, recentPlace{}
	}
	stripe := c.unsynced.stripe(key)
	slot := c.slot(stripe)
	e := slot.Load()
	now, quiet := c.unsynced.moment(stripe)
	switch {
	case e != nil && e.at == now && e.key == string(key):
		return append(make([]byte, 0, len(e.value)), e.value...), recentPlace{}
	case !quiet:
		return nil, recentPlace{}
	}
	return nil, recentPlace{c, slot, now}
}

// keep keeps a copy of a value that was read after the place was taken.
func (p recentPlace) keep(key, value []byte) {
	if p.cache == nil || value == nil || len(value) > recentValueBytes {
		return
	}
	size := int64(len(key) + len(value) + recentOverhead)
	for tries := 0; p.cache.bytes.Load()+size-p.slot.Load().size() > p.cache.limit; tries++ {
		if tries == 16 {
			return
		}
		p.cache.put(p.cache.slot(p.cache.hand.Add(1)), nil)
	}
	p.cache.put(p.slot, &recentEntry{key: string(key), value: append(make([]byte, 0, len(value)), value...), at: p.at})
}

// put replaces the entry of a slot.
func (c *recent) put(slot *atomic.Pointer[recentEntry], e *recentEntry) {
	c.bytes.Add(e.size() - slot.Swap(e).size())
}
