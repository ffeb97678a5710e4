package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// DescribeGlobalTableSettings returns the capacity of all replicas of a global table of version 2017.11.29.
func (e *Engine) DescribeGlobalTableSettings(ctx context.Context, in *api.DescribeGlobalTableSettingsInput) (*api.DescribeGlobalTableSettingsOutput, error) {
	d, err := e.legacySettings(ctx, *in.GlobalTableName)
	if err != nil {
		return nil, err
	}
	replicas, err := e.group(ctx, d)
	if err != nil {
		return nil, err
	}
	return &api.DescribeGlobalTableSettingsOutput{GlobalTableName: &d.Name, ReplicaSettings: replicaSettings(replicas, e.options.Now())}, nil
}

// legacySettings is legacyTable with the error message of the settings operations.
func (e *Engine) legacySettings(ctx context.Context, name string) (*catalog.Descriptor, error) {
	d, err := e.legacyTable(ctx, name)
	if known, ok := errors.AsType[*apierr.Error](err); ok && known.Code == apierr.GlobalTableNotFoundException {
		err = apierr.GlobalSettingsMissing.With(name)
	}
	return d, err
}

func replicaSettings(replicas []*replicaMember, now time.Time) (out []api.ReplicaSettingsDescription) {
	for _, x := range replicas {
		d := x.before
		if x.d != nil {
			d = x.d
		}
		out = append(out, schema.DescribeSettings(d, now))
	}
	return out
}

// setScaling changes one of the replica's auto scaling settings.
func setScaling(g *catalog.GlobalTable, name string, in *api.AutoScalingSettingsUpdate) {
	if in == nil {
		return
	}
	if g.Scaling == nil {
		g.Scaling = map[string]catalog.Scaling{}
	}
	g.Scaling[name] = schema.ChangedScaling(g.Scaling[name], in)
}
