package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// consistency makes the table a replica with the requested consistency, and enforces the rules of multi-Region strong
// consistency: three replicas, or two and a witness, created and deleted together.
func (r *replicasUpdate) consistency() error {
	own, witness := r.replicas[0], r.witness()
	if own.d.IsReplica() {
		if err := r.checkMembers(own.d.Global, witness); err != nil {
			return err
		}
		if witness != nil {
			for _, x := range r.replicas {
				x.d.Global.Witness = ""
			}
		}
		return nil
	}
	strong := schema.RequestsStrong(r.in)
	switch {
	case len(r.created) == 0:
		return apierr.NotAReplica.With(own.d.Name)
	case witness != nil && !strong:
		return apierr.WitnessNeedsStrong.With()
	case witness != nil && witness.Create == nil:
		return apierr.WitnessMissing.With(*witness.Delete.RegionName)
	}
	own.d.Global = &catalog.GlobalTable{Region: own.engine.options.Region, Version: catalog.GlobalVersion2019, Strong: strong}
	if !strong {
		return nil
	}
	if witness != nil {
		own.d.Global.Witness = *witness.Create.RegionName
	}
	return r.checkStrong(own)
}

// checkMembers checks the changes of an existing global table.
func (r *replicasUpdate) checkMembers(g *catalog.GlobalTable, witness *api.GlobalTableWitnessGroupUpdate) error {
	switch {
	case !g.Strong && witness != nil:
		return apierr.WitnessNeedsStrong.With()
	case !g.Strong:
		return nil
	case witness != nil && witness.Create != nil:
		return apierr.StrongIsWhole.With()
	case witness != nil && *witness.Delete.RegionName != g.Witness:
		return apierr.WitnessMissing.With(*witness.Delete.RegionName)
	case len(r.removed) > 0 && witness == nil && g.Witness != "":
		return apierr.WitnessStays.With()
	case (len(r.removed) > 0 || witness != nil) && len(r.removed) != len(g.Replicas):
		return apierr.StrongEndsWhole.With()
	}
	return nil
}

// witness returns the update of a witness, or nil.
func (r *replicasUpdate) witness() *api.GlobalTableWitnessGroupUpdate {
	if len(r.in.GlobalTableWitnessUpdates) == 0 {
		return nil
	}
	return &r.in.GlobalTableWitnessUpdates[0]
}

// checkStrong checks AWS's requirements on a table that gets multi-Region strong consistency.
func (r *replicasUpdate) checkStrong(own *replicaMember) error {
	lo, hi := keyenc.IndexBounds(own.d.ID, 0)
	some, err := firstKey(own.txn, lo, hi)
	switch {
	case err != nil:
		return err
	case some != nil:
		return apierr.StrongNeedsEmpty.With(own.d.Name)
	case own.d.TTL.State != catalog.TTLDisabled:
		return apierr.TTLOfStrong.With(own.d.Name)
	case slices.ContainsFunc(own.d.Indexes, func(x catalog.IndexDescriptor) bool { return x.Local }):
		return apierr.StrongLocalIndexes.With(own.d.Name)
	}
	return nil
}
