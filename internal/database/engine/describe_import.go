package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// DescribeImport describes the progress or the result of an import.
func (e *Engine) DescribeImport(ctx context.Context, in *api.DescribeImportInput) (*api.DescribeImportOutput, error) {
	x, err := e.findTransfer(ctx, transfer.Import, *in.ImportArn)
	if err != nil {
		return nil, err
	}
	description, err := e.describeImport(x)
	return &api.DescribeImportOutput{ImportTableDescription: description}, err
}
