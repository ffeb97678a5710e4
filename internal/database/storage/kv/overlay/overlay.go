// Package overlay holds the writes of an update in progress, so that the update reads its own writes before they are in the
// store.
//
// Writes are a short list in call order; the last one for a key counts. Point reads search the list linearly while it is short
// and index it when it grows. An iterator sorts the writes of its range once and merges them with the store's iterator.
package overlay

import (
	"bytes"
	"slices"
)

// indexFrom is the number of writes from which an index by key is worth its allocations.
const indexFrom = 24

// Writes are the writes of one update. The zero value is empty. Keys and values are not copied and must not change until Reset.
type Writes struct {
	list  []write
	index map[string]int // last position of each key; nil while the list is short
}

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

// Reset removes all writes and keeps the list's memory.
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
