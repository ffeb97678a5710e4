package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// DescribeBulkOperation tells how far a bulk operation is, or what came of it.
func (e *Engine) DescribeBulkOperation(ctx context.Context, in *api.DescribeBulkOperationInput) (*api.DescribeBulkOperationOutput, error) {
	x, err := e.findTransfer(ctx, transfer.Bulk, *in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	description, err := e.describeBulk(x)
	return &api.DescribeBulkOperationOutput{BulkOperationDescription: description}, err
}
