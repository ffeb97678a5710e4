// Package overlay holds the writes of an update in progress, so that the update reads its own writes before they are in the
// store.
//
// Writes are a short list in call order; the last one for a key counts. Point reads search the list linearly while it is short
// and index it when it grows. An iterator sorts the writes of its range once and merges them with the store's iterator.
package overlay

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
)

// indexFrom is the number of writes from which an index by key is worth the hashing.
const indexFrom = 24

// Writes are the writes of one update. The zero value is empty. Keys and values are not copied and must not change until Reset.
type Writes struct {
	list []write
	// index is an open hash table of the last write of each key: its position in list, plus one; 0 is a free slot. It is empty while
	// the list is short, and at most half full. A map would allocate for each update: 8 KB for 25 puts with two indexes.
	index []int
}

var seed = maphash.MakeSeed()

// write is a key's new value, or nil for a deletion.
type write struct {
	key, value []byte
}

// Set records a non-nil value for the key.
func (w *Writes) Set(key, value []byte) { w.add(write{key, value}) }

// Delete records the deletion of the key.
func (w *Writes) Delete(key []byte) { w.add(write{key, nil}) }

// Len returns the number of writes, including overwritten ones.
func (w *Writes) Len() int { return len(w.list) }

// All calls yield with every write in order; value is nil for a deletion.
func (w *Writes) All(yield func(key, value []byte) bool) {
	for i := range w.list {
		if !yield(w.list[i].key, w.list[i].value) {
			return
		}
	}
}

// keptWrites is how many writes Reset keeps the memory of.
const keptWrites = 1024

// Reset removes all writes. It keeps the memory of the list and the index, unless there were very many.
func (w *Writes) Reset() {
	if cap(w.list) > keptWrites {
		*w = Writes{}
		return
	}
	clear(w.list)
	w.list, w.index = w.list[:0], w.index[:0]
}

// Get returns the key's value and true if the key was written; the value is nil if that was a deletion.
func (w *Writes) Get(key []byte) ([]byte, bool) {
	if len(w.index) > 0 {
		at := *w.slot(key)
		if at == 0 {
			return nil, false
		}
		return w.list[at-1].value, true
	}
	for _, x := range slices.Backward(w.list) {
		if bytes.Equal(x.key, key) {
			return x.value, true
		}
	}
	return nil, false
}

func (w *Writes) add(x write) {
	w.list = append(w.list, x)
	n := len(w.list)
	switch {
	case n < indexFrom:
	case 2*n <= len(w.index):
		*w.slot(x.key) = n
	default:
		size := 1 << bits.Len(uint(4*n))
		w.index = slices.Grow(w.index[:0], size)[:size]
		clear(w.index)
		for i := range w.list {
			*w.slot(w.list[i].key) = i + 1
		}
	}
}

// slot returns the key's slot in the index: the one with its last write, or a free one.
func (w *Writes) slot(key []byte) *int {
	last := uint64(len(w.index) - 1) // of a power of two
	for i := maphash.Bytes(seed, key); ; i++ {
		slot := &w.index[i&last]
		if *slot == 0 || bytes.Equal(w.list[*slot-1].key, key) {
			return slot
		}
	}
}
