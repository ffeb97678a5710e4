package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// Change is the effect of one UpdateTable request on a descriptor.
type Change struct {
	Env Env
	in  *api.UpdateTableInput

	// The results of Apply, besides the changed descriptor.
	Built, Dropped []keyenc.IndexID // indexes to be filled, and to be removed
	touched        []keyenc.IndexID // indexes whose throughput changed
	switched       bool             // to provisioned throughput, including that of the indexes
	toOnDemand     bool             // including the indexes
	// warmWas is the warm throughput before it was changed, by index; 0 is the table.
	warmWas map[keyenc.IndexID]catalog.Units
}

// NewChange returns the change requested by an input that CheckUpdate has accepted.
func NewChange(in *api.UpdateTableInput, e Env) Change {
	return Change{Env: e, in: in, warmWas: map[keyenc.IndexID]catalog.Units{}}
}

// Apply changes the descriptor of a table that may be changed, with checks in AWS's order.
func (c *Change) Apply(d *catalog.Descriptor) error {
	c.forgetSettled(d)
	for _, step := range []func(*catalog.Descriptor) error{c.billing, c.indexes, c.vectorIndexes, c.stream, c.settings} {
		if err := step(d); err != nil {
			return err
		}
	}
	if c.ofTable() {
		d.SettledAt = c.Env.SettledAt
	}
	return nil
}

// forgetSettled removes previous throughput that is no longer shown.
func (c *Change) forgetSettled(d *catalog.Descriptor) {
	now := c.Env.Now.UnixMilli()
	if now >= d.SettledAt {
		d.Billing.Throughput.Was = nil
	}
	for i := range d.Indexes {
		if x := &d.Indexes[i]; now >= x.SettledAt {
			x.Throughput.Was = nil
		}
	}
}

// ofTable reports whether the change makes the table itself UPDATING. A change of an index's throughput only affects the index's
// status, and other changes take effect immediately.
func (c *Change) ofTable() bool {
	in := c.in
	return in.BillingMode != nil || in.ProvisionedThroughput != nil || in.StreamSpecification != nil || in.TableClass != nil ||
		makesIndex(in) || dropsIndex(in)
}

// CheckUpdating rejects the change of a table that is UPDATING, except for those that AWS accepts then: of deletion protection,
// encryption and warm throughput, which are the only part of their request, and the deletion of an index whose backfill is in
// progress.
func (c *Change) CheckUpdating(d *catalog.Descriptor) error {
	in := c.in
	if (in.DeletionProtectionEnabled != nil || in.SSESpecification != nil || in.WarmThroughput != nil) && !d.Global.Settling() {
		return nil
	}
	name, deletes := c.onlineIndex()
	for i := range d.Indexes {
		x := &d.Indexes[i]
		switch {
		case x.State == catalog.IndexActive || name == "":
		case x.Name != name:
			return apierr.TooManyIndexesInTheMake.With()
		case x.State == catalog.IndexDeleting:
			return apierr.IndexBeingDeleted.With(d.Name, name)
		case deletes && x.State == catalog.IndexAllocating:
			return apierr.IndexBeingAllocated.With(d.Name, name)
		case deletes && len(c.in.GlobalSecondaryIndexUpdates)+len(c.in.VectorIndexUpdates) == 1:
			return nil
		}
	}
	return apierr.TableBeingUpdated.With(d.Name)
}

// onlineIndex returns the name of the index that the update creates or deletes, or "".
func (c *Change) onlineIndex() (name string, deletes bool) {
	for _, g := range c.in.GlobalSecondaryIndexUpdates {
		switch {
		case g.Create != nil:
			return *g.Create.IndexName, false
		case g.Delete != nil:
			return *g.Delete.IndexName, true
		}
	}
	for _, v := range c.in.VectorIndexUpdates {
		switch {
		case v.Create != nil:
			return *v.Create.IndexName, false
		case v.Delete != nil:
			return *v.Delete.IndexName, true
		}
	}
	return "", false
}

