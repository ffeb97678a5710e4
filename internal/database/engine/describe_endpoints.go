package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// endpointCacheMinutes is how long AWS lets clients cache an endpoint.
const endpointCacheMinutes = 1440

// DescribeEndpoints returns AWS's name of the Region's endpoint. The HTTP layer knows the address by which a client reaches this
// server, and may substitute it.
func (e *Engine) DescribeEndpoints(context.Context, *api.DescribeEndpointsRequest) (*api.DescribeEndpointsResponse, error) {
	return &api.DescribeEndpointsResponse{Endpoints: []api.Endpoint{{
		Address:              new("dynamodb." + e.options.Region + ".amazonaws.com"),
		CachePeriodInMinutes: new(int64(endpointCacheMinutes)),
	}}}, nil
}
