package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// ListExports lists the exports of one table, or of all, the newest first. Those of a deleted table only appear in the list of
// all.
func (e *Engine) ListExports(ctx context.Context, in *api.ListExportsInput) (*api.ListExportsOutput, error) {
	page, next, err := e.transferList(ctx, transfer.Export, in.TableArn, in.NextToken, in.MaxResults)
	if err != nil {
		return nil, err
	}
	out := &api.ListExportsOutput{ExportSummaries: []api.ExportSummary{}, NextToken: next}
	for _, x := range page {
		request, err := exportRequest(x)
		if err != nil {
			return nil, err
		}
		kind := fullExport
		if request.IncrementalExportSpecification != nil {
			kind = incrementalExport
		}
		out.ExportSummaries = append(out.ExportSummaries, api.ExportSummary{
			ExportArn: new(e.transferARN(x)), ExportStatus: &x.Status, ExportType: &kind,
		})
	}
	return out, nil
}
