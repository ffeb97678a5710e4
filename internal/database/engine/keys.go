package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// AWS's limits of key values. The values of a key of several attributes count together.
const (
	maxPartitionKeyBytes = 2048
	maxSortKeyBytes      = 1024
)

// keyOf checks that key is exactly a primary key of t and returns its parts; sk is the zero Value for a
// table without sort key. It is for the operations that name an item by its key.
func keyOf(t *catalog.Table, key attr.Item) (pk, sk attr.Value, err error) {
	want := 1
	if t.SK.Name != "" {
		want = 2
	}
	pk, _ = key.Get(t.PK.Name)
	if want == 2 {
		sk, _ = key.Get(t.SK.Name)
	}
	if len(key) != want || pk.Kind() != t.PK.Kind || want == 2 && sk.Kind() != t.SK.Kind {
		return pk, sk, apierr.KeyMismatch.With()
	}
	return pk, sk, checkKeyValues(t, pk, sk)
}

// keyOfItem finds the primary key of t in an item that is to be put.
func keyOfItem(t *catalog.Table, item attr.Item) (pk, sk attr.Value, err error) {
	if pk, err = keyAttribute(item, t.PK); err != nil {
		return pk, sk, err
	}
	if t.SK.Name != "" {
		if sk, err = keyAttribute(item, t.SK); err != nil {
			return pk, sk, err
		}
	}
	return pk, sk, checkKeyValues(t, pk, sk)
}

// hasKey reports whether the item has the key attributes of t, with their types.
func hasKey(t *catalog.Table, item attr.Item) bool {
	pk, _ := item.Get(t.PK.Name)
	if t.SK.Name == "" {
		return pk.Kind() == t.PK.Kind
	}
	sk, _ := item.Get(t.SK.Name)
	return pk.Kind() == t.PK.Kind && sk.Kind() == t.SK.Kind
}

func keyAttribute(item attr.Item, k catalog.KeyAttribute) (attr.Value, error) {
	v, ok := item.Get(k.Name)
	if !ok {
		return v, apierr.KeyMissing.With(k.Name)
	}
	if v.Kind() != k.Kind {
		return v, apierr.KeyOfOtherType.With(k.Name, k.Kind, v.Kind())
	}
	return v, nil
}

// checkKeyValues checks values of the right type: not empty, not too long.
func checkKeyValues(t *catalog.Table, pk, sk attr.Value) error {
	if err := checkNotEmpty(t.PK.Name, pk); err != nil {
		return err
	}
	if err := checkNotEmpty(t.SK.Name, sk); err != nil {
		return err
	}
	if keyLen(pk) > maxPartitionKeyBytes {
		return apierr.PartitionKeyTooBig.With()
	}
	if keyLen(sk) > maxSortKeyBytes {
		return apierr.SortKeyTooBig.With()
	}
	return nil
}

func checkNotEmpty(name string, v attr.Value) error {
	kind := emptyKind(v)
	if kind == "" {
		return nil
	}
	return apierr.KeyEmpty.With(kind, name)
}

// emptyKind says what sort of empty value v is: "string", "binary", or "" for any other value.
func emptyKind(v attr.Value) string {
	switch {
	case v.Kind() == attr.KindString && v.Text() == "":
		return "string"
	case v.Kind() == attr.KindBinary && v.Text() == "":
		return "binary"
	default:
		return ""
	}
}

// fitsKey reports whether v can be the key attribute k.
func fitsKey(k catalog.KeyAttribute, v attr.Value) bool {
	return v.Kind() == k.Kind && emptyKind(v) == ""
}

// keyLen is the length of a key value as AWS's limits count it.
func keyLen(v attr.Value) int {
	if v.Kind() == attr.KindNumber {
		return v.Size()
	}
	return len(v.Text())
}

func keyBytes(values []attr.Value) int {
	n := 0
	for _, v := range values {
		n += keyLen(v)
	}
	return n
}

// indexKeyFault returns the error for an item that is to be put into t but holds a value that cannot be a
// key of one of its indexes: AWS refuses such a write, while an item without the attribute is only
// left out of the index. Where several indexes would refuse, the first by name speaks.
func indexKeyFault(t *catalog.Table, item attr.Item) error {
	x, k, v, err := firstIndexFault(t, attributesOf(item))
	if err != nil || x == nil {
		return err
	}
	return putIndexFault(x, k, v)
}

// attributes reads the attributes of an item, whatever its form; zero is absent.
type attributes func(name string) (attr.Value, error)

func attributesOf(item attr.Item) attributes {
	return func(name string) (attr.Value, error) {
		v, _ := item.Get(name)
		return v, nil
	}
}

// firstIndexFault finds the index and the key attribute whose value cannot be a key; x is nil where there is
// none. v is zero where it is not one value that is at fault: those of the key are too long together.
func firstIndexFault(t *catalog.Table, of attributes) (x *catalog.Index, k catalog.KeyAttribute, v attr.Value, err error) {
	for _, other := range t.Indexes {
		if !other.Maintained || x != nil && other.Name > x.Name {
			continue
		}
		badKey, bad, found, err := indexFault(other, of)
		if err != nil {
			return nil, k, v, err
		}
		if found {
			x, k, v = other, badKey, bad
		}
	}
	return x, k, v, nil
}

func indexFault(x *catalog.Index, of attributes) (k catalog.KeyAttribute, v attr.Value, found bool, err error) {
	for i, part := range [2][]catalog.KeyAttribute{x.PK, x.SK} {
		total := 0
		for _, k := range part {
			v, err := of(k.Name)
			switch {
			case err != nil:
				return k, v, false, err
			case v.IsZero():
				continue
			case !fitsKey(k, v):
				return k, v, true, nil
			}
			total += keyLen(v)
		}
		if limit := [2]int{maxPartitionKeyBytes, maxSortKeyBytes}[i]; total > limit {
			return part[0], attr.Value{}, true, nil
		}
	}
	return k, v, false, nil
}

func putIndexFault(x *catalog.Index, k catalog.KeyAttribute, v attr.Value) error {
	if v.IsZero() {
		if k == x.PK[0] {
			return apierr.PartitionKeyTooBig.With()
		}
		return apierr.SortKeyTooBig.With()
	}
	if kind := emptyKind(v); kind != "" && v.Kind() == k.Kind {
		return apierr.IndexKeyEmpty.With(kind, x.Name, k.Name)
	}
	return apierr.IndexKeyOfOtherType.With(k.Name, k.Kind, v.Kind(), x.Name)
}

// updateIndexFault is putIndexFault for the result of an update, for which AWS has other sentences.
func updateIndexFault(k catalog.KeyAttribute, v attr.Value) error {
	if v.IsZero() {
		return apierr.UpdatedIndexKeyTooBig.With()
	}
	if kind := emptyKind(v); kind != "" && v.Kind() == k.Kind {
		return &refusalError{apierr.UpdatedIndexKeyEmpty.With(kind)}
	}
	return apierr.UpdatedIndexKeyOfOtherType.With()
}
