package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// DescribeImport tells how far an import is, or what came of it.
func (e *Engine) DescribeImport(ctx context.Context, in *api.DescribeImportInput) (*api.DescribeImportOutput, error) {
	x, err := e.findTransfer(ctx, transfer.Import, *in.ImportArn)
	if err != nil {
		return nil, err
	}
	description, err := e.describeImport(x)
	return &api.DescribeImportOutput{ImportTableDescription: description}, err
}
