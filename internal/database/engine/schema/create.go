package schema

import (
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// Env is where and when a table is defined or changed.
type Env struct {
	Region, AccountID string
	Now               time.Time
	SettledAt         int64 // when a state that begins now is over by itself, 0 for at once
}

// New checks a CreateTable request in AWS's order: name, billing, keys, indexes, attribute definitions, the rest. The
// descriptor has neither UUID nor ID yet.
func New(in *api.CreateTableInput, e Env) (*catalog.Descriptor, error) {
	if !catalog.ValidName(*in.TableName) { // an ARN names a table that is there
		return nil, apierr.InvalidName.With()
	}
	d := &catalog.Descriptor{Name: *in.TableName, Created: e.Now.UnixMilli(), ReadyAt: e.SettledAt}
	if err := createBilling(d, in); err != nil {
		return nil, err
	}
	if err := createSchema(d, in); err != nil {
		return nil, err
	}
	return d, e.createSettings(d, in)
}

func createBilling(d *catalog.Descriptor, in *api.CreateTableInput) error {
	d.Billing.OnDemand = in.BillingMode != nil && *in.BillingMode == billingOnDemand
	if err := checkTableThroughput(d.Billing.OnDemand, in.BillingMode != nil, in.ProvisionedThroughput); err != nil {
		return err
	}
	if d.Billing.OnDemand {
		d.Billing.BecameOnDemand = d.Created
	} else {
		d.Billing.Throughput = newThroughput(in.ProvisionedThroughput)
	}
	var err error
	if d.OnDemand, err = newMaxima(in.OnDemandThroughput, d.Billing.OnDemand, ""); err != nil {
		return err
	}
	d.Warm, err = newWarm(in.WarmThroughput, warmUnits(nil, d.Billing.OnDemand, d.Billing.Throughput), "")
	return err
}

func createSchema(d *catalog.Descriptor, in *api.CreateTableInput) error {
	s, err := newDefinitions(in.AttributeDefinitions)
	if err != nil {
		return err
	}
	if d.Keys, err = s.tableKeys(in.KeySchema); err != nil {
		return err
	}
	if in.LocalSecondaryIndexes == nil && in.GlobalSecondaryIndexes == nil && len(s.types) != len(d.Keys) {
		return apierr.AttributesNotKeys.With()
	}
	if err := s.localIndexes(d, in.LocalSecondaryIndexes); err != nil {
		return err
	}
	if err := s.globalIndexes(d, in.GlobalSecondaryIndexes); err != nil {
		return err
	}
	d.Attributes = s.attributes
	return s.allUsed(d)
}

func (e Env) createSettings(d *catalog.Descriptor, in *api.CreateTableInput) error {
	if s := in.StreamSpecification; s != nil {
		if err := checkNewStream(s); err != nil {
			return err
		}
		if *s.StreamEnabled {
			d.Stream = newStream(s, d.Created)
		}
	}
	var err error
	if d.Encryption, err = e.encryption(in.SSESpecification); err != nil {
		return err
	}
	if err := CheckTags(in.Tags); err != nil {
		return err
	}
	if d.Tags, err = MergeTags(nil, in.Tags); err != nil {
		return err
	}
	if in.TableClass != nil {
		d.Class = *in.TableClass
	}
	d.DeletionBarred = in.DeletionProtectionEnabled != nil && *in.DeletionProtectionEnabled
	return nil
}
