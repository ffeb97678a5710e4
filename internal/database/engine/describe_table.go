package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// DescribeTable tells a table's definition, status, item count and size.
func (e *Engine) DescribeTable(ctx context.Context, in *api.DescribeTableInput) (*api.DescribeTableOutput, error) {
	d, err := e.catalog.Get(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	description, err := e.describe(ctx, d)
	if err != nil {
		return nil, err
	}
	return &api.DescribeTableOutput{Table: description}, nil
}
