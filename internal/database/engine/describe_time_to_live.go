package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// DescribeTimeToLive tells whether items of a table expire, and by which attribute.
func (e *Engine) DescribeTimeToLive(ctx context.Context, in *api.DescribeTimeToLiveInput) (*api.DescribeTimeToLiveOutput, error) {
	d, err := e.catalog.Get(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	return &api.DescribeTimeToLiveOutput{TimeToLiveDescription: describeTTL(d.TTL)}, nil
}

func describeTTL(t catalog.TTL) *api.TimeToLiveDescription {
	out := &api.TimeToLiveDescription{}
	switch t.State {
	case catalog.TTLEnabling:
		out.TimeToLiveStatus = new("ENABLING")
	case catalog.TTLEnabled:
		out.TimeToLiveStatus = new("ENABLED")
	case catalog.TTLDisabling:
		out.TimeToLiveStatus = new("DISABLING")
	default:
		out.TimeToLiveStatus = new("DISABLED")
	}
	if t.Attribute != "" {
		out.AttributeName = &t.Attribute
	}
	return out
}
