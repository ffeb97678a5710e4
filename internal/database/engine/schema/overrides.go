package schema

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// Overrides are the settings in which a restored table differs from its source.
type Overrides struct {
	Billing    *string
	Global     []api.GlobalSecondaryIndex // nil: all
	Local      []api.LocalSecondaryIndex  // nil: all
	Vector     []api.VectorIndex          // nil: all
	Throughput *api.ProvisionedThroughput
	Maxima     *api.OnDemandThroughput
	Encryption *api.SSESpecification
}

// Restored returns the definition of a table that is restored from one defined as source. It has the source's keys, indexes,
// billing, class and encryption, unless they are overridden. Stream, TTL, tags, point-in-time recovery and deletion protection
// are off, as on AWS. The descriptor has neither UUID nor ID yet.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CreateBackup.html
func Restored(source *catalog.Descriptor, name string, from catalog.Restored, o Overrides, e Env) (*catalog.Descriptor, error) {
	from.InProgress = true
	d := &catalog.Descriptor{
		Name: name, Created: e.Now.UnixMilli(), ReadyAt: e.SettledAt,
		Attributes: slices.Clone(source.Attributes), Keys: source.Keys, LastIndexID: source.LastIndexID,
		OnDemand: source.OnDemand, Encryption: source.Encryption, Class: source.Class,
		Restored: &from,
	}
	if err := o.setBilling(d, source); err != nil {
		return nil, err
	}
	if err := o.setIndexes(d, source); err != nil {
		return nil, err
	}
	PruneAttributes(d)
	var err error
	if o.Encryption != nil {
		d.Encryption, err = e.encryption(o.Encryption)
	}
	return d, err
}

func (o *Overrides) setBilling(d, source *catalog.Descriptor) error {
	d.Billing.OnDemand = source.Billing.OnDemand
	if o.Billing != nil {
		d.Billing.OnDemand = *o.Billing == billingOnDemand
	}
	switch {
	case d.Billing.OnDemand && o.Throughput != nil && o.Billing != nil:
		return apierr.OverrideThroughputOnDemand.With()
	case d.Billing.OnDemand && o.Throughput != nil:
		return apierr.OverrideThroughputOfOnDemand.With()
	case d.Billing.OnDemand:
		d.Billing.BecameOnDemand = d.Created
	case o.Throughput != nil:
		if err := checkUnits(o.Throughput, ""); err != nil {
			return err
		}
		d.Billing.Throughput = newThroughput(o.Throughput)
	case source.Billing.OnDemand:
		return apierr.OverrideThroughputMissing.With()
	default:
		d.Billing.Throughput = sameUnits(source.Billing.Throughput)
	}
	return o.setMaxima(d)
}

// setMaxima sets the limits of an on-demand table.
func (o *Overrides) setMaxima(d *catalog.Descriptor) error {
	if !d.Billing.OnDemand {
		d.OnDemand = nil
	}
	if o.Maxima == nil {
		return nil
	}
	for _, bound := range []struct {
		name string
		in   *int64
	}{
		{"MaxReadRequestUnits", o.Maxima.MaxReadRequestUnits}, {"MaxWriteRequestUnits", o.Maxima.MaxWriteRequestUnits},
	} {
		switch {
		case bound.in == nil:
		case !d.Billing.OnDemand:
			return apierr.OverrideMaximaNotOnDemand.With(bound.name)
		case *bound.in < 1 || *bound.in > throughputMax:
			return apierr.OverrideMaximaOutOfRange.With(bound.name)
		}
	}
	var err error
	d.OnDemand, err = target{onDemand: d.Billing.OnDemand, isNew: true}.maxima(nil, o.Maxima)
	return err
}

// sameUnits returns the throughput without its history.
func sameUnits(t catalog.Throughput) catalog.Throughput {
	return catalog.Throughput{Read: t.Read, Write: t.Write}
}

