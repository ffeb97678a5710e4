package schema

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// CheckUpdate checks an UpdateTable request as far as possible without the table: that it changes something, that it does not
// combine changes that AWS requires to be separate, and the form of each part.
func CheckUpdate(in *api.UpdateTableInput) error {
	dropEmpty(in)
	if !requestsChange(in) {
		if in.MultiRegionConsistency != nil {
			return apierr.TableUnchanged.With("") // AWS does not suggest what the request has
		}
		return apierr.TableUnchanged.With("MultiRegionConsistency, ")
	}
	if in.GlobalSecondaryIndexUpdates != nil && len(in.GlobalSecondaryIndexUpdates) == 0 {
		return apierr.IndexUpdatesEmpty.With()
	}
	if err := checkIndexWarmth(in.GlobalSecondaryIndexUpdates); err != nil {
		return err
	}
	if err := checkCombination(in); err != nil {
		return err
	}
	switch provisioned := in.BillingMode != nil && *in.BillingMode == billingProvisioned; {
	case in.ProvisionedThroughput != nil && in.BillingMode != nil && !provisioned:
		return apierr.ThroughputOnDemand.With()
	case in.ProvisionedThroughput == nil && provisioned:
		return apierr.ThroughputMissing.With()
	case in.ProvisionedThroughput != nil:
		if err := checkUnits(in.ProvisionedThroughput, ""); err != nil {
			return err
		}
	}
	if in.TableClass != nil {
		if err := checkClass(*in.TableClass); err != nil {
			return err
		}
	}
	if s := in.StreamSpecification; s != nil {
		switch {
		case *s.StreamEnabled && s.StreamViewType == nil:
			return apierr.StreamViewMissing.With()
		case !*s.StreamEnabled && s.StreamViewType != nil:
			return apierr.StreamViewNeedless.With()
		}
	}
	if err := checkReplicaUpdates(in); err != nil {
		return err
	}
	if err := checkConsistency(in); err != nil {
		return err
	}
	return checkIndexUpdates(in.GlobalSecondaryIndexUpdates, in.VectorIndexUpdates)
}

// dropEmpty removes empty structs. AWS ignores them next to other members; alone they cause an internal error there, and count as
// a request without changes here.
func dropEmpty(in *api.UpdateTableInput) {
	if t := in.OnDemandThroughput; t != nil && *t == (api.OnDemandThroughput{}) {
		in.OnDemandThroughput = nil
	}
	if t := in.WarmThroughput; t != nil && *t == (api.WarmThroughput{}) {
		in.WarmThroughput = nil
	}
}

// requestsChange reports whether a request has a change. A consistency or a witness is one only together with replica updates.
func requestsChange(in *api.UpdateTableInput) bool {
	parts := partsOf(in)
	return len(parts) > 1 || len(parts) == 1 && (parts[0] != partReplicas || len(in.ReplicaUpdates) > 0)
}

// part is one of the changes that an UpdateTable request may ask for.
type part uint8

const (
	partEncryption part = iota
	partClass
	partProtection
	partMaxima
	partWarm
	partBilling
	partThroughput
	partStream
	partIndexes
	partReplicas
	partDisassociation
)

// partsOf lists the parts of a request. Attribute definitions alone are not a change.
func partsOf(in *api.UpdateTableInput) []part {
	var parts []part
	for p, given := range []bool{
		partEncryption:     in.SSESpecification != nil,
		partClass:          in.TableClass != nil,
		partProtection:     in.DeletionProtectionEnabled != nil,
		partMaxima:         in.OnDemandThroughput != nil,
		partWarm:           in.WarmThroughput != nil,
		partBilling:        in.BillingMode != nil,
		partThroughput:     in.ProvisionedThroughput != nil,
		partStream:         in.StreamSpecification != nil,
		partIndexes:        len(in.GlobalSecondaryIndexUpdates)+len(in.VectorIndexUpdates) > 0,
		partReplicas:       ChangesReplicas(in),
		partDisassociation: in.DisassociationProtectionEnabled != nil,
	} {
		if given {
			parts = append(parts, part(p))
		}
	}
	return parts
}

// exclusive are the parts that must be alone, in the order in which AWS names them.
var exclusive = []struct {
	part part
	name string
}{
	{partReplicas, "Replica modification"},
	{partEncryption, "Server-Side Encryption modification"},
	{partClass, "TableClass modification"},
	{partProtection, "DeletionProtection modification"},
	{partDisassociation, "DisassociationProtection modification"},
}

// checkCombination rejects parts that AWS does not accept together.
func checkCombination(in *api.UpdateTableInput) error {
	parts := partsOf(in)
	has := func(p part) bool { return slices.Contains(parts, p) }
	if len(parts) > 1 && (in.MultiRegionConsistency != nil || len(in.GlobalTableWitnessUpdates) > 0) {
		return apierr.ReplicasAndOthersSet.With()
	}
	for _, l := range exclusive {
		if has(l.part) && len(parts) > 1 {
			return apierr.OnlyOperation.With(l.name)
		}
	}
	provisions := has(partThroughput) || in.BillingMode != nil && *in.BillingMode == billingProvisioned
	switch {
	case has(partMaxima) && (len(parts) > 2 || len(parts) == 2 && !has(partBilling)):
		return apierr.MaximaOnlyWithBilling.With()
	case has(partWarm) && makesIndex(in):
		return apierr.IndexAndWarmSet.With()
	case has(partWarm) && len(parts) > 1:
		return apierr.OnlyOperation.With("WarmThroughput")
	case has(partStream) && provisions:
		return apierr.StreamAndThroughputSet.With()
	case has(partThroughput) && (makesIndex(in) || dropsIndex(in)):
		return apierr.IndexAndThroughputSet.With()
	case has(partStream) && (makesIndex(in) || dropsIndex(in)):
		return apierr.IndexAndStreamSet.With()
	}
	return nil
}

func makesIndex(in *api.UpdateTableInput) bool {
	return slices.ContainsFunc(in.GlobalSecondaryIndexUpdates, func(g api.GlobalSecondaryIndexUpdate) bool { return g.Create != nil }) ||
		slices.ContainsFunc(in.VectorIndexUpdates, func(u api.VectorIndexUpdate) bool { return u.Create != nil })
}

func dropsIndex(in *api.UpdateTableInput) bool {
	return slices.ContainsFunc(in.GlobalSecondaryIndexUpdates, func(g api.GlobalSecondaryIndexUpdate) bool { return g.Delete != nil }) ||
		slices.ContainsFunc(in.VectorIndexUpdates, func(u api.VectorIndexUpdate) bool { return u.Delete != nil })
}
