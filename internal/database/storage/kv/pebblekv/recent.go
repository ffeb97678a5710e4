package pebblekv

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync/atomic"
)

const (
	// recentShare: values and ranges may each use this fraction of the block cache's size, in addition to it.
	recentShare = 16
	// recentOverhead is the memory of an entry beyond its key and value.
	recentOverhead = 128
	// recentEvictions limits the slots that are emptied to make room for an entry.
	recentEvictions = 16

	// recentValueBytes is the size of the largest value that is kept. Copying larger ones costs more than finding them.
	recentValueBytes = 4 << 10
	// recentValueSlotBytes is the limit divided by the number of slots.
	recentValueSlotBytes = 512
)

// recent caches what was read last: single values, or short ranges. Finding a value in memtables and tables takes a third of the
// processor time of a GetItem, and reading twenty entries a fifth of that of a Query; finding either here takes two comparisons.
// See bench/README.md.
//
// An entry is cached with the progress of its stripe before it was read, and only if no commit was in progress then. The entry is
// valid while the progress is the same, that is, until the next commit of the stripe begins. Commits count themselves in unsynced
// before they become visible, so they need not touch the cache. All that it returns is synced.
//
// A hash selects two adjacent slots, either of which may hold the entry. With one, a seventh of 20,000 values in 65,536 slots kept
// displacing each other.
//
// A nil recent is always empty. Stores that promise no durability use it, because they do not count commits.
type recent struct {
	unsynced *unsynced
	slots    []atomic.Pointer[recentEntry] // a power of two
	limit    int64                         // of bytes
	bytes    atomic.Int64
	hand     atomic.Uint32 // the slot that was last emptied to make room
}

// recentEntry is immutable. Iterators hand out parts of it, which their callers must not change.
type recentEntry struct {
	key   string
	since progress
	value []byte
	ends  []uint32 // only for a range: where the keys and values in value end, alternately
	whole bool     // only for a range: it has no further entries
}

func (e *recentEntry) size() int64 {
	if e == nil {
		return 0
	}
	return int64(len(e.key) + len(e.value) + 4*len(e.ends) + recentOverhead)
}

// newRecent returns a cache for a store with a block cache of cacheBytes.
func newRecent(u *unsynced, cacheBytes, slotBytes int64) *recent {
	limit := cacheBytes / recentShare
	slots := min(max(limit/slotBytes, 64), stripeCount)
	return &recent{unsynced: u, slots: make([]atomic.Pointer[recentEntry], 1<<(bits.Len64(uint64(slots))-1)), limit: limit} //nolint:gosec // not negative
}

// recentPlace is where a missing entry can be cached. The zero value is nowhere.
type recentPlace struct {
	cache *recent
	slot  *atomic.Pointer[recentEntry]
	since progress
}

// at returns the first slot of a hash. The other one differs in the lowest bit.
func (c *recent) at(hash uint32) int { return int(hash) & (len(c.slots) - 1) }

// entry returns the entry of a key or nil, and its place, which the caller must get before it reads the entry elsewhere.
func (c *recent) entry(hash, stripe uint32, key []byte) (*recentEntry, recentPlace) {
	now, quiet := c.unsynced.progress(stripe)
	if !quiet {
		return nil, recentPlace{}
	}
	at := c.at(hash)
	one, other := &c.slots[at], &c.slots[at^1]
	a, b := one.Load(), other.Load()
	switch {
	case a.is(key, now):
		return a, recentPlace{c, one, now}
	case b.is(key, now):
		return b, recentPlace{c, other, now}
	case a == nil || a.key == string(key):
		return nil, recentPlace{c, one, now}
	case b == nil || b.key == string(key) || rand.Uint32()&1 == 0: //nolint:gosec // any will do
		return nil, recentPlace{c, other, now}
	}
	return nil, recentPlace{c, one, now}
}

// is reports whether an entry belongs to a key and is valid.
func (e *recentEntry) is(key []byte, now progress) bool {
	return e != nil && e.since == now && e.key == string(key)
}

// isCurrent reports whether an entry at the place would still be valid.
func (p recentPlace) isCurrent(stripe uint32) bool {
	now, _ := p.cache.unsynced.progress(stripe)
	return now == p.since
}

// keep caches an entry, unless there is no room.
func (p recentPlace) keep(e *recentEntry) {
	if e.size() > p.cache.limit {
		return
	}
	for tries := 0; p.cache.bytes.Load()+e.size()-p.slot.Load().size() > p.cache.limit; tries++ {
		if tries == recentEvictions {
			return
		}
		p.cache.put(&p.cache.slots[p.cache.at(p.cache.hand.Add(1))], nil)
	}
	p.cache.put(p.slot, e)
}

// put replaces the entry of a slot.
func (c *recent) put(slot *atomic.Pointer[recentEntry], e *recentEntry) {
	c.bytes.Add(e.size() - slot.Swap(e).size())
}

// find returns a value, which the caller must not change, or nil and its place, which the caller must get before it reads the value
// elsewhere.
func (c *recent) find(key []byte) (value []byte, place recentPlace) {
	if c == nil {
		return nil, recentPlace{}
	}
	stripe := c.unsynced.stripe(key)
	e, place := c.entry(stripe, stripe, key)
	if e == nil {
		return nil, place
	}
	return slices.Clip(e.value), recentPlace{}
}

// get returns a copy of what find returns.
func (c *recent) get(key []byte) (value []byte, place recentPlace) {
	value, place = c.find(key)
	if value == nil {
		return nil, place
	}
	return append(make([]byte, 0, len(value)), value...), recentPlace{}
}

// keepValue caches a copy of a value.
func (p recentPlace) keepValue(key, value []byte) {
	if p.cache != nil && value != nil && len(value) <= recentValueBytes {
		p.keep(&recentEntry{key: string(key), value: append(make([]byte, 0, len(value)), value...), since: p.since})
	}
}
