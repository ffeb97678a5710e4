package engine

import (
	"math"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// entry is an item's place in one index.
type entry struct {
	key   []byte
	value itemenc.Item // the projected item
}

// entryOf derives the entry of a stored item of table t in index x. ok is false where the item is not in
// the index: it lacks an attribute of the index key, or holds one there that cannot be a key. New items of
// the second sort are refused (indexKeyFault); older ones, written before the index was made, stay outside.
//
// Writes, backfill and verifier all derive entries here, so they cannot disagree.
func entryOf(t *catalog.Table, x *catalog.Index, stored itemenc.Item) (e entry, ok bool, err error) {
	if e.key, ok, err = entryKey(t, x, stored); err != nil || !ok {
		return entry{}, false, err
	}
	if e.value, err = projectInto(nil, x, stored); err != nil {
		return entry{}, false, err
	}
	return e, true, nil
}

// entryKey derives the key alone.
func entryKey(t *catalog.Table, x *catalog.Index, stored itemenc.Item) (key []byte, ok bool, err error) {
	return appendEntryKey(nil, t, x, stored)
}

// appendEntryKey appends the key of an entry to dst.
func appendEntryKey(dst []byte, t *catalog.Table, x *catalog.Index, stored itemenc.Item) (key []byte, ok bool, err error) {
	var room [8]attr.Value
	values := room[:0]
	for _, part := range [2][]catalog.KeyAttribute{x.PK, x.SK} {
		for _, k := range part {
			v, err := borrow(stored, k.Name)
			if err != nil || !fitsKey(k, v) {
				return dst, false, err
			}
			values = append(values, v)
		}
	}
	pk, sk := values[:len(x.PK)], values[len(x.PK):]
	if keyBytes(pk) > maxPartitionKeyBytes || keyBytes(sk) > maxSortKeyBytes {
		return dst, false, nil
	}
	basePK, err := borrow(stored, t.PK.Name)
	if err != nil {
		return dst, false, err
	}
	var baseSK attr.Value
	if t.SK.Name != "" {
		if baseSK, err = borrow(stored, t.SK.Name); err != nil {
			return dst, false, err
		}
	}
	return keyenc.IndexEntry(dst, t.ID, x.ID, pk, sk, basePK, baseSK), true, nil
}

// borrow reads an attribute that may share its bytes with the item; it is zero where there is none.
func borrow(stored itemenc.Item, name string) (attr.Value, error) {
	v, found, err := stored.Lookup(name)
	if err != nil || !found {
		return attr.Value{}, err
	}
	return v.Borrow()
}

// projectInto returns the part of the stored item that index x keeps, its own memory or appended to dst.
func projectInto(dst []byte, x *catalog.Index, stored itemenc.Item) (itemenc.Item, error) {
	if x.All || stored == nil {
		return stored, nil
	}
	return stored.Project(dst, x.Projected)
}

// primaryKey reads the table's key from a stored item.
func primaryKey(t *catalog.Table, stored itemenc.Item) (pk, sk attr.Value, err error) {
	if pk, _, err = stored.Get(t.PK.Name); err != nil || t.SK.Name == "" {
		return pk, attr.Value{}, err
	}
	sk, _, err = stored.Get(t.SK.Name)
	return pk, sk, err
}

// expiryOf returns the first whole second at which a stored item of t is expired, from the number in the
// table's TTL attribute, which may have a fraction. ok is false where TTL is off or the attribute is absent,
// of another type, or out of range.
func expiryOf(t *catalog.Table, stored itemenc.Item) (seconds int64, ok bool, err error) {
	if t.TTLAttribute == "" || stored == nil {
		return 0, false, nil
	}
	v, err := borrow(stored, t.TTLAttribute)
	if err != nil || v.Kind() != attr.KindNumber {
		return 0, false, err
	}
	whole, _, fractional := strings.Cut(v.Text(), ".")
	seconds, outOfRange := strconv.ParseInt(whole, 10, 64)
	if outOfRange != nil || seconds < 0 || seconds == math.MaxInt64 {
		return 0, false, nil //nolint:nilerr // such a number is no time
	}
	if fractional {
		seconds++
	}
	return seconds, true, nil
}
