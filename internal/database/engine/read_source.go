package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// readSource is what a Query or Scan reads: a table, or one of its indexes other than vector indexes.
type readSource struct {
	table  *catalog.Table
	index  *catalog.Index // nil for the table itself
	pk, sk []catalog.KeyAttribute

	statement bool // of a PartiQL statement, whose errors do not name the index
}

// sourceOf resolves IndexName. ConsistentRead on a global index is rejected here, because only the table distinguishes global
// from local indexes.
func sourceOf(t *catalog.Table, indexName *string, consistent bool) (readSource, error) {
	if indexName == nil {
		s := readSource{table: t, pk: []catalog.KeyAttribute{t.PK}}
		if t.SK.Name != "" {
			s.sk = []catalog.KeyAttribute{t.SK}
		}
		return s, nil
	}
	x := t.Index(*indexName)
	if x == nil || !x.Maintained {
		return readSource{}, apierr.IndexNotInTable.With(*indexName)
	}
	if x.Kind == catalog.Vector {
		return readSource{}, apierr.IndexTypeUnsupported.With("Query")
	}
	if consistent && x.Kind == catalog.Global {
		return readSource{}, apierr.GlobalIndexConsistent.With()
	}
	if !x.Readable {
		return readSource{}, apierr.IndexBackfilling.With(x.Name)
	}
	return readSource{table: t, index: x, pk: x.PK, sk: x.SK}, nil
}

// reads returns the store's reads for a request's consistency: what an eventually consistent read sees may not be durable yet.
func (e *Engine) reads(c capacity.Consistency) kv.Reads {
	if c == capacity.Eventual {
		return e.store.Eventual()
	}
	return e.store
}

func (s *readSource) isGlobalIndex() bool { return s.index != nil && s.index.Kind == catalog.Global }
func (s *readSource) isLocalIndex() bool  { return s.index != nil && s.index.Kind == catalog.Local }

func (s *readSource) id() keyenc.IndexID {
	if s.index == nil {
		return 0
	}
	return s.index.ID
}

// isKey reports whether name is a key attribute of the source itself (for an index, not of its table).
func (s *readSource) isKey(name string) bool {
	named := func(k catalog.KeyAttribute) bool { return k.Name == name }
	return slices.ContainsFunc(s.pk, named) || slices.ContainsFunc(s.sk, named)
}

// positionNames returns the attributes of LastEvaluatedKey and ExclusiveStartKey, sorted: the source's key, and for an index also
// the table's key, since index keys are not unique.
func (s *readSource) positionNames() []string {
	names := make([]string, 0, len(s.pk)+len(s.sk)+2)
	for _, k := range s.pk {
		names = append(names, k.Name)
	}
	for _, k := range s.sk {
		names = append(names, k.Name)
	}
	if s.index != nil {
		names = append(names, s.table.PK.Name)
		if s.table.SK.Name != "" {
			names = append(names, s.table.SK.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unprojected returns those of names that the source's entries do not contain.
func (s *readSource) unprojected(names []string) []string {
	if s.index == nil || s.index.All {
		return nil
	}
	var missing []string
	for _, name := range names {
		if _, ok := slices.BinarySearch(s.index.Projected, name); !ok {
			missing = append(missing, name)
		}
	}
	return missing
}
