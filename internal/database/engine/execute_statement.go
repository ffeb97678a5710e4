package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
)

// ExecuteStatement executes one PartiQL statement: one page of a SELECT, or a write of one item.
func (e *Engine) ExecuteStatement(ctx context.Context, in *api.ExecuteStatementInput) (*api.ExecuteStatementOutput, error) {
	s, err := bindStatement("ExecuteStatement", in.Statement, in.Parameters, in.ReturnValuesOnConditionCheckFailure)
	if err != nil {
		return nil, err
	}
	m := capacity.NewMeter(s.source.Table, capacity.DetailOf(in.ReturnConsumedCapacity), capacity.NoSplit)
	out := &api.ExecuteStatementOutput{Items: []itemenc.Item{}}
	out.SetReads(s.Reads())
	switch {
	case s.Exists:
		err = apierr.ExistsNotInTransaction.With()
	case s.Select != nil:
		err = e.executeSelect(ctx, s, in, m, out)
	case in.NextToken != nil:
		err = apierr.StatementToken.With()
	default:
		var returned itemenc.Item
		if returned, err = e.executeWrite(ctx, s, m); returned != nil {
			out.Items = append(out.Items, returned)
		}
	}
	if err != nil {
		return nil, err
	}
	out.ConsumedCapacity = m.Report()
	return out, nil
}

// executeSelect reads one page of a SELECT.
func (e *Engine) executeSelect(ctx context.Context, s *statement, in *api.ExecuteStatementInput, m *capacity.Meter, out *api.ExecuteStatementOutput) error {
	p, err := e.bindSelect(ctx, s, in.ConsistentRead)
	if err != nil {
		return err
	}
	from, err := s.placeOf(in.NextToken, len(p.clauses), p.source.positionNames())
	if err != nil {
		return err
	}
	read, err := e.readPartitions(ctx, p, from, limitOf(in.Limit))
	if err != nil {
		return err
	}
	read.charge(m)
	out.Items = read.items()
	out.Lend(read)
	out.NextToken = s.nextToken(read.next)
	if read.next != nil {
		out.LastEvaluatedKey = read.next.last
	}
	return nil
}
