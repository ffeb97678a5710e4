package pebblekv

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// recentRangeBytes is the size of the keys and values of the largest range that is kept.
	recentRangeBytes = 32 << 10
	// recentRangeSlotBytes is the limit divided by the number of slots.
	recentRangeSlotBytes = 4 << 10
	// boundsBytes is enough for most pairs of bounds.
	boundsBytes = 256
)

// errPastLimit: see kv.Reads.
var errPastLimit = errors.New("pebblekv: a range is read beyond its limit")

// recentRanges caches the ranges that were read last. A range belongs to the stripe of the prefix of its keys, which counts the
// commits of all keys with that prefix; ranges of several prefixes are not kept. The first read of a range only leaves its hash,
// so that ranges that are read once, such as the pages of a scan, are not copied.
type recentRanges struct {
	*recent
	missed []atomic.Uint32 // for each slot, the hash of the range that was last missing there; its complement if the range is too large
}

func newRecentRanges(u *unsynced, cacheBytes int64) *recentRanges {
	c := newRecent(u, cacheBytes, recentRangeSlotBytes)
	return &recentRanges{recent: c, missed: make([]atomic.Uint32, len(c.slots))}
}

// find returns an iterator over a cached range, or nil and the recording of the read that follows, which may be nil, too.
func (c *recentRanges) find(lo, hi []byte, o kv.IterOptions) (*recentIterator, *recording) {
	prefix, ok := commonPrefix(lo, hi)
	if c == nil || !ok {
		return nil, nil
	}
	var buffer [boundsBytes]byte
	key := appendBounds(buffer[:0], lo, hi, o.Reverse)
	stripe, hash := c.unsynced.stripe(prefix), uint32(maphash.Bytes(c.unsynced.seed, key)) //nolint:gosec // the lower half
	e, place := c.entry(hash, stripe, key)
	switch {
	case e != nil && e.serves(o.Limit):
		return &recentIterator{entry: e, at: -2}, nil
	case place.cache == nil:
		return nil, nil
	}
	missed := &c.missed[c.at(hash)]
	switch before := missed.Load(); {
	case before == ^hash:
		return nil, nil
	case e == nil && before != hash:
		missed.Store(hash)
		return nil, nil
	}
	r := recordings.Get().(*recording) //nolint:forcetypeassert // the pool contains nothing else
	*r = recording{place: place, stripe: stripe, hash: hash, missed: missed, bounds: string(key), limit: o.Limit, data: r.data[:0], ends: r.ends[:0]}
	return nil, r
}

// appendBounds appends the bounds of a range, and whether it is read in reverse.
func appendBounds(dst, lo, hi []byte, reverse bool) []byte {
	if reverse {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(lo)))
	dst = append(dst, lo...)
	return append(dst, hi...)
}

// serves reports whether a range holds all entries that a reader with a limit may read.
func (e *recentEntry) serves(limit int) bool {
	return e.whole || limit > 0 && 2*limit <= len(e.ends)
}

// recording collects a range while it is read.
type recording struct {
	place  recentPlace
	stripe uint32
	hash   uint32
	missed *atomic.Uint32 // of the hash
	bounds string
	limit  int // of the reader
	data   []byte
	ends   []uint32
}

// recordings keeps their memory for the next ones.
var recordings = sync.Pool{New: func() any { return new(recording) }}

// add adds an entry. It returns false if the range has become too large. Then the range is not recorded again.
func (r *recording) add(key, value []byte) bool {
	if len(r.data)+len(key)+len(value) > recentRangeBytes {
		r.missed.Store(^r.hash)
		return false
	}
	r.data = append(r.data, key...)
	r.ends = append(r.ends, uint32(len(r.data))) //nolint:gosec // at most recentRangeBytes
	r.data = append(r.data, value...)
	r.ends = append(r.ends, uint32(len(r.data))) //nolint:gosec // at most recentRangeBytes
	return true
}

// end caches what was read, if that is the whole range or as much as the reader wanted, and nothing was committed meanwhile.
func (r *recording) end(whole bool) {
	if (whole || r.limit > 0 && 2*r.limit <= len(r.ends)) && r.place.isCurrent(r.stripe) {
		r.place.keep(&recentEntry{
			key: r.bounds, since: r.place.since, value: slices.Concat(r.data), ends: slices.Concat(r.ends), whole: whole,
		})
	}
	r.discard()
}

// discard ends the recording without caching anything.
func (r *recording) discard() {
	r.place, r.missed, r.bounds = recentPlace{}, nil, ""
	recordings.Put(r)
}

// recentIterator iterates over a cached range.
type recentIterator struct {
	entry *recentEntry
	at    int // index in entry.ends of the current key; -2 before the first
	err   error
	close func()
}

// Next implements kv.Iterator.
func (it *recentIterator) Next() bool {
	if it.at < len(it.entry.ends) {
		it.at += 2
	}
	if it.at < len(it.entry.ends) {
		return true
	}
	if !it.entry.whole {
		it.err = errPastLimit
	}
	return false
}

// Key implements kv.Iterator.
func (it *recentIterator) Key() []byte {
	from, to := uint32(0), it.entry.ends[it.at]
	if it.at > 0 {
		from = it.entry.ends[it.at-1]
	}
	return it.entry.value[from:to:to]
}

// Value implements kv.Iterator.
func (it *recentIterator) Value() []byte {
	from, to := it.entry.ends[it.at], it.entry.ends[it.at+1]
	return it.entry.value[from:to:to]
}

// Err implements kv.Iterator.
func (it *recentIterator) Err() error { return it.err }

// Close implements kv.Iterator.
func (it *recentIterator) Close() error {
	if it.close != nil {
		it.close()
		it.close = nil
	}
	return nil
}