func (c *Change) billing(d *catalog.Descriptor) error {
	in := c.in
	onDemand := d.Billing.OnDemand
	if in.BillingMode != nil {
		onDemand = *in.BillingMode == billingOnDemand
	}
	warm := warmUnits(d.Warm, d.Billing.OnDemand, d.Billing.Throughput)
	switch {
	case onDemand != d.Billing.OnDemand:
		if err := c.switchBilling(d, onDemand); err != nil {
			return err
		}
	case in.ProvisionedThroughput != nil && onDemand:
		return apierr.ThroughputOnDemand.With()
	case in.ProvisionedThroughput != nil:
		if unchanged(d.Billing.Throughput, in.ProvisionedThroughput) {
			return apierr.TableThroughputUnchanged.With(d.Billing.Throughput.Read, d.Billing.Throughput.Write)
		}
		if err := c.changeThroughput(&d.Billing.Throughput, in.ProvisionedThroughput); err != nil {
			return err
		}
	}
	table := target{onDemand: onDemand, throughput: d.Billing.Throughput}
	var err error
	if d.OnDemand, err = table.maxima(d.OnDemand, in.OnDemandThroughput); err != nil {
		return err
	}
	if d.Warm, err = table.warm(d.Warm, in.WarmThroughput); err != nil {
		return err
	}
	if in.WarmThroughput != nil {
		c.warmWas[0] = warm
	} else {
		d.Warm = keptWarm(warm, warmUnits(nil, onDemand, d.Billing.Throughput))
	}
	return nil
}

// switchBilling changes the billing mode of the table and all its global indexes. The new throughput is described immediately.
func (c *Change) switchBilling(d *catalog.Descriptor, onDemand bool) error {
	if !onDemand {
		if err := c.checkIndexThroughputs(d); err != nil {
			return err
		}
		d.OnDemand = nil
	}
	for i := range d.Indexes {
		x := &d.Indexes[i]
		if x.Local || x.Vector != nil {
			continue
		}
		warm := warmUnits(x.Warm, d.Billing.OnDemand, x.Throughput)
		x.Throughput.Read, x.Throughput.Write, x.Throughput.Was = 0, 0, nil
		if u := c.updateOf(x.Name); u != nil && !onDemand {
			x.Throughput.Read, x.Throughput.Write = *u.ProvisionedThroughput.ReadCapacityUnits, *u.ProvisionedThroughput.WriteCapacityUnits
		}
		x.Warm = keptWarm(warm, warmUnits(nil, onDemand, x.Throughput))
		if !onDemand {
			x.OnDemand = nil
		}
	}
	d.Billing.OnDemand = onDemand
	if onDemand {
		c.toOnDemand, d.Billing.BecameOnDemand = true, c.Env.Now.UnixMilli()
		d.Billing.Throughput.Read, d.Billing.Throughput.Write = 0, 0
		return nil
	}
	c.switched = true
	d.Billing.Throughput.Read, d.Billing.Throughput.Write = *c.in.ProvisionedThroughput.ReadCapacityUnits,
		*c.in.ProvisionedThroughput.WriteCapacityUnits
	return nil
}

// checkIndexThroughputs checks that a switch to provisioned throughput specifies it for each global index.
func (c *Change) checkIndexThroughputs(d *catalog.Descriptor) error {
	var lacking []string
	for i := range d.Indexes {
		if x := &d.Indexes[i]; !x.Local && x.Vector == nil && c.updateOf(x.Name) == nil {
			lacking = append(lacking, x.Name)
		}
	}
	if lacking != nil {
		return apierr.IndexThroughputMissing.With(strings.Join(lacking, ","))
	}
	return nil
}

// updateOf returns the update that sets the provisioned throughput of an index, or nil.
func (c *Change) updateOf(index string) *api.UpdateGlobalSecondaryIndexAction {
	for _, g := range c.in.GlobalSecondaryIndexUpdates {
		if g.Update != nil && *g.Update.IndexName == index && g.Update.ProvisionedThroughput != nil {
			return g.Update
		}
	}
	return nil
}

func unchanged(t catalog.Throughput, in *api.ProvisionedThroughput) bool {
	return t.Read == *in.ReadCapacityUnits && t.Write == *in.WriteCapacityUnits
}

