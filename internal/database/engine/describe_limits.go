package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// The quotas of a new AWS account; this server holds nobody to them.
const (
	accountUnitsMax = 80_000
	tableUnitsMax   = 40_000
)

// DescribeLimits tells the provisioned-capacity quotas of the account.
func (e *Engine) DescribeLimits(context.Context, *api.DescribeLimitsInput) (*api.DescribeLimitsOutput, error) {
	return &api.DescribeLimitsOutput{
		AccountMaxReadCapacityUnits:  new(int64(accountUnitsMax)),
		AccountMaxWriteCapacityUnits: new(int64(accountUnitsMax)),
		TableMaxReadCapacityUnits:    new(int64(tableUnitsMax)),
		TableMaxWriteCapacityUnits:   new(int64(tableUnitsMax)),
	}, nil
}
