package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/transfer"
)

// ListImports lists the imports into one table, which need not exist any more, or into all, the newest first.
func (e *Engine) ListImports(ctx context.Context, in *api.ListImportsInput) (*api.ListImportsOutput, error) {
	page, next, err := e.transferList(ctx, transfer.Import, in.TableArn, in.NextToken, in.PageSize)
	if err != nil {
		return nil, err
	}
	out := &api.ListImportsOutput{ImportSummaryList: []api.ImportSummary{}, NextToken: next}
	for _, x := range page {
		d, err := e.describeImport(x)
		if err != nil {
			return nil, err
		}
		out.ImportSummaryList = append(out.ImportSummaryList, api.ImportSummary{
			ImportArn: d.ImportArn, ImportStatus: d.ImportStatus, TableArn: d.TableArn, S3BucketSource: d.S3BucketSource,
			CloudWatchLogGroupArn: d.CloudWatchLogGroupArn, InputFormat: d.InputFormat, StartTime: d.StartTime, EndTime: d.EndTime,
		})
	}
	return out, nil
}
