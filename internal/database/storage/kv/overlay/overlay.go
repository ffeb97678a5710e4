// Package overlay keeps what an update under way has written, so that it reads its own writes before they
// are in the store.
//
// Writes are a short list in the order in which they were made; the last one of a key counts. Point reads
// walk the list while it is short and index it when it grows. An iterator sorts the writes of its range
// once and merges them over the store's iterator.
package overlay

import (
	"bytes"
	"slices"
)

// indexFrom is how many writes make an index by key worth its allocations.
const indexFrom = 24

// Writes are the writes of one update. The zero value is empty. Keys and values are kept as given and must
// not change until Reset.
type Writes struct {
	list  []write
	index map[string]int // last position of each key; nil while the list is short
}

// write is one key's new value; nil is its deletion.
type write struct {
	key, value []byte
}

// Set records a value for the key, which is not nil.
func (w *Writes) Set(key, value []byte) { w.add(write{key, value}) }

// Delete records that the key is absent.
func (w *Writes) Delete(key []byte) { w.add(write{key, nil}) }

// Len is how many writes there are, overwritten ones included.
func (w *Writes) Len() int { return len(w.list) }

// All calls yield with every write in order; value is nil for a deletion.
func (w *Writes) All(yield func(key, value []byte) bool) {
	for i := range w.list {
		if !yield(w.list[i].key, w.list[i].value) {
			return
		}
	}
}

// Reset forgets all writes and keeps the list's space.
func (w *Writes) Reset() {
	clear(w.list)
	w.list, w.index = w.list[:0], nil
}

// Get returns the key's value and true if the key was written; the value is nil if that was a deletion.
func (w *Writes) Get(key []byte) ([]byte, bool) {
	if w.index != nil {
		i, ok := w.index[string(key)]
		if !ok {
			return nil, false
		}
		return w.list[i].value, true
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
	switch {
	case w.index != nil:
		w.index[string(x.key)] = len(w.list) - 1
	case len(w.list) == indexFrom:
		w.index = make(map[string]int, 2*indexFrom)
		for i := range w.list {
			w.index[string(w.list[i].key)] = i
		}
	}
}
