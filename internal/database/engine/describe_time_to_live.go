package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// DescribeTimeToLive returns whether items of a table expire, and the attribute with the expiry time.
func (e *Engine) DescribeTimeToLive(ctx context.Context, in *api.DescribeTimeToLiveInput) (*api.DescribeTimeToLiveOutput, error) {
	d, err := e.find(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	if status := d.Status(e.options.Now()); status == catalog.StatusCreating || status == catalog.StatusDeleting {
		return nil, apierr.TTLNotDescribed.With(status)
	}
	return &api.DescribeTimeToLiveOutput{TimeToLiveDescription: schema.DescribeTTL(d.TTL)}, nil
}
