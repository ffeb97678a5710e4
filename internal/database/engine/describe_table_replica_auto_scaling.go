package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// DescribeTableReplicaAutoScaling returns the auto scaling settings of a table's replicas. They are only stored; no scaling takes
// place.
func (e *Engine) DescribeTableReplicaAutoScaling(ctx context.Context, in *api.DescribeTableReplicaAutoScalingInput) (
	*api.DescribeTableReplicaAutoScalingOutput, error,
) {
	d, err := e.replicated(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	replicas, err := e.group(ctx, d)
	if err != nil {
		return nil, err
	}
	return &api.DescribeTableReplicaAutoScalingOutput{TableAutoScalingDescription: e.describeScaling(d, replicas)}, nil
}

// replicated returns a table that belongs to a global table of version 2019.11.21.
func (e *Engine) replicated(ctx context.Context, nameOrARN string) (*catalog.Descriptor, error) {
	name, err := e.catalog.Name(nameOrARN)
	if err != nil {
		return nil, err
	}
	d, err := e.catalog.Get(ctx, name)
	if isNotFound(err) || err == nil && !d.Synchronized() {
		return nil, apierr.GlobalSettingsMissing.As(apierr.ResourceNotFoundException, name)
	}
	return d, err
}

func (e *Engine) describeScaling(d *catalog.Descriptor, replicas []*replicaMember) *api.TableAutoScalingDescription {
	now := e.options.Now()
	out := &api.TableAutoScalingDescription{TableName: &d.Name, TableStatus: new(string(d.Status(now)))}
	for _, x := range replicas {
		theirs := x.before
		if x.d != nil {
			theirs = x.d
		}
		out.Replicas = append(out.Replicas, schema.DescribeScaling(theirs, x.engine.options.Region, now))
	}
	slices.SortFunc(out.Replicas, func(a, b api.ReplicaAutoScalingDescription) int { return strings.Compare(*a.RegionName, *b.RegionName) })
	return out
}
