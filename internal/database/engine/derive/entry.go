// Package derive computes what follows from a stored item: its primary key, its index entries, and the second at which it
// expires. Its functions are pure: they read a table's definition and an item, but no store.
//
// Writes, backfills, restores and the TTL sweeper all use this package, so they cannot disagree. The verifier must not: it has
// its own implementation, so that a bug in this one is detected.
package derive

import (
	"math"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// Entry is an item's entry in one index.
type Entry struct {
	Key   []byte
	Value []byte // the projected item; in a vector index preceded by the vector
	Size  int    // by DynamoDB's accounting
}

// EntryOf derives the entry of a stored item of table t in index x. ok is false if the item is not in the index: it lacks an
// attribute of the index key, or has a value that cannot be a key. New items of the second kind are rejected (indexKeyFault);
// older ones, written before the index was created, stay out of the index.
func EntryOf(t *catalog.Table, x *catalog.Index, stored itemenc.Item) (e Entry, ok bool, err error) {
	if x.Vector != nil {
		ok, err = e.SetVector(t, x, stored)
		return e, ok, err
	}
	if e.Key, ok, err = AppendEntryKey(nil, t, x, stored); err != nil || !ok {
		return Entry{}, false, err
	}
	projected, err := Project(nil, x, stored)
	if err != nil {
		return Entry{}, false, err
	}
	e.Value, e.Size = projected, projected.Size()
	return e, true, nil
}

// AppendEntryKey appends the key of an entry to dst.
func AppendEntryKey(dst []byte, t *catalog.Table, x *catalog.Index, stored itemenc.Item) (key []byte, ok bool, err error) {
	var room [8]attr.Value
	values := room[:0]
	for _, part := range [2][]catalog.KeyAttribute{x.PK, x.SK} {
		for _, k := range part {
			v, err := Attribute(stored, k.Name)
			if err != nil || !Fits(k, v) {
				return dst, false, err
			}
			values = append(values, v)
		}
	}
	pk, sk := values[:len(x.PK)], values[len(x.PK):]
	if KeyBytes(pk) > MaxPartitionKeyBytes || KeyBytes(sk) > MaxSortKeyBytes {
		return dst, false, nil
	}
	basePK, err := Attribute(stored, t.PK.Name)
	if err != nil {
		return dst, false, err
	}
	var baseSK attr.Value
	if t.SK.Name != "" {
		if baseSK, err = Attribute(stored, t.SK.Name); err != nil {
			return dst, false, err
		}
	}
	return keyenc.IndexEntry(dst, t.ID, x.ID, pk, sk, basePK, baseSK), true, nil
}

// Attribute returns an attribute, which may share its bytes with the item, or the zero Value if it is missing.
func Attribute(stored itemenc.Item, name string) (attr.Value, error) {
	v, found, err := stored.Lookup(name)
	if err != nil || !found {
		return attr.Value{}, err
	}
	return v.Borrow()
}

// Project returns the part of a stored item that index x projects, in newly allocated memory or appended to dst.
func Project(dst []byte, x *catalog.Index, stored itemenc.Item) (itemenc.Item, error) {
	if x.All || stored == nil {
		return stored, nil
	}
	return stored.Project(dst, x.Projected)
}

// PrimaryKey returns the table's key of a stored item.
func PrimaryKey(t *catalog.Table, stored itemenc.Item) (pk, sk attr.Value, err error) {
	if pk, _, err = stored.Get(t.PK.Name); err != nil || t.SK.Name == "" {
		return pk, attr.Value{}, err
	}
	sk, _, err = stored.Get(t.SK.Name)
	return pk, sk, err
}

// Expiry returns the first whole second at which a stored item of t is expired, from the number in the table's TTL attribute,
// which may have a fraction. ok is false if TTL is off or the attribute is missing, of another type, or out of range.
func Expiry(t *catalog.Table, stored itemenc.Item) (seconds int64, ok bool, err error) {
	if t.TTLAttribute == "" || stored == nil {
		return 0, false, nil
	}
	v, err := Attribute(stored, t.TTLAttribute)
	if err != nil || v.Kind() != attr.KindNumber {
		return 0, false, err
	}
	whole, _, fractional := strings.Cut(v.Text(), ".")
	seconds, err = strconv.ParseInt(whole, 10, 64)
	if err != nil || v.Text()[0] == '-' {
		return 0, false, nil //nolint:nilerr // such a number is no time
	}
	if fractional && seconds < math.MaxInt64 {
		seconds++
	}
	return seconds, seconds < math.MaxInt64, nil
}
