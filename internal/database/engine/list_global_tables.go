package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

const listGlobalTablesMax = 100

// ListGlobalTables lists the global tables of version 2017.11.29 that have a replica in this Region and in the requested one.
func (e *Engine) ListGlobalTables(_ context.Context, in *api.ListGlobalTablesInput) (*api.ListGlobalTablesOutput, error) {
	limit := listGlobalTablesMax
	if in.Limit != nil {
		limit = int(min(*in.Limit, listGlobalTablesMax))
	}
	out := &api.ListGlobalTablesOutput{GlobalTables: []api.GlobalTable{}}
	tables := e.catalog.Tables()
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		d := tables[name].Descriptor
		if !d.Legacy() || d.Deleting() || name <= valueOf(in.ExclusiveStartGlobalTableName) {
			continue
		}
		group := legacyGroup(d)
		if in.RegionName != nil && !slices.ContainsFunc(group, func(r catalog.Replica) bool { return r.Region == *in.RegionName }) {
			continue
		}
		if n := len(out.GlobalTables); n == limit {
			out.LastEvaluatedGlobalTableName = out.GlobalTables[n-1].GlobalTableName
			break
		}
		g := api.GlobalTable{GlobalTableName: &name}
		for _, r := range group {
			g.ReplicationGroup = append(g.ReplicationGroup, api.Replica{RegionName: new(r.Region)})
		}
		out.GlobalTables = append(out.GlobalTables, g)
	}
	return out, nil
}
