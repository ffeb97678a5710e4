package engine

import (
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// queryRange is the range [lo, hi) of a source that a key condition selects. It lies within one partition.
type queryRange struct {
	lo, hi    []byte
	partition []byte // the prefix of all keys in the partition
	single    bool   // the condition names one item of a table
}

// queryRangeOf converts the clauses of a key condition to a range of s. DynamoDB requires one equality on each partition key
// attribute, then sort key attributes from left to right without gaps, all but the last by equality.
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

// narrow returns the range of keys with a prefix that a clause other than an equality selects.
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

// withRoom copies prefix with extra capacity for the encoding of v.
func withRoom(prefix []byte, v attr.Value) []byte {
	const around = 32 // more than the encoding of any number, and than the overhead of S and B
	return append(make([]byte, 0, len(prefix)+len(v.Text())+around), prefix...)
}

// checkClauses checks the clauses against the key schema of s.
func checkClauses(s *readSource, clauses []eval.KeyPredicate) error {
	check := checkSimpleKey
	if len(s.pk) > 1 || len(s.sk) > 1 {
		check = checkLongKey
	}
	if err := check(s, clauses); err != nil {
		return err
	}
	return checkClauseValues(s, clauses)
}

// checkLongKey checks a key with several HASH or RANGE attributes, for which AWS has its own messages.
func checkLongKey(s *readSource, clauses []eval.KeyPredicate) error {
	if open := withoutEquality(s.pk, clauses); open != nil {
		return apierr.KeyConditionLacksHash.With(strings.Join(open, ", "))
	}
	used := len(s.pk)
	for i, k := range s.sk {
		if clauseOn(clauses, k.Name) == nil {
			continue
		}
		used++
		if open := withoutEquality(s.sk[:i], clauses); open != nil {
			return apierr.KeyConditionLacksRange.With(strings.Join(open, ", "), k.Name)
		}
	}
	if used < len(clauses) {
		return apierr.KeyConditionNotSupported.With()
	}
	return nil
}

// withoutEquality returns the names of the attributes that have no equality.
func withoutEquality(ks []catalog.KeyAttribute, clauses []eval.KeyPredicate) []string {
	var names []string
	for _, k := range ks {
		if c := clauseOn(clauses, k.Name); c == nil || c.Op != eval.Equal {
			names = append(names, k.Name)
		}
	}
	return names
}

// checkSimpleKey checks a key of one HASH attribute and at most one RANGE attribute.
func checkSimpleKey(s *readSource, clauses []eval.KeyPredicate) error {
	hash := clauseOn(clauses, s.pk[0].Name)
	switch {
	case hash == nil:
		return apierr.KeyConditionLacksKey.With(s.pk[0].Name)
	case hash.Op != eval.Equal:
		return apierr.KeyConditionNotSupported.With()
	case len(clauses) == 1:
		return nil
	case len(s.sk) == 0:
		return apierr.KeyConditionNotSupported.With()
	case clauseOn(clauses, s.sk[0].Name) == nil: // the other clause is not on a key attribute
		return apierr.KeyConditionLacksKey.With(s.sk[0].Name)
	default:
		return nil
	}
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
				if kind := derive.EmptyKind(v); kind != "" && s.index != nil && !s.statement {
					return apierr.IndexKeyEmpty.With(kind, s.index.Name, k.Name)
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
