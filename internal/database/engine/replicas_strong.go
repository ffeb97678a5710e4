package engine

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// consistency makes the table a replica with the requested consistency, and enforces the rules of multi-Region strong
// consistency: three replicas, or two and a witness, created and deleted together.
func (r *replicasUpdate) consistency() error {
	own := r.replicas[0]
	witness, err := r.witness()
	if err != nil {
		return err
	}
	if own.d.IsReplica() {
		g := own.d.Global
		switch {
		case r.in.MultiRegionConsistency != nil:
			return apierr.ConsistencyFixed.With()
		case g.Strong && (len(r.created) > 0 || witness != nil && witness.Create != nil):
			return apierr.StrongIsWhole.With()
		case g.Strong && (len(r.removed) > 0 || witness != nil) && (len(r.removed) != len(g.Replicas) || (witness == nil) != (g.Witness == "")):
			return apierr.StrongEndsWhole.With()
		case !g.Strong && witness != nil:
			return apierr.WitnessNeedsStrong.With()
		}
		if witness != nil {
			for _, x := range r.replicas {
				x.d.Global.Witness = ""
			}
		}
		return nil
	}
	strong := r.in.MultiRegionConsistency != nil && *r.in.MultiRegionConsistency == "STRONG"
	switch {
	case len(r.created) == 0:
		return apierr.NotAReplica.With(own.d.Name)
	case !strong && witness != nil:
		return apierr.WitnessNeedsStrong.With()
	}
	own.d.Global = &catalog.GlobalTable{Region: own.engine.options.Region, Version: catalog.GlobalVersion2019, Strong: strong}
	if !strong {
		return nil
	}
	if witness != nil {
		if witness.Create == nil {
			return apierr.ReplicaMissing.With()
		}
		own.d.Global.Witness = *witness.Create.RegionName
	}
	return r.checkStrong(own)
}

// witness returns the update of a witness, or nil.
func (r *replicasUpdate) witness() (*api.GlobalTableWitnessGroupUpdate, error) {
	if len(r.in.GlobalTableWitnessUpdates) == 0 {
		return nil, nil //nolint:nilnil // there may be none
	}
	w := &r.in.GlobalTableWitnessUpdates[0]
	if (w.Create == nil) == (w.Delete == nil) {
		return nil, apierr.WitnessActions.With()
	}
	if g := r.replicas[0].d.Global; w.Delete != nil && (g == nil || g.Witness != *w.Delete.RegionName) {
		return nil, apierr.ReplicaMissing.With()
	}
	return w, nil
}

// strongSets are the sets of Regions in which AWS offers multi-Region strong consistency; a global table must be within one set.
var strongSets = [][]string{
	{"us-east-1", "us-east-2", "us-west-2"},
	{"eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1"},
	{"ap-northeast-1", "ap-northeast-2", "ap-northeast-3"},
}

// checkStrong checks AWS's requirements on a table that gets multi-Region strong consistency.
func (r *replicasUpdate) checkStrong(own *replicaMember) error {
	places := []string{own.engine.options.Region}
	for _, n := range r.created {
		places = append(places, n.engine.options.Region)
	}
	if w := own.d.Global.Witness; w != "" {
		places = append(places, w)
	}
	slices.Sort(places)
	within := func(set []string) bool {
		return !slices.ContainsFunc(places, func(region string) bool { return !slices.Contains(set, region) })
	}
	lo, hi := keyenc.IndexBounds(own.d.ID, 0)
	some, err := firstKey(own.txn, lo, hi)
	switch {
	case err != nil:
		return err
	case len(slices.Compact(places)) != 3:
		return apierr.StrongNeedsThree.With()
	case !slices.ContainsFunc(strongSets, within):
		return apierr.StrongRegions.With()
	case some != nil:
		return apierr.StrongNeedsEmpty.With(own.d.Name)
	case own.d.TTL.State != catalog.TTLDisabled:
		return apierr.TTLOfStrong.With(own.d.Name)
	case slices.ContainsFunc(own.d.Indexes, func(x catalog.IndexDescriptor) bool { return x.Local }):
		return apierr.StrongLocalIndexes.With(own.d.Name)
	}
	return nil
}
