package engine

import (
	"context"

	"github.com/monotable/monotable/internal/dynamo/api"
)

// endpointCacheMinutes is for how long AWS lets a client keep an endpoint.
const endpointCacheMinutes = 1440

// DescribeEndpoints tells the address that clients which ask for it use from then on: Options.Endpoint, or
// else AWS's name for the region's endpoint, which only the caller of the API can replace by its own.
func (e *Engine) DescribeEndpoints(context.Context, *api.DescribeEndpointsRequest) (*api.DescribeEndpointsResponse, error) {
	return &api.DescribeEndpointsResponse{Endpoints: []api.Endpoint{{
		Address:              new("dynamodb." + e.options.Region + ".amazonaws.com"),
		CachePeriodInMinutes: new(int64(endpointCacheMinutes)),
	}}}, nil
}
