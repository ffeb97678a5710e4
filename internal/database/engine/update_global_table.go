package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
)

// UpdateGlobalTable adds tables to a global table of version 2017.11.29, and removes others from it without deleting them. The
// response shows it UPDATING.
func (e *Engine) UpdateGlobalTable(ctx context.Context, in *api.UpdateGlobalTableInput) (*api.UpdateGlobalTableOutput, error) {
	name := *in.GlobalTableName
	if len(in.ReplicaUpdates) == 0 {
		return nil, apierr.ReplicaActions.With()
	}
	before, err := e.legacyTable(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &replicasUpdate{engine: e, now: e.options.Now()}
	if r.replicas, err = e.group(ctx, before); err != nil {
		return nil, err
	}
	added, err := e.planLegacy(ctx, r, in)
	if err != nil {
		return nil, err
	}
	err = e.changeLegacy(ctx, append(slices.Clip(r.replicas), added...), func() error {
		r.jobs = map[*Engine][]job.Record{}
		if !r.sameReplicas() || !r.replicas[0].d.Legacy() {
			return errReplicasChanged
		}
		return r.editLegacy(added)
	})
	if errors.Is(err, errReplicasChanged) {
		return e.UpdateGlobalTable(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	for x, jobs := range r.jobs {
		x.jobs.start(jobs...)
	}
	return &api.UpdateGlobalTableOutput{GlobalTableDescription: e.describeLegacy(r.replicas[0].d, string(catalog.StatusUpdating))}, nil
}

// planLegacy evaluates the updates of the request; r gets the Regions to be removed.
func (e *Engine) planLegacy(ctx context.Context, r *replicasUpdate, in *api.UpdateGlobalTableInput) (added []*replicaMember, err error) {
	name, seen := *in.GlobalTableName, map[string]bool{}
	for _, u := range in.ReplicaUpdates {
		var region string
		switch {
		case (u.Create == nil) == (u.Delete == nil):
			return nil, apierr.ReplicaActions.With()
		case u.Create != nil:
			if region = *u.Create.RegionName; r.replica(region) != nil {
				return nil, apierr.ReplicaOfGlobalExists.With(name, region)
			}
			x, err := e.legacyReplica(ctx, name, region)
			if err != nil {
				return nil, err
			}
			added = append(added, x)
		default:
			if region = *u.Delete.RegionName; r.replica(region) == nil {
				return nil, apierr.ReplicaOfGlobalMissing.With(name, region)
			}
			r.removed = append(r.removed, region)
		}
		if seen[region] {
			return nil, apierr.ReplicaRepeated.With(region)
		}
		seen[region] = true
	}
	return added, nil
}

func (r *replicasUpdate) editLegacy(added []*replicaMember) error {
	own := r.replicas[0]
	for i, x := range added {
		for _, y := range append(slices.Clip(r.replicas), x) {
			if err := checkLegacy(own, y); err != nil {
				return err
			}
		}
		if x.d.Legacy() || x.d.IsReplica() {
			return apierr.ReplicaOfGlobalExists.With(x.d.Name, x.engine.options.Region)
		}
		x.d.Global = &catalog.GlobalTable{Region: x.engine.options.Region, Version: catalog.GlobalVersion2017, Created: own.d.Global.Created}
		for _, y := range append(slices.Clip(r.replicas), added[:i]...) {
			connect(x, y)
		}
	}
	return r.removeReplicas(true, r.named(r.removed)...)
}
