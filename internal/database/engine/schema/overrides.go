package schema

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// Overrides are what a restored table is to have otherwise than its source.
type Overrides struct {
	Billing    *string
	Global     []api.GlobalSecondaryIndex // nil: all
	Local      []api.LocalSecondaryIndex  // nil: all
	Throughput *api.ProvisionedThroughput
	Maxima     *api.OnDemandThroughput
	Encryption *api.SSESpecification
}

// Restored makes the definition of a table that is restored from one that was defined as source. It has the
// source's keys, indexes, billing, class and encryption, as far as nothing overrides them. Stream, TTL, tags,
// point-in-time recovery and deletion protection are off, as AWS leaves them. The descriptor has neither UUID nor ID
// yet.
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
	inherits := o.Throughput == nil && !d.Billing.OnDemand && !source.Billing.OnDemand
	if !inherits {
		if err := checkTableThroughput(d.Billing.OnDemand, true, o.Throughput); err != nil {
			return err
		}
	}
	switch {
	case d.Billing.OnDemand:
		d.Billing.BecameOnDemand = d.Created
	case inherits:
		d.Billing.Throughput = sameUnits(source.Billing.Throughput)
	default:
		d.Billing.Throughput = newThroughput(o.Throughput)
	}
	if o.Maxima != nil {
		var err error
		d.OnDemand, err = newMaxima(o.Maxima, d.Billing.OnDemand, "")
		return err
	}
	if !d.Billing.OnDemand {
		d.OnDemand = nil
	}
	return nil
}

// sameUnits is the throughput without its history.
func sameUnits(t catalog.Throughput) catalog.Throughput {
	return catalog.Throughput{Read: t.Read, Write: t.Write}
}

// setIndexes gives d those of the source's indexes that it is to have, in the source's order and with its ids. One
// that was being deleted is left behind, one that was being built will be built anew.
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
		case x.Local:
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
		return apierr.IndexThroughputMissing.With(strings.Join(lacking, ","))
	}
	return nil
}

// keeps reports whether the table is to have an index.
func (o *Overrides) keeps(x *catalog.IndexDescriptor) bool {
	if x.Local {
		return o.Local == nil || slices.ContainsFunc(o.Local, func(l api.LocalSecondaryIndex) bool { return *l.IndexName == x.Name })
	}
	return o.Global == nil || o.globalNamed(x.Name) != nil
}

// globalNamed returns the override of the global index of a name, nil where there is none.
func (o *Overrides) globalNamed(name string) *api.GlobalSecondaryIndex {
	i := slices.IndexFunc(o.Global, func(g api.GlobalSecondaryIndex) bool { return *g.IndexName == name })
	if i < 0 {
		return nil
	}
	return &o.Global[i]
}

// checkIndexes checks that the overrides name indexes of the source as they are, each once.
func (o *Overrides) checkIndexes(d, source *catalog.Descriptor) error {
	seen := map[string]bool{}
	check := func(local bool, name string, keys []api.KeySchemaElement, p *api.Projection) error {
		x := source.Index(name)
		switch {
		case seen[name]:
			return apierr.IndexRepeated.With(name)
		case x == nil, x.Local != local, x.State == catalog.IndexDeleting:
			return apierr.OverrideUnknownIndex.With(name)
		case !slices.Equal(newKeys(keys), x.Keys), !sameProjection(x, p):
			return apierr.OverrideChangesIndex.With(name)
		}
		seen[name] = true
		return nil
	}
	for i := range o.Local {
		x := &o.Local[i]
		if err := check(true, *x.IndexName, x.KeySchema, x.Projection); err != nil {
			return err
		}
	}
	for i := range o.Global {
		x := &o.Global[i]
		if err := check(false, *x.IndexName, x.KeySchema, x.Projection); err != nil {
			return err
		}
		if err := checkIndexThroughput(d.Billing.OnDemand, *x.IndexName, x.ProvisionedThroughput); err != nil {
			return err
		}
	}
	return nil
}

func sameProjection(x *catalog.IndexDescriptor, p *api.Projection) bool {
	return p.ProjectionType != nil && *p.ProjectionType == x.Projection &&
		slices.Equal(slices.Sorted(slices.Values(p.NonKeyAttributes)), slices.Sorted(slices.Values(x.Included)))
}

// setIndexCapacity sets what an override of a global index says of its capacity.
func setIndexCapacity(x *catalog.IndexDescriptor, onDemand bool, in *api.GlobalSecondaryIndex) error {
	x.Throughput = catalog.Throughput{}
	if !onDemand {
		x.Throughput = newThroughput(in.ProvisionedThroughput)
	}
	var err error
	if x.OnDemand, err = newMaxima(in.OnDemandThroughput, onDemand, x.Name); err != nil {
		return err
	}
	x.Warm, err = newWarm(in.WarmThroughput, warmUnits(nil, onDemand, x.Throughput), x.Name)
	return err
}
