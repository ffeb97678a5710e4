package verify

import (
	"bytes"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// index walks an index: each entry must have an item that makes it.
func (v *verifier) index(x *catalog.Index) error {
	if !x.Maintained {
		return nil
	}
	var total count
	lo, hi := keyenc.IndexBounds(v.t.ID, x.ID)
	err := v.walk(lo, hi, func(key, value []byte) error {
		v.done.IndexEntries++
		v.progress.counted()
		total.items++
		entryItem := itemenc.Item(value)
		if err := entryItem.Check(); err != nil {
			v.found(x.Name, key, "the entry cannot be read: %v", err)
			return nil
		}
		total.bytes += int64(entryItem.Size())
		_, _, _, _, pk, sk, err := keyenc.ParseIndexEntry(key, len(x.PK), len(x.SK))
		if err != nil {
			v.found(x.Name, key, "the key of the entry cannot be read: %v", err)
			return nil
		}
		stored, err := v.r.Get(keyenc.Item(nil, v.t.ID, pk, sk))
		if err != nil {
			return err
		}
		if stored == nil {
			v.found(x.Name, key, "the entry has no item")
			return nil
		}
		want, ok, err := derive.EntryKey(v.t, x, stored)
		if err != nil || !ok || !bytes.Equal(want, key) {
			v.found(x.Name, key, "the entry's item belongs elsewhere in the index")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.counter(x.Name, keyenc.Statistics(v.t.ID, x.ID), total)
}

// ttl walks the TTL entries: each must have an item that expires then.
func (v *verifier) ttl() error {
	if v.t.Descriptor.TTL.State == catalog.TTLDisabling {
		return nil
	}
	lo, hi := keyenc.TTLTableBounds(v.t.ID)
	return v.walk(lo, hi, func(key, _ []byte) error {
		v.done.TTLEntries++
		v.progress.uncounted()
		_, seconds, pk, sk, err := keyenc.ParseTTL(key)
		if err != nil {
			v.found("", key, "the TTL entry cannot be read: %v", err)
			return nil
		}
		stored, err := v.r.Get(keyenc.Item(nil, v.t.ID, pk, sk))
		if err != nil {
			return err
		}
		expires, ok, err := derive.Expiry(v.t, stored)
		if err != nil || !ok || expires != seconds {
			v.found("", key, "the TTL entry has no item that expires then")
		}
		return nil
	})
}
