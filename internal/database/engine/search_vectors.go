package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/vector"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// topKMax is the maximum number of results.
	topKMax = 100
	// maxSearchBytes limits the total size of the returned items.
	maxSearchBytes = 16 << 20
)

// SearchVectors finds the items of a vector index whose vectors are nearest to a given one. It compares every vector of the
// partition, or of the whole index if it has no partition key, so the result is exact.
func (e *Engine) SearchVectors(ctx context.Context, in *api.SearchVectorsInput) (*api.SearchVectorsOutput, error) {
	s, err := bindSearch(in)
	if err != nil {
		return nil, err
	}
	t, _, err := e.lookup(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	if err := s.plan(t); err != nil {
		return nil, err
	}
	reader, done, err := e.searchReader(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	request := observe.From(ctx)
	begun := request.BeginRead()
	out := new(api.SearchVectorsOutput)
	out.SearchResults, err = s.run(ctx, reader)
	request.EndRead(begun)
	if err != nil {
		return nil, err
	}
	request.Return(int64(len(out.SearchResults)))
	if capacity.DetailOf(in.ReturnConsumedCapacity) != capacity.None {
		consumed := math.Max(float64(s.compared+s.returned), capacity.VectorBytesMin)
		out.ConsumedCapacity = &api.VectorCapacity{VectorSearchRequestBytes: &consumed}
	}
	return out, nil
}

// searchReader returns the reader of a search: vector indexes lag like global indexes.
func (e *Engine) searchReader(ctx context.Context) (r kv.Reader, done func(), err error) {
	if e.past != nil {
		return e.pastReader()
	}
	snapshot, err := e.store.Eventual().Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	return snapshot, func() { _ = snapshot.Close() }, nil
}

// search is a SearchVectorsInput. bindSearch sets the first group of fields, plan the second, run the third.
type search struct {
	in    *api.SearchVectorsInput
	where *eval.SearchCondition // nil if there is none
	shape shape

	table   *catalog.Table
	index   *catalog.Index
	query   *vector.Query
	nearest *vector.Nearest
	filter  *eval.Condition // nil if the range contains only matching entries
	reads   []string        // the attributes used by filter
	lo, hi  []byte
	scratch attr.Item

	compared int // bytes of vectors
	returned int // bytes of items
}

// bindSearch rejects what is invalid judging by the request alone.
func bindSearch(in *api.SearchVectorsInput) (*search, error) {
	if *in.TopK > topKMax {
		return nil, apierr.TopKOutOfRange.With(*in.TopK, topKMax)
	}
	for _, v := range in.SearchVector {
		if fault, found := v.Fault(); found {
			return nil, apierr.InvalidValue("SearchVectors", fault)
		}
	}
	s := &search{in: in}
	return s, expressionErrorIn("SearchVectors", s.bindExpressions())
}

func (s *search) bindExpressions() error {
	in := s.in
	if in.SearchConditionExpression == nil {
		err := checkAlone(in.ProjectionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, "SearchConditionExpression")
		if err != nil || in.ProjectionExpression == nil {
			return err
		}
	}
	b, err := eval.NewBinder(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return err
	}
	if in.SearchConditionExpression != nil {
		if s.where, err = b.SearchCondition(*in.SearchConditionExpression); err != nil {
			return err
		}
	}
	if in.ProjectionExpression != nil {
		projection, err := b.Projection(*in.ProjectionExpression)
		if err != nil {
			return err
		}
		s.shape = shapeOf(projection)
	}
	return b.Done()
}

// plan checks the request against the index and determines the range to read.
func (s *search) plan(t *catalog.Table) error {
	x := t.Index(*s.in.IndexName)
	switch {
	case x == nil || !x.Maintained:
		return apierr.IndexNotInTable.With(*s.in.IndexName)
	case x.Kind != catalog.Vector:
		return apierr.IndexTypeUnsupported.With("SearchVectors")
	case !x.Readable:
		return apierr.VectorIndexBackfilling.With(x.Name)
	}
	s.table, s.index = t, x
	components, fault := vector.Parse(s.in.SearchVector, x.Vector.Dimensions)
	switch fault.Kind {
	case vector.NoFault, vector.NotList: // in the API's model this is always a list
	case vector.WrongLength:
		return apierr.SearchVectorOfOtherLength.With(fault.Actual, x.Vector.Dimensions)
	case vector.ElementType:
		return apierr.SearchVectorOfOtherType.With(fault.Element, fault.Actual)
	case vector.ElementTooHigh:
		return apierr.SearchVectorTooHigh.With(fault.Element, fault.Actual)
	}
	function := vector.Function(x.Vector.Function)
	s.query = vector.NewQuery(function, components)
	s.nearest = vector.NewNearest(function, int(*s.in.TopK))
	if err := s.planCondition(); err != nil {
		return err
	}
	return nestedKeyFault(t, s.shape.nested)
}

// planCondition determines the partition to read, and whether its entries need to be filtered.
func (s *search) planCondition() error {
	x := s.index
	var partition []attr.Value
	var clauses []eval.SearchClause
	if s.where != nil {
		clauses = s.where.Clauses
	}
	for _, c := range clauses {
		k, isKey := s.schemaAttribute(c.Name)
		switch {
		case k.Name == "":
			return apierr.SearchConditionNoSchema.With(c.Name)
		case slices.ContainsFunc(c.Values, func(v attr.Value) bool { return v.Kind() != k.Kind }):
			return apierr.KeyConditionOfOtherType.With()
		case !isKey:
			s.filter, s.reads = s.where.Condition, s.where.Attributes()
		case !c.Pinned:
			return apierr.SearchKeyNotEqual.With()
		case partition != nil: // an index has one partition key
			return apierr.SearchKeyTwice.With()
		default:
			partition = c.Values
		}
	}
	if len(partition) != len(x.PK) {
		return apierr.SearchConditionMissing.With()
	}
	if partition == nil {
		s.lo, s.hi = keyenc.IndexBounds(s.table.ID, x.ID)
		return nil
	}
	s.lo = keyenc.Partition(nil, s.table.ID, x.ID, partition)
	s.hi = keyenc.PrefixEnd(s.lo)
	return nil
}

// schemaAttribute returns an attribute of the search schema by name, and whether it is the partition key, or the zero
// KeyAttribute.
func (s *search) schemaAttribute(name string) (k catalog.KeyAttribute, isKey bool) {
	for _, k := range s.index.PK {
		if k.Name == name {
			return k, true
		}
	}
	for _, k := range s.index.Vector.Filters {
		if k.Name == name {
			return k, false
		}
	}
	return catalog.KeyAttribute{}, false
}

// run compares all vectors of the range and then reads the nearest items, from the same snapshot.
func (s *search) run(ctx context.Context, r kv.Reader) ([]api.SearchResultItem, error) {
	if err := s.compare(ctx, r); err != nil {
		return nil, err
	}
	nearest := s.nearest.Sorted()
	for _, n := range nearest {
		s.returned += n.Bytes
		if s.withVector() {
			s.returned += s.index.Vector.Dimensions * vector.ComponentBytes
		}
	}
	if s.returned > maxSearchBytes {
		return nil, apierr.SearchResultsTooLarge.With()
	}
	if s.returned > api.LargeRead {
		if err := api.ReserveMemory(ctx, int64(s.returned)); err != nil {
			return nil, err
		}
	}
	results := make([]api.SearchResultItem, len(nearest))
	for i := range nearest {
		item, err := s.result(r, nearest[i].Key)
		if err != nil {
			return nil, err
		}
		results[i] = api.SearchResultItem{Item: item, Score: &nearest[i].Score}
	}
	return results, nil
}

// compare walks the range. It counts as a large read, but needs no memory: it keeps only keys.
func (s *search) compare(ctx context.Context, r kv.Reader) error {
	it := r.Iter(s.lo, s.hi, kv.IterOptions{})
	defer it.Close() // its errors are returned by the walk
	large := false
	for n := 0; it.Next(); n++ {
		if n%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		components, projected, err := vector.Split(it.Value(), s.index.Vector.Dimensions)
		if err != nil {
			return err
		}
		passes, err := s.passes(projected)
		if err != nil {
			return err
		}
		if passes {
			s.compared += len(components)
			s.nearest.Offer(it.Key(), s.query.Score(components), projected.Size())
		}
		if !large && (n+1)*len(components) > api.LargeRead {
			large = true
			if err := api.ReserveMemory(ctx, 0); err != nil {
				return err
			}
		}
	}
	return it.Err()
}

// passes evaluates the condition on a projected item, which has all attributes of the search schema.
func (s *search) passes(projected itemenc.Item) (bool, error) {
	if s.filter == nil {
		return true, nil
	}
	var err error
	if s.scratch, err = projected.Borrow(s.scratch[:0], s.reads); err != nil {
		return false, err
	}
	return s.filter.Eval(s.scratch)
}

// result reads the returned part of an entry: without the vector, unless the projection names it.
func (s *search) result(r kv.Reader, key []byte) (itemenc.Item, error) {
	entry, err := r.Get(key)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, fmt.Errorf("engine: table %q: an entry of index %q disappeared from its snapshot", s.table.Name, s.index.Name)
	}
	components, item, err := vector.Split(entry, s.index.Vector.Dimensions)
	if err != nil {
		return nil, err
	}
	if !s.withVector() {
		if s.shape.projection == nil {
			return slices.Clone(item), nil
		}
		return s.shape.of(nil, item)
	}
	v, err := vector.Value(components)
	if err != nil {
		return nil, err
	}
	name := s.index.Vector.Attribute
	if item, err = item.Replace(nil, []string{name}, attr.Item{{Name: name, Value: v}}); err != nil {
		return nil, err
	}
	return s.shape.of(nil, item)
}

// withVector reports whether the results include the vector.
func (s *search) withVector() bool {
	_, found := slices.BinarySearch(s.shape.reads, s.index.Vector.Attribute)
	return found
}
