package schema

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// CheckUpdate checks what the request alone shows wrong.
func CheckUpdate(in *api.UpdateTableInput) error {
	if in.ProvisionedThroughput == nil && in.BillingMode == nil && in.StreamSpecification == nil &&
		len(in.GlobalSecondaryIndexUpdates) == 0 && in.SSESpecification == nil && in.TableClass == nil &&
		in.DeletionProtectionEnabled == nil && in.OnDemandThroughput == nil && in.WarmThroughput == nil {
		return apierr.TableUnchanged.With()
	}
	if in.ProvisionedThroughput != nil {
		toOnDemand := in.BillingMode != nil && *in.BillingMode == billingOnDemand
		if err := checkTableThroughput(toOnDemand, true, in.ProvisionedThroughput); err != nil {
			return err
		}
	}
	if in.ProvisionedThroughput != nil && in.StreamSpecification != nil {
		return apierr.StreamAndThroughputSet.With()
	}
	return checkIndexUpdates(in.GlobalSecondaryIndexUpdates)
}

// Change is what one UpdateTable request does to a descriptor.
type Change struct {
	Env Env
	in  *api.UpdateTableInput

	// What Apply did, beside changing the descriptor.
	Built, Dropped []keyenc.IndexID // indexes to be filled, and to be removed
	touched        []keyenc.IndexID // indexes whose throughput changed
}

// NewChange is the change that a request asks for which CheckUpdate has passed.
func NewChange(in *api.UpdateTableInput, e Env) Change { return Change{Env: e, in: in} }

// Apply changes the descriptor of a table that may be changed, in the order in which AWS refuses.
func (c *Change) Apply(d *catalog.Descriptor) error {
	for _, step := range []func(*catalog.Descriptor) error{c.billing, c.indexes, c.stream, c.settings} {
		if err := step(d); err != nil {
			return err
		}
	}
	d.SettledAt = c.Env.SettledAt
	return nil
}

// Interrupts reports whether the update does nothing but delete an index whose backfill is under way,
// the one change that may interrupt it.
func (c *Change) Interrupts(d *catalog.Descriptor) bool {
	updates := c.in.GlobalSecondaryIndexUpdates
	if len(updates) != 1 || updates[0].Delete == nil {
		return false
	}
	x := d.Index(*updates[0].Delete.IndexName)
	return x != nil && x.State == catalog.IndexBackfilling
}

func (c *Change) billing(d *catalog.Descriptor) error {
	in := c.in
	onDemand := d.Billing.OnDemand
	if in.BillingMode != nil {
		onDemand = *in.BillingMode == billingOnDemand
	}
	if onDemand != d.Billing.OnDemand {
		if err := c.switchBilling(d, onDemand); err != nil {
			return err
		}
	} else if in.ProvisionedThroughput != nil {
		if err := checkTableThroughput(onDemand, true, in.ProvisionedThroughput); err != nil {
			return err
		}
		if unchanged(d.Billing.Throughput, in.ProvisionedThroughput) {
			return apierr.TableThroughputUnchanged.With(d.Billing.Throughput.Read, d.Billing.Throughput.Write)
		}
		changeThroughput(&d.Billing.Throughput, in.ProvisionedThroughput, c.Env.Now)
	}
	if in.OnDemandThroughput != nil {
		var err error
		if d.OnDemand, err = newMaxima(in.OnDemandThroughput, onDemand, ""); err != nil {
			return err
		}
	}
	if in.WarmThroughput != nil {
		var err error
		d.Warm, err = newWarm(in.WarmThroughput, warmUnits(d.Warm, onDemand, d.Billing.Throughput), "")
		return err
	}
	return nil
}

// switchBilling changes the billing mode of the table and all its global indexes.
func (c *Change) switchBilling(d *catalog.Descriptor, onDemand bool) error {
	if onDemand {
		d.Billing.OnDemand, d.Billing.BecameOnDemand = true, c.Env.Now.UnixMilli()
		d.Billing.Throughput.Read, d.Billing.Throughput.Write = 0, 0
		for i := range d.Indexes {
			d.Indexes[i].Throughput.Read, d.Indexes[i].Throughput.Write = 0, 0
		}
		return nil
	}
	if err := checkTableThroughput(false, true, c.in.ProvisionedThroughput); err != nil {
		return err
	}
	var lacking []string
	for i := range d.Indexes {
		x := &d.Indexes[i]
		if !x.Local && !c.givesThroughput(x.Name) {
			lacking = append(lacking, x.Name)
		}
		x.OnDemand = nil
	}
	if lacking != nil {
		return apierr.IndexThroughputMissing.With(strings.Join(lacking, ","))
	}
	d.Billing.OnDemand, d.OnDemand = false, nil
	d.Billing.Throughput.Read, d.Billing.Throughput.Write = *c.in.ProvisionedThroughput.ReadCapacityUnits,
		*c.in.ProvisionedThroughput.WriteCapacityUnits
	return nil
}

// givesThroughput reports whether the request sets the provisioned throughput of an index or deletes it.
func (c *Change) givesThroughput(index string) bool {
	return slices.ContainsFunc(c.in.GlobalSecondaryIndexUpdates, func(g api.GlobalSecondaryIndexUpdate) bool {
		return g.Update != nil && *g.Update.IndexName == index && g.Update.ProvisionedThroughput != nil ||
			g.Delete != nil && *g.Delete.IndexName == index
	})
}

func unchanged(t catalog.Throughput, in *api.ProvisionedThroughput) bool {
	return t.Read == *in.ReadCapacityUnits && t.Write == *in.WriteCapacityUnits
}

func (c *Change) stream(d *catalog.Descriptor) error {
	s := c.in.StreamSpecification
	switch {
	case s == nil:
		return nil
	case *s.StreamEnabled && d.Stream.Enabled:
		return apierr.StreamAlreadyEnabled.With(d.Name)
	case *s.StreamEnabled && s.StreamViewType == nil:
		return apierr.StreamViewMissing.With()
	case *s.StreamEnabled:
		d.Stream = newStream(s, c.Env.Now.UnixMilli())
	case s.StreamViewType != nil:
		return apierr.StreamViewNeedless.With()
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
		if d.Encryption, err = c.Env.encryption(c.in.SSESpecification); err != nil {
			return err
		}
	}
	if class := c.in.TableClass; class != nil && *class != d.Class {
		d.Class, d.ClassChanged = *class, c.Env.Now.UnixMilli()
	}
	if c.in.DeletionProtectionEnabled != nil {
		d.DeletionBarred = *c.in.DeletionProtectionEnabled
	}
	return nil
}

// Announced is the table as the answer shows it: what has changed is UPDATING, even if only for this answer.
func (c *Change) Announced(d *catalog.Descriptor) *catalog.Descriptor {
	out := *d
	out.SettledAt = max(d.SettledAt, c.Env.Now.UnixMilli()+1)
	out.Indexes = slices.Clone(d.Indexes)
	for i := range out.Indexes {
		if slices.Contains(c.touched, out.Indexes[i].ID) {
			out.Indexes[i].SettledAt = out.SettledAt
		}
	}
	return &out
}
