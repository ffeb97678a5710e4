package verify

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/plural"
)

// count is the expected value of a counter.
type count struct{ items, bytes int64 }

// tally counts the entries found for a table's items in an index, or as TTL entries.
type tally struct {
	count
	unsound bool // some entry is wrong
}

// collection adds up the current item collection during the walk of a table. Items with the same partition key are adjacent.
type collection struct {
	pk    string // encoded; "" before the first
	bytes int64
}

// items walks the table: each item must be readable, have the right key, and have all its entries.
func (v *verifier) items() error {
	var total count
	err := v.walk(dataPrefix(v.t.ID, 0), func(key, value []byte) error {
		v.done.Items++
		v.progress.counted()
		it, size, err := decodeItem(value)
		if err != nil {
			v.found("", key, "the item cannot be read: %v", err)
			return nil
		}
		if at, ok := v.t.itemKey(it); !ok || at != string(key) {
			v.found("", key, "the item does not have the key it is stored at")
			return nil
		}
		total.items++
		total.bytes += int64(size)
		local, err := v.entries(key, value, it)
		if err != nil {
			return err
		}
		if err := v.collect(it, local+int64(size)); err != nil {
			return err
		}
		return v.ttlEntry(key, it)
	})
	if err != nil {
		return err
	}
	if err := v.endCollection(); err != nil {
		return err
	}
	if err := v.strayCollections(); err != nil {
		return err
	}
	return v.counter("", statisticsKey(v.t.ID, 0), total)
}

// entries checks that an item has its entry in every index, and returns the size of those in local indexes.
func (v *verifier) entries(key, stored []byte, it item) (local int64, err error) {
	for i := range v.t.Indexes {
		x := &v.t.Indexes[i]
		at, ok := v.t.entryKey(x, it)
		if !ok || x.State == catalog.IndexDeleting {
			continue
		}
		want := v.t.projection(x, it)
		size := int64(want.size())
		var components string
		if x.Vector != nil {
			components, _ = vectorOf(x, it)
			size += int64(len(x.Vector.Attribute) + len(components))
		}
		if x.Local {
			local += size
		}
		got, err := v.r.Get([]byte(at))
		switch {
		case err != nil:
			return local, err
		case got != nil:
			v.indexes[i].items++
			v.indexes[i].bytes += size
			if x.Projection == catalog.ProjectAll && bytes.Equal(got, stored) {
				continue
			}
			gotVector, got := cutVector(x, got)
			fault := difference(got, want)
			if gotVector != components {
				fault = "it has another vector"
			}
			if fault != "" {
				v.indexes[i].unsound = true
				v.found(x.Name, []byte(at), "the entry is not what its item makes: %s", fault)
			}
		case x.State == catalog.IndexActive:
			v.found(x.Name, key, "the item has no entry in the index")
		}
	}
	return local, nil
}

// difference describes how a stored entry differs from what it should contain, or returns "".
func difference(stored []byte, want item) string {
	got, _, err := decodeItem(stored)
	if err != nil {
		return err.Error()
	}
	if maps.Equal(got, want) {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch g, there := got[name]; {
		case !there:
			return fmt.Sprintf("it lacks the attribute %q", name)
		case g != want[name]:
			return fmt.Sprintf("it has another value of %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[name]; !wanted {
			return fmt.Sprintf("it has the attribute %q", name)
		}
	}
	return ""
}

// ttlEntry checks that an item that expires has its TTL entry.
func (v *verifier) ttlEntry(key []byte, it item) error {
	seconds, ok := v.t.expiry(it)
	if !ok {
		return nil
	}
	pk, sk, _ := v.t.key(it, v.t.Keys)
	got, err := v.r.Get([]byte(ttlKey(v.t.ID, seconds, pk+sk)))
	switch {
	case err != nil:
		return err
	case got != nil:
		v.ttlEntries.items++
	case v.t.TTL.State == catalog.TTLEnabled:
		v.found("", key, "the item expires and has no TTL entry")
	}
	return nil
}

// collect adds an item and its local entries to its item collection.
func (v *verifier) collect(it item, size int64) error {
	if !v.t.hasLocalIndex() {
		return nil
	}
	pk, _, _ := v.t.key(it, v.t.Keys)
	if pk != v.collection.pk {
		if err := v.endCollection(); err != nil {
			return err
		}
		v.collection.pk = pk
	}
	v.collection.bytes += size
	return nil
}

// endCollection checks the counter of the item collection that the walk has left.
func (v *verifier) endCollection() error {
	c := &v.collection
	if c.pk == "" {
		return nil
	}
	key := []byte(collectionKey(v.t.ID, c.pk))
	got, err := v.collectionBytes(key)
	if err != nil {
		return err
	}
	if got != c.bytes {
		v.found("", key, "the item collection has %d bytes, and %d are counted", c.bytes, got)
	}
	c.pk, c.bytes = "", 0
	return nil
}

// strayCollections looks for counters of item collections without items.
func (v *verifier) strayCollections() error {
	prefix := collectionKey(v.t.ID, "")
	return v.walk(prefix, func(key, _ []byte) error {
		got, err := v.collectionBytes(key)
		if err != nil || got == 0 {
			return err
		}
		lo, hi := bounds(partitionKey(v.t.ID, 0, string(key[len(prefix):]), ""))
		item, err := first(v.r, lo, hi)
		if err == nil && (item == nil || !v.t.hasLocalIndex()) {
			v.found("", key, "the item collection has 0 bytes, and %d are counted", got)
		}
		return err
	})
}

func (v *verifier) collectionBytes(key []byte) (int64, error) {
	counters, err := v.r.Counter(key)
	if err != nil || len(counters) == 0 {
		return 0, err
	}
	return counters[0], nil
}

// counter compares the counters of a table or index with the actual counts.
func (v *verifier) counter(index, key string, want count) error {
	counters, err := v.r.Counter([]byte(key))
	if err != nil {
		return err
	}
	got := count{}
	if len(counters) >= 2 {
		got = count{counters[0], counters[1]}
	}
	if got != want {
		v.found(index, nil, "has %s of %d bytes, but %d of %d bytes are counted", plural.Of(want.items, "item"), want.bytes, got.items, got.bytes)
	}
	return nil
}
