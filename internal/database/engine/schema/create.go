package schema

import (
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// Env is the environment in which a table is defined or changed.
type Env struct {
	Region, AccountID string
	Now               time.Time
	SettledAt         int64 // when a state that begins now ends by itself; 0 means immediately
	Limited           bool  // the daily limit on decreases of throughput applies
}

// New checks a CreateTable request in AWS's order: name, members that the API's model no longer requires, billing, keys,
// attribute definitions, indexes, the rest. The descriptor has neither UUID nor ID yet.
func New(in *api.CreateTableInput, e Env) (*catalog.Descriptor, error) {
	switch {
	case !catalog.ValidName(*in.TableName): // an ARN would name an existing table
		return nil, apierr.InvalidName.With()
	case in.AttributeDefinitions == nil:
		return nil, apierr.AttributesMissing.With()
	case in.KeySchema == nil:
		return nil, apierr.KeySchemaMissing.With()
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
	if err := checkNewThroughput(d.Billing.OnDemand, in.ProvisionedThroughput); err != nil {
		return err
	}
	if d.Billing.OnDemand {
		d.Billing.BecameOnDemand = d.Created
	} else {
		d.Billing.Throughput = newThroughput(in.ProvisionedThroughput)
	}
	table := target{onDemand: d.Billing.OnDemand, isNew: true, throughput: d.Billing.Throughput}
	var err error
	if d.OnDemand, err = table.maxima(nil, in.OnDemandThroughput); err != nil {
		return err
	}
	d.Warm, err = table.warm(nil, in.WarmThroughput)
	return err
}

// createSchema checks keys and indexes. First of all it checks that every key attribute has a definition and every definition is
// used.
func createSchema(d *catalog.Descriptor, in *api.CreateTableInput) error {
	s, err := newDefinitions(in.AttributeDefinitions)
	if err != nil {
		return err
	}
	if d.Keys, err = s.tableKeys(in.KeySchema); err != nil {
		return err
	}
	hasIndexes := in.LocalSecondaryIndexes != nil || in.GlobalSecondaryIndexes != nil || in.VectorIndexes != nil
	if !hasIndexes && len(s.types) != len(d.Keys) {
		return apierr.AttributesNotKeys.With()
	}
	if err := s.indexKeys(d, in); err != nil {
		return err
	}
	if err := localIndexes(d, in.LocalSecondaryIndexes); err != nil {
		return err
	}
	if err := globalIndexes(d, in.GlobalSecondaryIndexes); err != nil {
		return err
	}
	if err := s.vectorIndexes(d, in.VectorIndexes); err != nil {
		return err
	}
	d.Attributes = s.attributes
	return nil
}

// indexKeys checks the key attributes of all indexes against the definitions.
func (s *definitions) indexKeys(d *catalog.Descriptor, in *api.CreateTableInput) error {
	switch {
	case in.LocalSecondaryIndexes != nil && len(in.LocalSecondaryIndexes) == 0:
		return apierr.LocalIndexesEmpty.With()
	case in.GlobalSecondaryIndexes != nil && len(in.GlobalSecondaryIndexes) == 0:
		return apierr.GlobalIndexesEmpty.With()
	}
	keys := [][]catalog.KeyElement{d.Keys}
	for i := range in.LocalSecondaryIndexes {
		keys = append(keys, newKeys(in.LocalSecondaryIndexes[i].KeySchema))
	}
	for i := range in.GlobalSecondaryIndexes {
		keys = append(keys, newKeys(in.GlobalSecondaryIndexes[i].KeySchema))
	}
	for i := range in.VectorIndexes {
		schema, err := s.searchKeys(in.VectorIndexes[i].SearchSchema)
		if err != nil {
			return err
		}
		keys = append(keys, schema)
	}
	for _, k := range keys {
		if err := s.defined(k); err != nil {
			return err
		}
	}
	return s.allUsed(keys)
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
		if err := checkClass(*in.TableClass); err != nil {
			return err
		}
		d.Class = *in.TableClass
	}
	d.DeletionBarred = in.DeletionProtectionEnabled != nil && *in.DeletionProtectionEnabled
	return nil
}
