package engine

import (
	"bytes"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// checkStartKeyValues rejects an ExclusiveStartKey with an invalid or empty value, which needs no table to detect.
func checkStartKeyValues(operation string, start attr.Item) error {
	err := checkKeyParameter(operation, start)
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		return apierr.StartKeyFault.With(e.Message)
	}
	return err
}

// checkKeyParameter rejects a Key parameter with an invalid or empty value, which needs no table to detect: every attribute in it
// must be a key attribute.
func checkKeyParameter(operation string, key attr.Item) error {
	if _, fault, found := key.Fault(); found {
		return apierr.InvalidValue(operation, fault)
	}
	for i := range key {
		if err := checkNotEmpty(key[i].Name, key[i].Value); err != nil {
			return err
		}
	}
	return nil
}

// queryPosition returns where a Query with an ExclusiveStartKey resumes. The start key must be in the range that the key
// condition selects.
func queryPosition(s *readSource, r *queryRange, start attr.Item) ([]byte, error) {
	key, ok := s.position(start)
	switch {
	case !ok:
		return nil, apierr.StartKeyInvalid.With()
	case s.index == nil && len(s.sk) == 0:
		return nil, apierr.StartKeyOfHashTable.With(s.pk[0].Name, eval.ShowOperand(start[0].Value))
	case !bytes.HasPrefix(key, r.partition):
		return nil, apierr.StartKeyOutside.With()
	case r.single:
		return nil, apierr.StartKeyOfSingleItem.With()
	case !between(r.lo, key, r.hi):
		return nil, apierr.StartKeyOutsideRange.With()
	default:
		return key, nil
	}
}

// between reports whether key is in [lo, hi).
func between(lo, key, hi []byte) bool {
	return bytes.Compare(lo, key) <= 0 && bytes.Compare(key, hi) < 0
}

// position encodes an ExclusiveStartKey as the store key of its entry. The entry need not exist any more. ok is false if the
// attributes are not exactly the source's key (and its table's), or if a value has the wrong type or cannot be a key.
func (s *readSource) position(start attr.Item) (key []byte, ok bool) {
	if len(start) != len(s.positionNames()) {
		return nil, false
	}
	basePK, ok := keyValue(start, s.table.PK)
	if !ok {
		return nil, false
	}
	var baseSK attr.Value
	if s.table.SK.Name != "" {
		if baseSK, ok = keyValue(start, s.table.SK); !ok {
			return nil, false
		}
	}
	if s.index == nil {
		return keyenc.Item(nil, s.table.ID, basePK, baseSK), fitsLimits([]attr.Value{basePK}, []attr.Value{baseSK})
	}
	pk, ok := keyValuesOf(start, s.pk)
	if !ok {
		return nil, false
	}
	sk, ok := keyValuesOf(start, s.sk)
	if !ok || !fitsLimits(pk, sk) || !fitsLimits([]attr.Value{basePK}, []attr.Value{baseSK}) {
		return nil, false
	}
	return keyenc.IndexEntry(nil, s.table.ID, s.index.ID, pk, sk, basePK, baseSK), true
}

func keyValuesOf(it attr.Item, ks []catalog.KeyAttribute) (values []attr.Value, ok bool) {
	values = make([]attr.Value, len(ks))
	for i, k := range ks {
		if values[i], ok = keyValue(it, k); !ok {
			return nil, false
		}
	}
	return values, true
}

func keyValue(it attr.Item, k catalog.KeyAttribute) (attr.Value, bool) {
	v, ok := it.Get(k.Name)
	return v, ok && derive.Fits(k, v)
}

func fitsLimits(pk, sk []attr.Value) bool {
	return derive.KeyBytes(pk) <= derive.MaxPartitionKeyBytes && derive.KeyBytes(sk) <= derive.MaxSortKeyBytes
}

// after moves the start of the range [lo, hi) after position, in the direction of the walk.
func after(lo, hi, position []byte, reverse bool) (newLo, newHi []byte) {
	if reverse {
		return lo, position
	}
	// No key lies between a key and the same key with a zero byte appended.
	return append(position, 0), hi
}
