package verify

import (
	"bytes"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// count is what a counter should hold.
type count struct{ items, bytes int64 }

// items walks the table: each item must be readable, at its own key, with all its entries.
func (v *verifier) items() error {
	var total count
	collections := map[string]int64{}
	lo, hi := keyenc.IndexBounds(v.t.ID, 0)
	err := v.walk(lo, hi, func(key, value []byte) error {
		v.done.Items++
		v.progress.counted()
		stored := itemenc.Item(value)
		if err := stored.Check(); err != nil {
			v.found("", key, "the item cannot be read: %v", err)
			return nil
		}
		pk, sk, err := derive.PrimaryKey(v.t, stored)
		if err != nil {
			return err
		}
		if pk.IsZero() || !bytes.Equal(keyenc.Item(nil, v.t.ID, pk, sk), key) {
			v.found("", key, "the item does not have the key it is stored at")
			return nil
		}
		total.items++
		total.bytes += int64(stored.Size())
		local, err := v.entries(key, stored)
		if v.t.HasLocalIndex() {
			collections[string(keyenc.Collection(v.t.ID, pk))] += local + int64(stored.Size())
		}
		if err != nil {
			return err
		}
		return v.ttlEntry(key, stored, pk, sk)
	})
	if err != nil {
		return err
	}
	if err := v.counter("", keyenc.Statistics(v.t.ID, 0), total); err != nil {
		return err
	}
	return v.collections(collections)
}

// collections compares the counters of item collections with what there is, by counter key.
func (v *verifier) collections(want map[string]int64) error {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if err := v.collection([]byte(key), want[key]); err != nil {
			return err
		}
	}
	lo, hi := keyenc.StatisticsBounds(v.t.ID)
	return v.walk(lo, hi, func(key, _ []byte) error {
		if _, seen := want[string(key)]; seen || !keyenc.IsCollection(key) {
			return nil
		}
		return v.collection(key, 0)
	})
}

func (v *verifier) collection(key []byte, want int64) error {
	counters, err := v.r.Counter(key)
	if err != nil {
		return err
	}
	var got int64
	if len(counters) > 0 {
		got = counters[0]
	}
	if got != want {
		v.found("", key, "the item collection has %d bytes, and %d are counted", want, got)
	}
	return nil
}

// entries checks that an item has its entry in every index, and returns the bytes of those in local ones.
func (v *verifier) entries(key []byte, stored itemenc.Item) (local int64, err error) {
	for _, x := range v.t.Indexes {
		if !x.Maintained {
			continue
		}
		want, ok, err := derive.EntryOf(v.t, x, stored)
		if err != nil {
			return local, err
		}
		if !ok {
			continue
		}
		if x.Kind == catalog.Local {
			local += int64(want.Value.Size())
		}
		got, err := v.r.Get(want.Key)
		switch {
		case err != nil:
			return local, err
		case got == nil && x.Readable:
			v.found(x.Name, key, "the item has no entry in the index")
		case got != nil && !bytes.Equal(got, want.Value):
			v.found(x.Name, want.Key, "the entry is not what its item makes")
		}
	}
	return local, nil
}

func (v *verifier) counter(index string, key []byte, want count) error {
	counters, err := v.r.Counter(key)
	if err != nil {
		return err
	}
	got := count{}
	if len(counters) >= 2 {
		got = count{counters[0], counters[1]}
	}
	if got != want {
		v.found(index, nil, "there are %d items of %d bytes, and %d of %d bytes are counted", want.items, want.bytes, got.items, got.bytes)
	}
	return nil
}

// ttlEntry checks that an item that expires has its TTL entry.
func (v *verifier) ttlEntry(key []byte, stored itemenc.Item, pk, sk attr.Value) error {
	seconds, ok, err := derive.Expiry(v.t, stored)
	if err != nil || !ok || v.t.Descriptor.TTL.State != catalog.TTLEnabled {
		return err
	}
	got, err := v.r.Get(keyenc.TTL(nil, v.t.ID, seconds, pk, sk))
	if err == nil && got == nil {
		v.found("", key, "the item expires and has no TTL entry")
	}
	return err
}
