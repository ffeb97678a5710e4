package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// endpointCacheMinutes is for how long AWS lets a client keep an endpoint.
const endpointCacheMinutes = 1440

// DescribeEndpoints tells AWS's name for the region's endpoint. The address that a client reaches this
// server by is known to the layer that serves it, which may put it in its place.
func (e *Engine) DescribeEndpoints(context.Context, *api.DescribeEndpointsRequest) (*api.DescribeEndpointsResponse, error) {
	return &api.DescribeEndpointsResponse{Endpoints: []api.Endpoint{{
		Address:              new("dynamodb." + e.options.Region + ".amazonaws.com"),
		CachePeriodInMinutes: new(int64(endpointCacheMinutes)),
	}}}, nil
}
