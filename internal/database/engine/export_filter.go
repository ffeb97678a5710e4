package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// exportFilter is a FilterSpecification bound to a table: a range of keys, a condition, and a projection.
type exportFilter struct {
	lo, hi []byte
	query  query
	shape  shape
}

// bindExportFilter binds the expressions of a FilterSpecification, which are like those of a Query.
func bindExportFilter(f *api.FilterSpecification) (query, error) {
	q := query{in: new(api.QueryInput)}
	if f == nil {
		return q, nil
	}
	q.in = &api.QueryInput{
		KeyConditionExpression: f.KeyConditionExpression, FilterExpression: f.FilterExpression,
		ProjectionExpression:     f.ProjectionExpression,
		ExpressionAttributeNames: f.ExpressionAttributeNames, ExpressionAttributeValues: f.ExpressionAttributeValues,
	}
	return q, expressionErrorIn("Query", q.bindExpressions())
}

// newExportFilter binds a FilterSpecification, which may be nil, to a table.
func newExportFilter(f *api.FilterSpecification, t *catalog.Table) (*exportFilter, error) {
	x := &exportFilter{}
	x.lo, x.hi = keyenc.IndexBounds(t.ID, 0)
	var err error
	if x.query, err = bindExportFilter(f); err != nil || f == nil {
		return x, err
	}
	x.shape = shapeOf(x.query.projection)
	if f.KeyConditionExpression == nil {
		return x, nil
	}
	source, err := sourceOf(t, nil, false)
	if err != nil {
		return nil, err
	}
	part, err := queryRangeOf(&source, x.query.clauses)
	if err != nil {
		return nil, err
	}
	x.lo, x.hi = part.lo, part.hi
	return x, x.query.checkFilterNames(&source)
}

// of returns the exported part of an item, or nil if it is filtered out.
func (x *exportFilter) of(it itemenc.Item) (itemenc.Item, error) {
	passes, err := matches(x.query.filter, it)
	if err != nil || !passes {
		return nil, err
	}
	return x.shape.of(nil, it)
}
