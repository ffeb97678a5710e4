package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// exportFilter is a FilterSpecification on a table: a part of its keys, a condition, and the attributes wanted.
type exportFilter struct {
	lo, hi []byte
	query  query
	shape  shape
}

// bindExportFilter binds the expressions of a FilterSpecification, which are those of a Query.
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

// newExportFilter sets a FilterSpecification, which may be nil, on a table.
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

// of returns what is exported of an item, nil where it is not.
func (x *exportFilter) of(it itemenc.Item) (itemenc.Item, error) {
	passes, err := matches(x.query.filter, it)
	if err != nil || !passes {
		return nil, err
	}
	return x.shape.of(nil, it)
}
