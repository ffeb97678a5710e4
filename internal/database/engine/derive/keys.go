package derive

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// AWS's limits of key values. The values of a key of several attributes count together.
const (
	MaxPartitionKeyBytes = 2048
	MaxSortKeyBytes      = 1024
)

// EmptyKind says what sort of empty value v is: "string", "binary", or "" for any other value.
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

// KeyLen is the length of a key value as AWS's limits count it.
func KeyLen(v attr.Value) int {
	if v.Kind() == attr.KindNumber {
		return v.Size()
	}
	return len(v.Text())
}

// KeyBytes is the length of several key values together.
func KeyBytes(values []attr.Value) int {
	n := 0
	for _, v := range values {
		n += KeyLen(v)
	}
	return n
}

// Attributes reads the attributes of an item, whatever its form; zero is absent.
type Attributes func(name string) (attr.Value, error)

// AttributesOf reads a decoded item.
func AttributesOf(item attr.Item) Attributes {
	return func(name string) (attr.Value, error) {
		v, _ := item.Get(name)
		return v, nil
	}
}

// FirstMisfit finds the index and the key attribute whose value cannot be a key; x is nil where there is
// none. v is zero where it is not one value that is at fault: those of the key are too long together.
func FirstMisfit(t *catalog.Table, of Attributes) (x *catalog.Index, k catalog.KeyAttribute, v attr.Value, err error) {
	for _, other := range t.Indexes {
		if !other.Maintained || x != nil && other.Name > x.Name {
			continue
		}
		badKey, bad, found, err := misfit(other, of)
		if err != nil {
			return nil, k, v, err
		}
		if found {
			x, k, v = other, badKey, bad
		}
	}
	return x, k, v, nil
}

func misfit(x *catalog.Index, of Attributes) (k catalog.KeyAttribute, v attr.Value, found bool, err error) {
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
	for _, k := range x.Vector.Filters { // an empty value is as good as another
		if v, err := of(k.Name); err != nil || !v.IsZero() && v.Kind() != k.Kind {
			return k, v, err == nil, err
		}
	}
	return k, v, false, nil
}
