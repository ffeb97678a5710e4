package derive

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// AWS's limits on the length of key values. The values of a key with several attributes count together.
const (
	MaxPartitionKeyBytes = 2048
	MaxSortKeyBytes      = 1024
)

// EmptyKind returns "string" or "binary" if v is empty, and "" for any other value.
func EmptyKind(v attr.Value) string {
	switch {
	case v.Kind() == attr.KindString && v.Text() == "":
		return "string"
	case v.Kind() == attr.KindBinary && v.Text() == "":
		return "binary"
	default:
		return ""
	}
}

// Fits reports whether v can be the key attribute k.
func Fits(k catalog.KeyAttribute, v attr.Value) bool {
	return v.Kind() == k.Kind && EmptyKind(v) == ""
}

// KeyLen returns the length of a key value as AWS's limits count it.
func KeyLen(v attr.Value) int {
	if v.Kind() == attr.KindNumber {
		return v.Size()
	}
	return len(v.Text())
}

// KeyBytes returns the total length of several key values.
func KeyBytes(values []attr.Value) int {
	n := 0
	for _, v := range values {
		n += KeyLen(v)
	}
	return n
}

// Attributes returns the attributes of an item in any form; the zero Value means missing.
type Attributes func(name string) (attr.Value, error)

// AttributesOf returns the Attributes of a decoded item.
func AttributesOf(item attr.Item) Attributes {
	return func(name string) (attr.Value, error) {
		v, _ := item.Get(name)
		return v, nil
	}
}

// FirstInvalidKey returns the first index and key attribute whose value cannot be a key; x is nil if there is none. v is zero if no
// single value is invalid, but the key's values are too long together.
func FirstInvalidKey(t *catalog.Table, of Attributes) (x *catalog.Index, k catalog.KeyAttribute, v attr.Value, err error) {
	for _, other := range t.Indexes {
		if !other.Maintained || x != nil && other.Name > x.Name {
			continue
		}
		badKey, bad, found, err := invalidKey(other, of)
		if err != nil {
			return nil, k, v, err
		}
		if found {
			x, k, v = other, badKey, bad
		}
	}
	return x, k, v, nil
}

func invalidKey(x *catalog.Index, of Attributes) (k catalog.KeyAttribute, v attr.Value, found bool, err error) {
	for i, part := range [2][]catalog.KeyAttribute{x.PK, x.SK} {
		total := 0
		for _, k := range part {
			v, err := of(k.Name)
			switch {
			case err != nil:
				return k, v, false, err
			case v.IsZero():
				continue
			case !Fits(k, v):
				return k, v, true, nil
			}
			total += KeyLen(v)
		}
		if limit := [2]int{MaxPartitionKeyBytes, MaxSortKeyBytes}[i]; total > limit {
			return part[0], attr.Value{}, true, nil
		}
	}
	if x.Vector == nil {
		return k, v, false, nil
	}
	for _, k := range x.Vector.Filters { // filter values may be empty
		if v, err := of(k.Name); err != nil || !v.IsZero() && v.Kind() != k.Kind {
			return k, v, err == nil, err
		}
	}
	return k, v, false, nil
}