func (c *Change) stream(d *catalog.Descriptor) error {
	s := c.in.StreamSpecification
	switch {
	case s == nil:
		return nil
	case d.Replicates() && !*s.StreamEnabled:
		return apierr.StreamOfReplica.With()
	case *s.StreamEnabled && d.Stream.Enabled:
		return apierr.StreamAlreadyEnabled.With(d.Name)
	case *s.StreamEnabled:
		d.Stream = newStream(s, c.Env.Now.UnixMilli())
	case !d.Stream.Enabled:
		return apierr.StreamAlreadyDisabled.With(d.Name)
	default:
		d.Stream.Enabled, d.Stream.View = false, ""
	}
	return nil
}

func (c *Change) settings(d *catalog.Descriptor) error {
	if c.in.SSESpecification != nil {
		var err error
		if d.Encryption, err = c.Env.changedEncryption(d.Encryption, c.in.SSESpecification); err != nil {
			return err
		}
	}
	// A table that never had another class stays without a summary of its class.
	if class := c.in.TableClass; class != nil && *class != cmp.Or(d.Class, classStandard) {
		d.Class, d.ClassChanged = *class, c.Env.Now.UnixMilli()
	}
	if p := c.in.DisassociationProtectionEnabled; p != nil {
		if !d.Replicates() || d.Global.Version != catalog.GlobalVersion2019 {
			return apierr.DisassociationNeedsMREC.With(d.Name)
		}
		d.Global.Unprotected = !*p
	}
	if c.in.DeletionProtectionEnabled != nil {
		d.DeletionBarred = *c.in.DeletionProtectionEnabled
	}
	return nil
}

// Announced returns the table as the response shows it: what has changed is UPDATING, even if only in this response.
func (c *Change) Announced(d *catalog.Descriptor) *catalog.Descriptor {
	out := *d
	moment := c.Env.Now.UnixMilli() + 1
	if c.ofTable() {
		out.SettledAt = max(d.SettledAt, moment)
	}
	out.Indexes = slices.Clone(d.Indexes)
	for i := range out.Indexes {
		if slices.Contains(c.touched, out.Indexes[i].ID) {
			out.Indexes[i].SettledAt = max(d.Indexes[i].SettledAt, moment)
		}
	}
	return &out
}

// FillDescription changes the description of the changed table in the ways that only the response to the change shows: a maximum of -1
// that the request removes, the previous warm throughput, and no time of a switch to on-demand that has just begun.
func (c *Change) FillDescription(d *catalog.Descriptor, out *api.TableDescription) {
	showCleared(&out.OnDemandThroughput, c.in.OnDemandThroughput)
	if was, ok := c.warmWas[0]; ok {
		*out.WarmThroughput = api.TableWarmThroughputDescription{
			ReadUnitsPerSecond: &was.Read, WriteUnitsPerSecond: &was.Write, Status: new(string(catalog.StatusUpdating)),
		}
	}
	if c.toOnDemand {
		out.BillingModeSummary.LastUpdateToPayPerRequestDateTime = nil
	}
	for i := range out.GlobalSecondaryIndexes {
		x := &out.GlobalSecondaryIndexes[i]
		if was, ok := c.warmWas[d.Index(*x.IndexName).ID]; ok {
			*x.WarmThroughput = api.GlobalSecondaryIndexWarmThroughputDescription{
				ReadUnitsPerSecond: &was.Read, WriteUnitsPerSecond: &was.Write, Status: new(string(catalog.StatusUpdating)),
			}
		}
		for _, g := range c.in.GlobalSecondaryIndexUpdates {
			if g.Update != nil && *g.Update.IndexName == *x.IndexName {
				showCleared(&x.OnDemandThroughput, g.Update.OnDemandThroughput)
			}
		}
	}
}

func showCleared(out **api.OnDemandThroughput, in *api.OnDemandThroughput) {
	if in == nil {
		return
	}
	shown := api.OnDemandThroughput{}
	if *out != nil {
		shown = **out
	}
	if in.MaxReadRequestUnits != nil {
		shown.MaxReadRequestUnits = in.MaxReadRequestUnits
	}
	if in.MaxWriteRequestUnits != nil {
		shown.MaxWriteRequestUnits = in.MaxWriteRequestUnits
	}
	*out = &shown
}
