package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// DescribeExport tells how far an export is, or what came of it.
func (e *Engine) DescribeExport(ctx context.Context, in *api.DescribeExportInput) (*api.DescribeExportOutput, error) {
	x, err := e.findTransfer(ctx, transfer.Export, *in.ExportArn)
	if err != nil {
		return nil, err
	}
	description, err := e.describeExport(x)
	return &api.DescribeExportOutput{ExportDescription: description}, err
}
