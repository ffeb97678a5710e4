package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// bulkPage is the default page size.
const bulkPage = 10

// ListBulkOperations lists the bulk operations on all tables, the newest first.
func (e *Engine) ListBulkOperations(ctx context.Context, in *api.ListBulkOperationsInput) (*api.ListBulkOperationsOutput, error) {
	limit := in.MaxResults
	if limit == nil {
		limit = new(int64(bulkPage))
	}
	page, next, err := e.transferList(ctx, transfer.Bulk, nil, in.NextToken, limit)
	if err != nil {
		return nil, err
	}
	out := &api.ListBulkOperationsOutput{BulkOperationsSummaryList: []api.BulkOperationSummary{}, NextToken: next}
	for _, x := range page {
		out.BulkOperationsSummaryList = append(out.BulkOperationsSummaryList, api.BulkOperationSummary{
			BulkOperationArn: new(e.transferARN(x)), BulkOperationStatus: &x.Status,
			StartTime: api.TimestampOf(x.Started), EndTime: endTime(x),
		})
	}
	return out, nil
}
