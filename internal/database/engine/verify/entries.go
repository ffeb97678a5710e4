package verify

import (
	"encoding/binary"

	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// index checks that an index has no entries besides those found for its items. If their number matches, that proves it.
func (v *verifier) index(i int) error {
	x := &v.t.Indexes[i]
	if x.State == catalog.IndexDeleting {
		return nil
	}
	var entries int64
	prefix := dataPrefix(v.t.ID, x.ID)
	err := v.walk(prefix, func(_, _ []byte) error {
		v.done.IndexEntries++
		v.progress.counted()
		entries++
		return nil
	})
	if err != nil {
		return err
	}
	total := v.indexes[i].count
	if entries != total.items || v.indexes[i].unsound {
		if total, err = v.strayEntries(x); err != nil {
			return err
		}
	}
	return v.counter(x.Name, statisticsKey(v.t.ID, x.ID), total)
}

// strayEntries looks up the item of every entry of an index, and counts the entries.
func (v *verifier) strayEntries(x *catalog.IndexDescriptor) (total count, err error) {
	err = v.walk(dataPrefix(v.t.ID, x.ID), func(key, value []byte) error {
		total.items++
		components, projected := cutVector(x, value)
		entry, size, err := decodeItem(projected)
		if x.Vector != nil {
			size += len(x.Vector.Attribute) + len(components)
		}
		if err != nil {
			v.found(x.Name, key, "the entry cannot be read: %v", err)
			return nil
		}
		total.bytes += int64(size)
		fault, err := v.strayEntry(x, string(key), entry)
		if fault != "" {
			v.found(x.Name, key, "%s", fault)
		}
		return err
	})
	return total, err
}

// strayEntry describes what is wrong with an entry, whose attributes include the key of its item.
func (v *verifier) strayEntry(x *catalog.IndexDescriptor, key string, entry item) (fault string, err error) {
	at, ok := v.t.itemKey(entry)
	if !ok {
		return "the entry does not have the key of an item", nil
	}
	stored, err := v.r.Get([]byte(at))
	if err != nil {
		return "", err
	}
	if stored == nil {
		return "the entry has no item", nil
	}
	it, _, err := decodeItem(stored)
	if err != nil {
		return "the entry's item cannot be read", nil //nolint:nilerr // it is reported with the item
	}
	if want, ok := v.t.entryKey(x, it); !ok || want != key {
		return "the entry's item belongs elsewhere in the index", nil
	}
	return "", nil
}

// ttl checks that there are no TTL entries besides those found for the items, like index.
func (v *verifier) ttl() error {
	if v.t.TTL.State == catalog.TTLDisabling {
		return nil
	}
	var entries int64
	err := v.walk(tablePrefix('t', v.t.ID), func(_, _ []byte) error {
		v.done.TTLEntries++
		v.progress.uncounted()
		entries++
		return nil
	})
	if err != nil || entries == v.ttlEntries.items {
		return err
	}
	return v.walk(tablePrefix('t', v.t.ID), v.strayTTLEntry)
}

func (v *verifier) strayTTLEntry(key, _ []byte) error {
	const secondsAt, keyAt = 1 + 4, 1 + 4 + 8
	if len(key) < keyAt {
		v.found("", key, "the TTL entry cannot be read")
		return nil
	}
	pk, sk := cutKey(string(key[keyAt:]))
	stored, err := v.r.Get([]byte(partitionKey(v.t.ID, 0, pk, sk)))
	if err != nil {
		return err
	}
	if stored != nil {
		it, _, err := decodeItem(stored)
		if err != nil {
			v.found("", key, "the item of the TTL entry cannot be read")
			return nil //nolint:nilerr // it is reported with the item
		}
		keySeconds := binary.BigEndian.Uint64(key[secondsAt:]) - 1<<63
		if seconds, ok := v.t.expiry(it); ok && seconds == int64(keySeconds) { //nolint:gosec // the sign bit, inverted
			return nil
		}
	}
	v.found("", key, "the TTL entry has no item that expires then")
	return nil
}
