package engine

import (
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/engine/vector"
)

// keyOf checks that key is exactly a primary key of t and returns its parts; sk is the zero Value for a table without a sort key.
// It is for operations that name an item by its key.
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

// keyOfItem returns the primary key of an item that is to be put into t.
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

// hasKey reports whether the item has the key attributes of t, with the right types.
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

// checkKeyValues checks that key values of the right type are not empty and not too long.
func checkKeyValues(t *catalog.Table, pk, sk attr.Value) error {
	if err := checkNotEmpty(t.PK.Name, pk); err != nil {
		return err
	}
	if err := checkNotEmpty(t.SK.Name, sk); err != nil {
		return err
	}
	if derive.KeyLen(pk) > derive.MaxPartitionKeyBytes {
		return apierr.PartitionKeyTooBig.With()
	}
	if derive.KeyLen(sk) > derive.MaxSortKeyBytes {
		return apierr.SortKeyTooBig.With()
	}
	return nil
}

func checkNotEmpty(name string, v attr.Value) error {
	kind := derive.EmptyKind(v)
	if kind == "" {
		return nil
	}
	return apierr.KeyEmpty.With(kind, name)
}

// indexKeyFault returns the error for an item to be put into t with a value that cannot be a key of one of its indexes. AWS
// rejects such a write, whereas an item without the attribute is merely left out of the index. If several indexes reject the
// value, the first by name is reported.
func indexKeyFault(t *catalog.Table, item attr.Item) error {
	of := derive.AttributesOf(item)
	x, k, v, err := derive.FirstInvalidKey(t, of)
	if err != nil {
		return err
	}
	if x == nil {
		return vectorFault(t, of)
	}
	if v.IsZero() {
		return longIndexKeyFault(x, k, of)
	}
	return putIndexFault(x, k, v)
}

// longIndexKeyFault rejects the part of an index key that begins with first: its values are too long together. A part of several
// attributes has a sentence of its own, unless one of its values is too long by itself.
func longIndexKeyFault(x *catalog.Index, first catalog.KeyAttribute, of derive.Attributes) error {
	role, part, limit, one := "RANGE", x.SK, derive.MaxSortKeyBytes, apierr.SortKeyTooBig
	if len(x.PK) > 0 && first == x.PK[0] {
		role, part, limit, one = "HASH", x.PK, derive.MaxPartitionKeyBytes, apierr.PartitionKeyTooBig
	}
	total := 0
	for _, k := range part {
		v, err := of(k.Name)
		if err != nil {
			return err
		}
		if derive.KeyLen(v) > limit {
			return one.With()
		}
		total += derive.KeyLen(v)
	}
	return apierr.IndexKeyTooBig.With(role, namesOf(part), x.Name, limit, total)
}

// vectorFault rejects an item whose vector does not fit an index.
func vectorFault(t *catalog.Table, of derive.Attributes) error {
	x, fault, err := derive.FirstVectorFault(t, of)
	if err != nil || x == nil {
		return err
	}
	name := x.Vector.Attribute
	element := name + "[" + strconv.Itoa(fault.Element) + "]"
	switch fault.Kind {
	case vector.NotList:
		return apierr.VectorOfOtherType.With(name, attr.KindList, fault.Actual, x.Name)
	case vector.WrongLength:
		return apierr.VectorOfOtherLength.With(name, x.Vector.Dimensions, fault.Actual, x.Name)
	case vector.ElementType:
		return apierr.VectorOfOtherType.With(element, attr.KindNumber, fault.Actual, x.Name)
	default:
		return apierr.VectorElementTooHigh.With(element, fault.Actual, x.Name)
	}
}

func putIndexFault(x *catalog.Index, k catalog.KeyAttribute, v attr.Value) error {
	if kind := derive.EmptyKind(v); kind != "" && v.Kind() == k.Kind {
		return apierr.IndexKeyEmpty.With(kind, x.Name, k.Name)
	}
	return apierr.IndexKeyOfOtherType.With(k.Name, k.Kind, v.Kind(), x.Name)
}

// assignedKindFault rejects an update that assigns a value of the wrong type to a key attribute of an index, if the request alone
// determines the type; updateIndexFault covers types that depend on the item. If several indexes reject it, the first by name is
// reported.
func assignedKindFault(t *catalog.Table, u *eval.Update) error {
	var fault error
	first := ""
	for _, x := range t.Indexes {
		if !x.Maintained || fault != nil && x.Name > first {
			continue
		}
		if err := assignedKindFaultOf(x, u); err != nil {
			fault, first = err, x.Name
		}
	}
	return fault
}

func assignedKindFaultOf(x *catalog.Index, u *eval.Update) error {
	parts := [][]catalog.KeyAttribute{x.PK, x.SK}
	if x.Vector != nil {
		parts = append(parts, x.Vector.Filters)
	}
	for _, part := range parts {
		for _, k := range part {
			if kind := u.AssignedKind(k.Name); kind != attr.KindInvalid && kind != k.Kind {
				return apierr.IndexKeyOfOtherType.With(k.Name, k.Kind, kind, x.Name)
			}
		}
	}
	return nil
}

// nestedKeyFault rejects document paths below a key attribute of the table or of one of its indexes; names are the attributes
// below which an expression has paths.
func nestedKeyFault(t *catalog.Table, names []string) error {
	for _, name := range names {
		if t.HasKey(name) {
			return apierr.KeyNotScalar.With(name)
		}
		if t.HasIndexKey(name) {
			return apierr.IndexKeyNotScalar.With(name)
		}
	}
	return nil
}

// updateIndexFault is putIndexFault for the result of an update, for which AWS has other messages.
func updateIndexFault(k catalog.KeyAttribute, v attr.Value) error {
	if v.IsZero() {
		return apierr.UpdatedIndexKeyTooBig.With()
	}
	if kind := derive.EmptyKind(v); kind != "" && v.Kind() == k.Kind {
		return &refusalError{apierr.UpdatedIndexKeyEmpty.With(kind)}
	}
	return apierr.UpdatedIndexKeyOfOtherType.With()
}
