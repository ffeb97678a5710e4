package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/capacity"
)

// BatchExecuteStatement executes up to 25 PartiQL statements one after the other, each independently: an error of one statement
// is reported for it, and the others are executed.
func (e *Engine) BatchExecuteStatement(ctx context.Context, in *api.BatchExecuteStatementInput) (*api.BatchExecuteStatementOutput, error) {
	statements := make([]*statement, len(in.Statements))
	faults := make([]error, len(in.Statements))
	for i := range in.Statements {
		r := &in.Statements[i]
		statements[i], faults[i] = bindStatement("BatchExecuteStatement", r.Statement, r.Parameters, r.ReturnValuesOnConditionCheckFailure)
		if faults[i] == nil {
			faults[i] = r.Refused()
		}
	}
	if mixesReads(statements) {
		return nil, apierr.BatchStatementsMixed.With()
	}
	ms := meters{detail: capacity.DetailOf(in.ReturnConsumedCapacity)}
	out := &api.BatchExecuteStatementOutput{Responses: make([]api.BatchStatementResponse, len(statements))}
	out.SetReads(!slices.ContainsFunc(statements, func(s *statement) bool { return s != nil && !s.Reads() }))
	items := 0 // total bytes of the items in the responses
	for i, s := range statements {
		r, err := &out.Responses[i], faults[i]
		if err == nil && items > api.LargeRead {
			err = api.ReserveMemory(ctx, maxItemBytes)
		}
		if err == nil {
			r.TableName = &s.source.Table
			r.Item, err = e.executeOfBatch(ctx, s, in.Statements[i].ConsistentRead, &ms)
		}
		if err == nil {
			items += len(r.Item)
			continue
		}
		if r.Error = statementError(err); r.Error == nil {
			return nil, err
		}
		items += len(r.Error.Item)
	}
	out.ConsumedCapacity = ms.reports()
	return out, nil
}

func (e *Engine) executeOfBatch(ctx context.Context, s *statement, consistentRead *bool, ms *meters) (itemenc.Item, error) {
	switch {
	case s.Exists:
		return nil, apierr.ExistsNotInTransaction.With()
	case s.Select == nil:
		return e.executeWrite(ctx, s, ms.of(s.source.Table))
	case s.source.Index != "":
		return nil, apierr.BatchSelectLacksKey.With()
	}
	p, err := e.bindSelect(ctx, s, consistentRead)
	if err != nil {
		return nil, err
	}
	one, err := p.isOneItem()
	if err != nil {
		return nil, err
	}
	if !one {
		return nil, apierr.BatchSelectLacksKey.With()
	}
	read, err := e.readPartitions(ctx, p, place{}, 0)
	if err != nil {
		return nil, err
	}
	read.charge(ms.of(s.source.Table))
	if items := read.items(); len(items) > 0 {
		return items[0], nil
	}
	return nil, nil
}

// batchCodes maps the code of a statement's own error to the code in a BatchStatementError.
var batchCodes = map[apierr.Code]string{
	apierr.AccessDeniedException:                    "AccessDenied",
	apierr.ConditionalCheckFailedException:          "ConditionalCheckFailed",
	apierr.DuplicateItemException:                   "DuplicateItem",
	apierr.ItemCollectionSizeLimitExceededException: "ItemCollectionSizeLimitExceeded",
	apierr.ProvisionedThroughputExceededException:   "ProvisionedThroughputExceeded",
	apierr.RequestLimitExceeded:                     "RequestLimitExceeded",
	apierr.ResourceNotFoundException:                "ResourceNotFound",
	apierr.ThrottlingException:                      "ThrottlingError",
	apierr.TransactionConflictException:             "TransactionConflict",
	apierr.ValidationException:                      "ValidationError",
}

// statementError returns how a batch reports an error of one statement, or nil if the error is one of the whole batch.
func statementError(err error) *api.BatchStatementError {
	known, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		return nil
	}
	code, ok := batchCodes[known.Code]
	if !ok {
		return nil
	}
	e := &api.BatchStatementError{Code: &code, Message: &known.Message}
	if failed, ok := known.Details.(api.ConditionalCheckFailedDetails); ok {
		e.Item = failed.Item
	}
	return e
}