// setIndexes gives d the selected indexes of the source, in the source's order and with the same ids. An index that was being
// deleted is omitted, one that was being built will be built again.
func (o *Overrides) setIndexes(d, source *catalog.Descriptor) error {
	if err := o.checkIndexes(d, source); err != nil {
		return err
	}
	var lacking []string
	for _, x := range source.Indexes {
		if x.State == catalog.IndexDeleting || !o.keeps(&x) {
			continue
		}
		if x.State != catalog.IndexActive {
			x.State = catalog.IndexAllocating
		}
		x.SettledAt, x.Warm, x.Throughput, x.Insights = 0, nil, sameUnits(x.Throughput), nil
		switch {
		case x.Vector != nil && !d.Billing.OnDemand:
			return apierr.VectorIndexProvisioned.With()
		case x.Local, x.Vector != nil:
		case o.Global != nil:
			if err := setIndexCapacity(&x, d.Billing.OnDemand, o.globalNamed(x.Name)); err != nil {
				return err
			}
		case d.Billing.OnDemand:
			x.Throughput = catalog.Throughput{}
		case source.Billing.OnDemand:
			lacking = append(lacking, x.Name)
		}
		d.Indexes = append(d.Indexes, x)
	}
	if lacking != nil {
		return apierr.OverrideIndexThroughputMissing.With(strings.Join(lacking, ","))
	}
	return nil
}

// keeps reports whether the table keeps an index.
func (o *Overrides) keeps(x *catalog.IndexDescriptor) bool {
	if x.Vector != nil {
		return o.Vector == nil || slices.ContainsFunc(o.Vector, func(v api.VectorIndex) bool { return *v.IndexName == x.Name })
	}
	if x.Local {
		return o.Local == nil || slices.ContainsFunc(o.Local, func(l api.LocalSecondaryIndex) bool { return *l.IndexName == x.Name })
	}
	return o.Global == nil || o.globalNamed(x.Name) != nil
}

// globalNamed returns the override of the global index with a name, or nil.
func (o *Overrides) globalNamed(name string) *api.GlobalSecondaryIndex {
	i := slices.IndexFunc(o.Global, func(g api.GlobalSecondaryIndex) bool { return *g.IndexName == name })
	if i < 0 {
		return nil
	}
	return &o.Global[i]
}

// checkIndexes checks that the overrides describe indexes of the source exactly, each once.
func (o *Overrides) checkIndexes(d, source *catalog.Descriptor) error {
	seen := map[string]bool{}
	check := func(name string, isKind, same func(*catalog.IndexDescriptor) bool, p *api.Projection) error {
		x := source.Index(name)
		switch {
		case seen[name]:
			return apierr.IndexRepeated.With(name)
		case x == nil, !isKind(x), x.State == catalog.IndexDeleting, !same(x), !sameProjection(x, p):
			return apierr.OverrideUnknownIndex.With(name)
		}
		seen[name] = true
		return nil
	}
	hasKeys := func(keys []api.KeySchemaElement) func(*catalog.IndexDescriptor) bool {
		return func(x *catalog.IndexDescriptor) bool { return slices.Equal(newKeys(keys), x.Keys) }
	}
	isLocal := func(x *catalog.IndexDescriptor) bool { return x.Local }
	isVector := func(x *catalog.IndexDescriptor) bool { return x.Vector != nil }
	isGlobal := func(x *catalog.IndexDescriptor) bool { return !isLocal(x) && !isVector(x) }
	for i := range o.Local {
		x := &o.Local[i]
		if err := check(*x.IndexName, isLocal, hasKeys(x.KeySchema), x.Projection); err != nil {
			return err
		}
	}
	for i := range o.Vector {
		in := &o.Vector[i]
		same := func(x *catalog.IndexDescriptor) bool { return sameVector(x, in) }
		if err := check(*in.IndexName, isVector, same, in.Projection); err != nil {
			return err
		}
	}
	for i := range o.Global {
		x := &o.Global[i]
		if err := check(*x.IndexName, isGlobal, hasKeys(x.KeySchema), x.Projection); err != nil {
			return err
		}
		if err := ofOverride.check(d.Billing.OnDemand, *x.IndexName, x.ProvisionedThroughput); err != nil {
			return err
		}
	}
	return nil
}

func sameProjection(x *catalog.IndexDescriptor, p *api.Projection) bool {
	return p.ProjectionType != nil && *p.ProjectionType == x.Projection &&
		slices.Equal(slices.Sorted(slices.Values(p.NonKeyAttributes)), slices.Sorted(slices.Values(x.Included)))
}

// setIndexCapacity applies a global index's override of its capacity.
func setIndexCapacity(x *catalog.IndexDescriptor, onDemand bool, in *api.GlobalSecondaryIndex) error {
	x.Throughput = catalog.Throughput{}
	if !onDemand {
		x.Throughput = newThroughput(in.ProvisionedThroughput)
	}
	t := target{index: x.Name, onDemand: onDemand, isNew: true, throughput: x.Throughput}
	var err error
	if x.OnDemand, err = t.maxima(nil, in.OnDemandThroughput); err != nil {
		return err
	}
	x.Warm, err = t.warm(nil, in.WarmThroughput)
	return err
}
