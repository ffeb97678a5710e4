package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// DescribeGlobalTable returns the replicas of a global table of version 2017.11.29.
func (e *Engine) DescribeGlobalTable(ctx context.Context, in *api.DescribeGlobalTableInput) (*api.DescribeGlobalTableOutput, error) {
	d, err := e.legacyTable(ctx, *in.GlobalTableName)
	if err != nil {
		return nil, err
	}
	return &api.DescribeGlobalTableOutput{GlobalTableDescription: e.describeLegacy(d, legacyStatus(d))}, nil
}
