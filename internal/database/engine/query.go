package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/observe"
)

// Query reads the items of one partition of a table or index in the order of their sort keys.
func (e *Engine) Query(ctx context.Context, in *api.QueryInput) (*api.QueryOutput, error) {
	q, err := bindQuery(in)
	if err != nil {
		return nil, err
	}
	t, counts, err := e.lookup(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	source, err := sourceOf(t, in.IndexName, isTrue(in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	plan, err := q.plan(source)
	if err != nil {
		return nil, err
	}
	plan.counts, plan.clauses = counts, q.clauses
	p, err := e.readPage(ctx, plan)
	if err != nil {
		return nil, err
	}
	p.count(observe.From(ctx), counts)
	e.rankPartition(insights.Accessed, &source, q.clauses, p.units())
	m := capacity.NewMeter(*in.TableName, capacity.DetailOf(in.ReturnConsumedCapacity), capacity.NoSplit)
	p.charge(m)
	out := &api.QueryOutput{
		Items:            p.items(),
		Count:            &p.passed,
		ScannedCount:     &p.scanned,
		LastEvaluatedKey: p.last,
		ConsumedCapacity: m.Report(),
	}
	if p.arena != nil {
		out.Lend(p.arena)
	}
	return out, nil
}

// query is a QueryInput with bound expressions. The remaining checks need the table.
type query struct {
	in         *api.QueryInput
	clauses    []eval.KeyPredicate
	filter     *eval.Condition
	projection *eval.Projection
}

func bindQuery(in *api.QueryInput) (query, error) {
	if err := refuseMixedQuery(in); err != nil {
		return query{}, err
	}
	s := selectionOf(in.Select, in.AttributesToGet, in.ProjectionExpression, in.IndexName)
	if err := s.check(); err != nil {
		return query{}, enveloped(err)
	}
	q := query{in: in}
	if err := q.bindLegacy(); err != nil {
		return query{}, expressionErrorIn("Query", err)
	}
	if err := checkStartKeyValues("Query", in.ExclusiveStartKey); err != nil {
		return query{}, err
	}
	if err := q.bindExpressions(); err != nil {
		return query{}, expressionErrorIn("Query", err)
	}
	if in.KeyConditions == nil && in.KeyConditionExpression == nil {
		return query{}, apierr.KeyConditionMissing.With()
	}
	return q, nil
}

// refuseMixedQuery rejects expressions combined with legacy parameters. KeyConditions is the exception: old clients send it with
// a FilterExpression or ProjectionExpression, and AWS accepts that.
func refuseMixedQuery(in *api.QueryInput) error {
	return refuseMixing(
		[]parameter{
			{"AttributesToGet", in.AttributesToGet != nil},
			{"QueryFilter", in.QueryFilter != nil},
			{"ConditionalOperator", in.ConditionalOperator != nil},
			{"KeyConditions", in.KeyConditions != nil && in.KeyConditionExpression != nil},
		},
		[]parameter{
			{"ProjectionExpression", in.ProjectionExpression != nil},
			{"FilterExpression", in.FilterExpression != nil},
			{"KeyConditionExpression", in.KeyConditionExpression != nil},
		})
}

func (q *query) hasExpression() bool {
	in := q.in
	return in.KeyConditionExpression != nil || in.FilterExpression != nil || in.ProjectionExpression != nil
}

func (q *query) bindLegacy() error {
	in := q.in
	var err error
	if in.FilterExpression == nil && in.KeyConditionExpression == nil {
		err = checkAlone(in.ProjectionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, "FilterExpression", "KeyConditionExpression")
		if err != nil {
			return err
		}
	}
	if in.AttributesToGet != nil {
		if q.projection, err = eval.LowerAttributesToGet(in.AttributesToGet); err != nil {
			return err
		}
	}
	if in.QueryFilter != nil || in.ConditionalOperator != nil {
		if q.filter, err = eval.LowerFilter("QueryFilter", in.QueryFilter, in.ConditionalOperator); err != nil {
			return err
		}
	}
	if in.KeyConditions != nil {
		q.clauses, err = eval.LowerKeyConditions(in.KeyConditions)
	}
	return err
}

func (q *query) bindExpressions() error {
	in := q.in
	if !q.hasExpression() {
		return nil
	}
	b, err := eval.NewBinder(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return err
	}
	if in.KeyConditionExpression != nil {
		if q.clauses, err = b.KeyCondition(*in.KeyConditionExpression); err != nil {
			return err
		}
	}
	if in.FilterExpression != nil {
		if q.filter, err = b.Condition(expr.Filter, *in.FilterExpression); err != nil {
			return err
		}
	}
	if in.ProjectionExpression != nil {
		if q.projection, err = b.Projection(*in.ProjectionExpression); err != nil {
			return err
		}
	}
	return b.Done()
}

// plan checks the request against the keys of the queried table or index, and determines the range to read.
func (q *query) plan(source readSource) (pagePlan, error) {
	in := q.in
	if err := q.checkCount(&source); err != nil {
		return pagePlan{}, err
	}
	r, err := queryRangeOf(&source, q.clauses)
	if err != nil {
		return pagePlan{}, err
	}
	p := pagePlan{
		source:      source,
		lo:          r.lo,
		hi:          r.hi,
		reverse:     in.ScanIndexForward != nil && !*in.ScanIndexForward,
		limit:       limitOf(in.Limit),
		single:      r.single,
		filter:      q.filter,
		consistency: capacity.ConsistencyOf(in.ConsistentRead),
		shape:       shapeOf(q.projection),
	}
	if err := p.checkNested(); err != nil {
		return pagePlan{}, err
	}
	if err := q.checkFilterNames(&source); err != nil {
		return pagePlan{}, err
	}
	if err := p.shapeFrom(valueOf(in.Select)); err != nil {
		return pagePlan{}, err
	}
	if err := q.checkFilterProjected(&source); err != nil {
		return pagePlan{}, err
	}
	if in.ExclusiveStartKey != nil {
		start, err := queryPosition(&source, &r, in.ExclusiveStartKey)
		if err != nil {
			return pagePlan{}, err
		}
		p.lo, p.hi = after(p.lo, p.hi, start, p.reverse)
	}
	return p, nil
}

// checkCount rejects more conditions than the key has attributes. AWS's message depends on schema and parameter. Two legacy
// conditions on a key of one attribute are left to later checks.
func (q *query) checkCount(source *readSource) error {
	most, n := len(source.pk)+len(source.sk), len(q.clauses)
	switch {
	case n <= most:
		return nil
	case q.in.KeyConditionExpression != nil:
		return apierr.KeyConditionCount.With(n, most)
	case most > 2:
		return apierr.KeyConditionNotSupported.With()
	case n > 2:
		return expressionError(&expr.Error{Kind: expr.KindKeyCount})
	default:
		return nil
	}
}

// checkFilterNames rejects a filter on a key attribute of the queried table or index; it belongs in the key condition.
func (q *query) checkFilterNames(source *readSource) error {
	if q.filter == nil {
		return nil
	}
	for _, name := range q.filter.Attributes() {
		if !source.isKey(name) {
			continue
		}
		if q.in.QueryFilter != nil {
			return apierr.QueryFilterOnKey.With(name)
		}
		return apierr.FilterOnKey.With(name)
	}
	return nil
}

// checkFilterProjected rejects a filter on an attribute that an index does not project. AWS fetches from the table what a local index
// lacks only to return it, not to filter by it. In a Scan of a global index the attribute counts as missing instead.
func (q *query) checkFilterProjected(source *readSource) error {
	if q.filter == nil || source.index == nil {
		return nil
	}
	if missing := source.unprojected(q.filter.Attributes()); len(missing) > 0 {
		return apierr.IndexLacksFiltered.With(source.index.Name, apierr.List(missing))
	}
	return nil
}
