package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// DescribeBulkOperation describes the progress or the result of a bulk operation.
func (e *Engine) DescribeBulkOperation(ctx context.Context, in *api.DescribeBulkOperationInput) (*api.DescribeBulkOperationOutput, error) {
	x, err := e.findTransfer(ctx, transfer.Bulk, *in.BulkOperationArn)
	if err != nil {
		return nil, err
	}
	description, err := e.describeBulk(x)
	return &api.DescribeBulkOperationOutput{BulkOperationDescription: description}, err
}
