package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

const listTablesMax = 100

// ListTables lists the names of all tables in bytewise order, including tables being created or deleted.
func (e *Engine) ListTables(ctx context.Context, in *api.ListTablesInput) (*api.ListTablesOutput, error) {
	limit, after := listTablesMax, ""
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	if in.ExclusiveStartTableName != nil {
		after = *in.ExclusiveStartTableName
	}
	names, more, err := e.catalog.Names(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	out := &api.ListTablesOutput{TableNames: names}
	if more {
		out.LastEvaluatedTableName = &names[len(names)-1]
	}
	return out, nil
}
