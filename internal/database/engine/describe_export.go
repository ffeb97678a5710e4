package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// DescribeExport describes the progress or the result of an export.
func (e *Engine) DescribeExport(ctx context.Context, in *api.DescribeExportInput) (*api.DescribeExportOutput, error) {
	x, err := e.findTransfer(ctx, transfer.Export, *in.ExportArn)
	if err != nil {
		return nil, err
	}
	description, err := e.describeExport(x)
	return &api.DescribeExportOutput{ExportDescription: description}, err
}
