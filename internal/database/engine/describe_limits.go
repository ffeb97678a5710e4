package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// DescribeLimits returns the account's quotas of provisioned capacity. They apply where capacity is enforced.
func (e *Engine) DescribeLimits(context.Context, *api.DescribeLimitsInput) (*api.DescribeLimitsOutput, error) {
	return &api.DescribeLimitsOutput{
		AccountMaxReadCapacityUnits:  new(int64(schema.AccountUnitsMax)),
		AccountMaxWriteCapacityUnits: new(int64(schema.AccountUnitsMax)),
		TableMaxReadCapacityUnits:    new(int64(schema.TableUnitsMax)),
		TableMaxWriteCapacityUnits:   new(int64(schema.TableUnitsMax)),
	}, nil
}
