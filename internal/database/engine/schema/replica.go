package schema

import (
	"reflect"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

const settingsModeDefault = "ENABLED_WITH_OVERRIDES"

// ChangesReplicas reports whether an UpdateTable request changes the replicas of the table.
func ChangesReplicas(in *api.UpdateTableInput) bool {
	return len(in.ReplicaUpdates) > 0 || len(in.GlobalTableWitnessUpdates) > 0 || in.MultiRegionConsistency != nil
}

// checkReplicaUpdates checks the form of replica updates: one action each, which changes something, and Disassociate alone.
func checkReplicaUpdates(in *api.UpdateTableInput) error {
	dropRepeatedCreates(in)
	for i := range in.ReplicaUpdates {
		u := &in.ReplicaUpdates[i]
		actions := 0
		for _, given := range []bool{u.Create != nil, u.Update != nil, u.Delete != nil, u.Disassociate != nil} {
			if given {
				actions++
			}
		}
		switch {
		case actions > 1:
			return apierr.ReplicaActionsDiffer.With()
		case actions == 0, u.Update != nil && !overrides(u.Update):
			return apierr.ReplicaActionMissing.With()
		case u.Disassociate != nil && len(in.ReplicaUpdates)+len(in.GlobalTableWitnessUpdates) > 1:
			return apierr.DisassociationAlone.With()
		case u.Disassociate != nil && u.Disassociate.DisassociationMode == nil:
			return apierr.DisassociationMode.With()
		}
	}
	return nil
}

// dropRepeatedCreates removes exact repetitions of a Create, which AWS ignores.
func dropRepeatedCreates(in *api.UpdateTableInput) {
	var kept []api.ReplicationGroupUpdate
	for _, u := range in.ReplicaUpdates {
		same := func(other api.ReplicationGroupUpdate) bool { return reflect.DeepEqual(u, other) }
		if u.Create == nil || !slices.ContainsFunc(kept, same) {
			kept = append(kept, u)
		}
	}
	in.ReplicaUpdates = kept
}

// overrides reports whether an Update has a setting, of the replica or of one of its indexes.
func overrides(u *api.UpdateReplicationGroupMemberAction) bool {
	return u.KMSMasterKeyId != nil || u.ProvisionedThroughputOverride != nil || u.OnDemandThroughputOverride != nil ||
		u.TableClassOverride != nil || slices.ContainsFunc(u.GlobalSecondaryIndexes, func(x api.ReplicaGlobalSecondaryIndex) bool {
		return x.ProvisionedThroughputOverride != nil || x.OnDemandThroughputOverride != nil
	})
}

// StreamOfReplicas enables the stream that replication needs on a table that becomes a replica, and reports whether it had none.
func StreamOfReplicas(d *catalog.Descriptor, e Env) bool {
	if d.Stream.Enabled {
		return false
	}
	d.Stream = newStream(&api.StreamSpecification{StreamViewType: new(string(catalog.NewAndOldImages))}, e.Now.UnixMilli())
	return true
}

// NewReplica returns the definition of a new replica of a table in the Region of e. It has the settings that AWS keeps the same
// in all replicas: keys, indexes, billing, capacity, stream, time to live. Tags, policies, point-in-time recovery, deletion
// protection, contributor insights and Kinesis destinations are separate for each replica. The descriptor has neither UUID nor ID
// yet.
func NewReplica(source *catalog.Descriptor, a *api.CreateReplicationGroupMemberAction, e Env) (*catalog.Descriptor, error) {
	now := e.Now.UnixMilli()
	d := &catalog.Descriptor{
		Name: source.Name, Created: now, ReadyAt: e.SettledAt,
		Attributes: slices.Clone(source.Attributes), Keys: source.Keys, LastIndexID: source.LastIndexID,
		OnDemand: source.OnDemand, Warm: source.Warm, Class: source.Class,
	}
	d.Billing.OnDemand, d.Billing.Throughput = source.Billing.OnDemand, sameUnits(source.Billing.Throughput)
	if d.Billing.OnDemand {
		d.Billing.BecameOnDemand = now
	}
	for _, x := range source.Indexes {
		if x.State == catalog.IndexDeleting {
			continue
		}
		x.State, x.SettledAt, x.Insights, x.Throughput = catalog.IndexActive, 0, nil, sameUnits(x.Throughput)
		d.Indexes = append(d.Indexes, x)
	}
	if source.Stream.Enabled {
		d.Stream = newStream(&api.StreamSpecification{StreamViewType: &source.Stream.View}, now)
	}
	if t := source.TTL; t.State == catalog.TTLEnabled || t.State == catalog.TTLEnabling {
		d.TTL = catalog.TTL{Attribute: t.Attribute, State: catalog.TTLEnabled, Changed: t.Changed}
	}
	if source.Encryption.KeyARN != "" {
		var err error
		if d.Encryption, err = e.encryption(&api.SSESpecification{SSEType: new(sseKMS)}); err != nil {
			return nil, err
		}
	}
	d.Global = &catalog.GlobalTable{Region: e.Region, Version: catalog.GlobalVersion2019, Filling: true}
	return d, e.Override(d, applicable(d, a))
}

// applicable returns the overrides of a Create without what AWS ignores there, but rejects in an Update: those of unknown indexes,
// and provisioned throughput of an on-demand table.
func applicable(d *catalog.Descriptor, a *api.CreateReplicationGroupMemberAction) *api.UpdateReplicationGroupMemberAction {
	out := &api.UpdateReplicationGroupMemberAction{
		RegionName: a.RegionName, KMSMasterKeyId: a.KMSMasterKeyId, ProvisionedThroughputOverride: a.ProvisionedThroughputOverride,
		OnDemandThroughputOverride: a.OnDemandThroughputOverride, TableClassOverride: a.TableClassOverride,
	}
	if d.Billing.OnDemand {
		out.ProvisionedThroughputOverride = nil
	}
	for _, x := range a.GlobalSecondaryIndexes {
		if known := d.Index(*x.IndexName); known == nil || known.Local || known.Vector != nil {
			continue
		}
		if d.Billing.OnDemand {
			x.ProvisionedThroughputOverride = nil
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, x)
	}
	return out
}

// Override applies the settings in which a replica in the Region of e differs from the others.
func (e Env) Override(d *catalog.Descriptor, a *api.UpdateReplicationGroupMemberAction) error {
	o := &d.Global.Overrides
	if err := overrideReads(d, &d.Billing.Throughput, &d.OnDemand, a.ProvisionedThroughputOverride, a.OnDemandThroughputOverride, &o.Read, &o.MaxRead); err != nil {
		return err
	}
	for i := range a.GlobalSecondaryIndexes {
		in := &a.GlobalSecondaryIndexes[i]
		x := d.Index(*in.IndexName)
		if x == nil || x.Local || x.Vector != nil {
			return apierr.OverrideIndexMissing.With(*in.IndexName)
		}
		own := o.Index(x.Name)
		if err := overrideReads(d, &x.Throughput, &x.OnDemand, in.ProvisionedThroughputOverride, in.OnDemandThroughputOverride, &own.Read, &own.MaxRead); err != nil {
			return err
		}
	}
	if a.TableClassOverride != nil {
		d.Class, o.Class = *a.TableClassOverride, *a.TableClassOverride
	}
	if a.KMSMasterKeyId == nil {
		return nil
	}
	var err error
	d.Encryption, err = e.encryption(&api.SSESpecification{SSEType: new(sseKMS), KMSMasterKeyId: a.KMSMasterKeyId})
	o.Key = d.Encryption.KeyARN
	return err
}

func overrideReads(d *catalog.Descriptor, t *catalog.Throughput, maxima **catalog.Maxima, provisioned *api.ProvisionedThroughputOverride,
	onDemand *api.OnDemandThroughputOverride, read, maxRead **int64,
) error {
	if provisioned != nil && provisioned.ReadCapacityUnits != nil {
		if d.Billing.OnDemand {
			return apierr.OverrideNotProvisioned.With()
		}
		t.Read, *read = *provisioned.ReadCapacityUnits, provisioned.ReadCapacityUnits
	}
	if onDemand != nil && onDemand.MaxReadRequestUnits != nil {
		if !d.Billing.OnDemand {
			return apierr.OverrideNotOnDemand.With()
		}
		m := catalog.Maxima{Read: -1, Write: -1}
		if *maxima != nil {
			m = **maxima
		}
		m.Read, *maxRead = *onDemand.MaxReadRequestUnits, onDemand.MaxReadRequestUnits
		*maxima = &m
	}
	return nil
}

// Synchronized returns the part of an UpdateTable request that also applies to the other replicas, adapted to the replica d, or
// nil. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
func Synchronized(in *api.UpdateTableInput, d *catalog.Descriptor) *api.UpdateTableInput {
	own := d.Global.Overrides
	out := &api.UpdateTableInput{
		TableName: in.TableName, AttributeDefinitions: in.AttributeDefinitions, BillingMode: in.BillingMode,
		WarmThroughput: in.WarmThroughput, VectorIndexUpdates: in.VectorIndexUpdates,
	}
	if t := in.ProvisionedThroughput; t != nil {
		both := *t
		if own.Read != nil {
			both.ReadCapacityUnits = own.Read
		}
		if in.BillingMode != nil || !unchanged(d.Billing.Throughput, &both) {
			out.ProvisionedThroughput = &both
		}
	}
	if t := in.OnDemandThroughput; t != nil {
		both := *t
		if own.MaxRead != nil {
			both.MaxReadRequestUnits = nil
		}
		if both != (api.OnDemandThroughput{}) {
			out.OnDemandThroughput = &both
		}
	}
	if in.SSESpecification != nil && in.SSESpecification.KMSMasterKeyId == nil {
		if turnedOn := in.SSESpecification.Enabled == nil || *in.SSESpecification.Enabled; turnedOn != (d.Encryption.KeyARN != "") {
			out.SSESpecification = in.SSESpecification
		}
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if u.Update != nil && u.Update.ProvisionedThroughput != nil {
			both, x := *u.Update.ProvisionedThroughput, d.Index(*u.Update.IndexName)
			if read := own.Index(*u.Update.IndexName).Read; read != nil {
				both.ReadCapacityUnits = read
			}
			if x != nil && in.BillingMode == nil && unchanged(x.Throughput, &both) {
				continue
			}
			changed := *u.Update
			changed.ProvisionedThroughput = &both
			u.Update = &changed
		}
		out.GlobalSecondaryIndexUpdates = append(out.GlobalSecondaryIndexUpdates, u)
	}
	if !requestsChange(out) {
		return nil
	}
	return out
}

// DescribeGlobal adds the description of the global table that the table is part of. replica returns the definition of the
// replica in a Region, or nil if it is unknown.
func DescribeGlobal(out *api.TableDescription, d *catalog.Descriptor, replica func(region string) *catalog.Descriptor) {
	if !d.IsReplica() || d.GoneAt != 0 {
		return
	}
	g := d.Global
	out.GlobalTableVersion = &g.Version
	for i := range g.Replicas {
		out.Replicas = append(out.Replicas, describeReplica(&g.Replicas[i], replica(g.Replicas[i].Region)))
	}
	if g.Version != catalog.GlobalVersion2019 {
		return
	}
	for i := range out.Replicas {
		out.Replicas[i].GlobalTableSettingsReplicationMode = new(settingsModeDefault)
	}
	if g.Strong {
		out.MultiRegionConsistency = new(strong) // AWS omits EVENTUAL
	} else {
		out.DisassociationProtectionEnabled = new(!g.Unprotected)
	}
	out.GlobalTableSettingsReplicationMode = new(settingsModeDefault)
	if g.Witness != "" {
		out.GlobalTableWitnesses = []api.GlobalTableWitnessDescription{{RegionName: &g.Witness, WitnessStatus: new(string(catalog.StatusActive))}}
	}
}

func describeReplica(r *catalog.Replica, d *catalog.Descriptor) api.ReplicaDescription {
	out := api.ReplicaDescription{RegionName: &r.Region, ReplicaStatus: new(string(r.Status()))}
	if d == nil || d.Global == nil {
		return out
	}
	warm := WarmOf(d, nil)
	out.WarmThroughput = &api.TableWarmThroughputDescription{
		ReadUnitsPerSecond: &warm.Read, WriteUnitsPerSecond: &warm.Write, Status: warmStatus(*out.ReplicaStatus),
	}
	o := &d.Global.Overrides
	out.ProvisionedThroughputOverride, out.OnDemandThroughputOverride = describeOverrides(o.Read, o.MaxRead)
	if o.Key != "" {
		out.KMSMasterKeyId = &o.Key
	}
	if o.Class != "" {
		out.ReplicaTableClassSummary = &api.TableClassSummary{TableClass: &o.Class}
	}
	for i := range d.Indexes {
		x := &d.Indexes[i]
		if x.Local || x.Vector != nil {
			continue
		}
		warm := WarmOf(d, x)
		described := api.ReplicaGlobalSecondaryIndexDescription{
			IndexName: &x.Name, WarmThroughput: &api.GlobalSecondaryIndexWarmThroughputDescription{
				ReadUnitsPerSecond: &warm.Read, WriteUnitsPerSecond: &warm.Write, Status: warmStatus(*out.ReplicaStatus),
			},
		}
		if i := slices.IndexFunc(o.Indexes, func(own catalog.IndexOverrides) bool { return own.Name == x.Name }); i >= 0 {
			described.ProvisionedThroughputOverride, described.OnDemandThroughputOverride = describeOverrides(o.Indexes[i].Read, o.Indexes[i].MaxRead)
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, described)
	}
	return out
}

func describeOverrides(read, maxRead *int64) (provisioned *api.ProvisionedThroughputOverride, onDemand *api.OnDemandThroughputOverride) {
	if read != nil {
		provisioned = &api.ProvisionedThroughputOverride{ReadCapacityUnits: read}
	}
	if maxRead != nil {
		onDemand = &api.OnDemandThroughputOverride{MaxReadRequestUnits: maxRead}
	}
	return provisioned, onDemand
}
