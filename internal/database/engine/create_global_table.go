package engine

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// CreateGlobalTable makes a global table of version 2017.11.29 from tables with the same name in several Regions. The response
// shows it CREATING.
func (e *Engine) CreateGlobalTable(ctx context.Context, in *api.CreateGlobalTableInput) (*api.CreateGlobalTableOutput, error) {
	name, seen := *in.GlobalTableName, map[string]bool{}
	var replicas []*replicaMember
	for _, r := range in.ReplicationGroup {
		if r.RegionName == nil || seen[*r.RegionName] {
			return nil, apierr.ReplicaRepeated.With(valueOf(r.RegionName))
		}
		seen[*r.RegionName] = true
		x, err := e.legacyReplica(ctx, name, *r.RegionName)
		if err != nil {
			return nil, err
		}
		replicas = append(replicas, x)
	}
	if len(replicas) == 0 {
		return nil, apierr.ReplicaActions.With()
	}
	err := e.changeLegacy(ctx, replicas, func() error {
		now := e.options.Now()
		for i, x := range replicas {
			if x.d.Legacy() || x.d.IsReplica() {
				return apierr.GlobalTableExists.With(name)
			}
			if err := checkLegacy(replicas[0], x); err != nil {
				return err
			}
			x.d.Global = &catalog.GlobalTable{Region: x.engine.options.Region, Version: catalog.GlobalVersion2017, Created: now.UnixMilli()}
			for _, y := range replicas[:i] {
				connect(x, y)
			}
		}
		return nil
	})
	if errors.Is(err, errReplicasChanged) {
		return e.CreateGlobalTable(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	description := e.describeLegacy(replicas[0].d, string(catalog.StatusCreating))
	for i := range description.ReplicationGroup {
		description.ReplicationGroup[i].ReplicaStatus = new(string(catalog.StatusCreating))
	}
	return &api.CreateGlobalTableOutput{GlobalTableDescription: description}, nil
}
