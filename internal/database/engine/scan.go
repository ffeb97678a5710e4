package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// Scan reads all items of a table or index, or one segment of it, in the order of the hashes of their partition keys.
func (e *Engine) Scan(ctx context.Context, in *api.ScanInput) (*api.ScanOutput, error) {
	s, err := bindScan(in)
	if err != nil {
		return nil, err
	}
	t, counts, err := e.lookup(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	if x := t.Index(valueOf(in.IndexName)); x != nil && x.Kind == catalog.Vector {
		return nil, apierr.IndexTypeUnsupported.With("Scan")
	}
	source, err := sourceOf(t, in.IndexName, isTrue(in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	plan, err := s.plan(source)
	if err != nil {
		return nil, err
	}
	plan.counts = counts
	p, err := e.readPage(ctx, plan)
	if err != nil {
		return nil, err
	}
	p.count(observe.From(ctx), counts)
	m := capacity.NewMeter(*in.TableName, capacity.DetailOf(in.ReturnConsumedCapacity), capacity.NoSplit)
	p.charge(m)
	out := &api.ScanOutput{
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

// scan is a ScanInput with bound expressions. The remaining checks need the table.
type scan struct {
	in         *api.ScanInput
	filter     *eval.Condition
	projection *eval.Projection
}

func bindScan(in *api.ScanInput) (scan, error) {
	err := refuseMixing(
		[]parameter{
			{"AttributesToGet", in.AttributesToGet != nil},
			{"ScanFilter", in.ScanFilter != nil},
			{"ConditionalOperator", in.ConditionalOperator != nil},
		},
		[]parameter{
			{"ProjectionExpression", in.ProjectionExpression != nil},
			{"FilterExpression", in.FilterExpression != nil},
		})
	if err != nil {
		return scan{}, err
	}
	if err := checkSegment(in.Segment, in.TotalSegments); err != nil {
		return scan{}, err
	}
	sel := selectionOf(in.Select, in.AttributesToGet, in.ProjectionExpression, in.IndexName)
	if err := sel.check(); err != nil {
		return scan{}, err
	}
	s := scan{in: in}
	if err := s.bindLegacy(); err != nil {
		return scan{}, expressionErrorIn("Scan", err)
	}
	if err := checkStartKeyValues("Scan", in.ExclusiveStartKey); err != nil {
		return scan{}, err
	}
	return s, expressionErrorIn("Scan", s.bindExpressions())
}

func checkSegment(segment, total *int64) error {
	switch {
	case segment == nil && total == nil:
		return nil
	case total == nil:
		return apierr.TotalSegmentsMissing.With()
	case segment == nil:
		return apierr.SegmentMissing.With()
	case *segment >= *total:
		return apierr.SegmentBeyondSegments.With(*segment, *total)
	default:
		return nil
	}
}

func (s *scan) hasExpression() bool {
	return s.in.FilterExpression != nil || s.in.ProjectionExpression != nil
}

func (s *scan) bindLegacy() error {
	in := s.in
	var err error
	if in.FilterExpression == nil {
		err = checkAlone(in.ProjectionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, "FilterExpression")
		if err != nil {
			return err
		}
	}
	if in.AttributesToGet != nil {
		if s.projection, err = eval.LowerAttributesToGet(in.AttributesToGet); err != nil {
			return err
		}
	}
	if in.ScanFilter != nil || in.ConditionalOperator != nil {
		s.filter, err = eval.LowerFilter("ScanFilter", in.ScanFilter, in.ConditionalOperator)
	}
	return err
}

func (s *scan) bindExpressions() error {
	in := s.in
	if !s.hasExpression() {
		return nil
	}
	b, err := eval.NewBinder(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return err
	}
	if in.FilterExpression != nil {
		if s.filter, err = b.Condition(expr.Filter, *in.FilterExpression); err != nil {
			return err
		}
	}
	if in.ProjectionExpression != nil {
		if s.projection, err = b.Projection(*in.ProjectionExpression); err != nil {
			return err
		}
	}
	return b.Done()
}

// plan determines the range to read.
func (s *scan) plan(source readSource) (pagePlan, error) {
	in := s.in
	p := pagePlan{
		source:      source,
		limit:       limitOf(in.Limit),
		filter:      s.filter,
		consistency: capacity.ConsistencyOf(in.ConsistentRead),
		shape:       shapeOf(s.projection),
	}
	if err := p.checkNested(); err != nil {
		return pagePlan{}, err
	}
	if err := p.shapeFrom(valueOf(in.Select)); err != nil {
		return pagePlan{}, err
	}
	if in.TotalSegments != nil {
		p.lo, p.hi = keyenc.SegmentBounds(source.table.ID, source.id(), *in.Segment, *in.TotalSegments)
	} else {
		p.lo, p.hi = keyenc.IndexBounds(source.table.ID, source.id())
	}
	if in.ExclusiveStartKey == nil {
		return p, nil
	}
	start, ok := source.position(in.ExclusiveStartKey)
	if !ok {
		return pagePlan{}, scanStartFault(&source, in.ExclusiveStartKey)
	}
	if in.TotalSegments != nil && !between(p.lo, start, p.hi) {
		return pagePlan{}, apierr.StartKeyOtherSegment.With(*in.TotalSegments, *in.Segment)
	}
	p.lo, p.hi = after(p.lo, p.hi, start, false)
	return p, nil
}

// scanStartFault returns the error for a start key that does not match the schema. For an incomplete index key AWS's message has
// fewer details.
func scanStartFault(source *readSource, start attr.Item) error {
	if source.index != nil {
		for _, part := range [2][]catalog.KeyAttribute{source.pk, source.sk} {
			for _, k := range part {
				if _, ok := start.Get(k.Name); !ok {
					return apierr.StartKeyInvalid.With()
				}
			}
		}
	}
	return apierr.StartKeyFault.With(apierr.KeyMismatch)
}
