package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// DescribeContinuousBackups returns the times to which a table can be restored.
func (e *Engine) DescribeContinuousBackups(ctx context.Context, in *api.DescribeContinuousBackupsInput) (*api.DescribeContinuousBackupsOutput, error) {
	d, err := e.backupTable(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	description, err := e.describeContinuousBackups(ctx, d)
	return &api.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: description}, err
}
