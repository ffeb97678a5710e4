package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// queryRange is the part [lo, hi) of a source that a key condition selects. It lies within one partition.
type queryRange struct {
	lo, hi    []byte
	partition []byte // the prefix that all keys of the partition share
	single    bool   // the condition names one item of a table
}

// queryRangeOf turns the clauses of a key condition into a range of s. DynamoDB wants one equality on each
// partition key attribute, then sort key attributes from left to right without gaps, all but the last by
// equality.
func queryRangeOf(s *readSource, clauses []eval.KeyPredicate) (queryRange, error) {
	if err := checkClauses(s, clauses); err != nil {
		return queryRange{}, err
	}
	pk := make([]attr.Value, len(s.pk))
	for i, k := range s.pk {
		pk[i] = clauseOn(clauses, k.Name).Values[0]
	}
	if derive.KeyBytes(pk) > derive.MaxPartitionKeyBytes {
		return queryRange{}, apierr.PartitionKeyTooBig.With()
	}
	prefix := keyenc.Partition(nil, s.table.ID, s.id(), pk)
	r := queryRange{partition: prefix, single: s.index == nil}
	sortBytes := 0
	for _, k := range s.sk {
		c := clauseOn(clauses, k.Name)
		if c == nil {
			r.single = false
			break
		}
		for _, v := range c.Values {
			if sortBytes+derive.KeyLen(v) > derive.MaxSortKeyBytes {
				return queryRange{}, apierr.SortKeyTooBig.With()
			}
		}
		if c.Op != eval.Equal {
			r.single = false
			r.lo, r.hi = narrow(prefix, c)
			return r, nil
		}
		sortBytes += derive.KeyLen(c.Values[0])
		prefix = extend(prefix, c.Values[0])
	}
	r.lo, r.hi = prefix, keyenc.PrefixEnd(prefix)
	return r, nil
}

// narrow returns the part of the keys with a prefix that a clause other than an equality selects.
func narrow(prefix []byte, c *eval.KeyPredicate) (lo, hi []byte) {
	v := c.Values[0]
	switch c.Op {
	case eval.Less:
		return prefix, extend(prefix, v)
	case eval.LessOrEqual:
		return prefix, keyenc.PrefixEnd(extend(prefix, v))
	case eval.Greater:
		return keyenc.PrefixEnd(extend(prefix, v)), keyenc.PrefixEnd(prefix)
	case eval.GreaterOrEqual:
		return extend(prefix, v), keyenc.PrefixEnd(prefix)
	case eval.Between:
		return extend(prefix, v), keyenc.PrefixEnd(extend(prefix, c.Values[1]))
	default: // eval.BeginsWith
		lo = keyenc.AppendSortPrefix(withRoom(prefix, v), v)
		return lo, keyenc.PrefixEnd(lo)
	}
}

func extend(prefix []byte, v attr.Value) []byte {
	return keyenc.AppendSort(withRoom(prefix, v), v)
}

// withRoom copies prefix, with room behind it for the encoding of v.
func withRoom(prefix []byte, v attr.Value) []byte {
	const around = 32 // more than the encoding of any number, and than what stands around S and B
	return append(make([]byte, 0, len(prefix)+len(v.Text())+around), prefix...)
}

// checkClauses holds the clauses against the key schema of s.
func checkClauses(s *readSource, clauses []eval.KeyPredicate) error {
	used := 0
	for _, k := range s.pk {
		c := clauseOn(clauses, k.Name)
		if c == nil {
			return apierr.KeyConditionLacksKey.With(k.Name)
		}
		if c.Op != eval.Equal {
			return apierr.KeyConditionNotSupported.With()
		}
		used++
	}
	for i, k := range s.sk {
		c := clauseOn(clauses, k.Name)
		if c == nil {
			if used < len(clauses) { // the others are on later attributes, or on none of the key
				return apierr.KeyConditionLacksKey.With(k.Name)
			}
			break
		}
		used++
		if c.Op != eval.Equal && i+1 < len(s.sk) && clauseOn(clauses, s.sk[i+1].Name) != nil {
			return apierr.KeyConditionNotSupported.With()
		}
	}
	if used < len(clauses) {
		return apierr.KeyConditionNotSupported.With()
	}
	return checkClauseValues(s, clauses)
}

func checkClauseValues(s *readSource, clauses []eval.KeyPredicate) error {
	for _, ks := range [2][]catalog.KeyAttribute{s.pk, s.sk} {
		for _, k := range ks {
			c := clauseOn(clauses, k.Name)
			if c == nil {
				continue
			}
			for _, v := range c.Values {
				if v.Kind() != k.Kind {
					return apierr.KeyConditionOfOtherType.With()
				}
				if err := checkNotEmpty(k.Name, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func clauseOn(clauses []eval.KeyPredicate, name string) *eval.KeyPredicate {
	for i := range clauses {
		if clauses[i].Name == name {
			return &clauses[i]
		}
	}
	return nil
}
