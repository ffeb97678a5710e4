package engine

import (
	"context"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// The warm throughput that AWS gives an on-demand table or index from the start.
const (
	warmReadDefault  = 12000
	warmWriteDefault = 4000
)

const (
	billingOnDemand    = "PAY_PER_REQUEST"
	billingProvisioned = "PROVISIONED"
)

// describe tells a descriptor as DescribeTable does at this moment. WarmThroughput and each index's
// ProvisionedThroughput are always there: Terraform waits for the one and reads the other unasked.
func (e *Engine) describe(ctx context.Context, d *catalog.Descriptor) (*api.TableDescription, error) {
	return e.describeAt(ctx, d, e.options.Now())
}

func (e *Engine) describeAt(ctx context.Context, d *catalog.Descriptor, now time.Time) (*api.TableDescription, error) {
	status := string(d.Status(now))
	items, bytes, err := e.statistics(ctx, d.ID, 0)
	if err != nil {
		return nil, err
	}
	arn := e.catalog.TableARN(d.Name)
	out := &api.TableDescription{
		TableName:                 &d.Name,
		TableArn:                  &arn,
		TableId:                   &d.UUID,
		TableStatus:               &status,
		CreationDateTime:          timestamp(d.Created),
		AttributeDefinitions:      describeAttributes(d.Attributes),
		KeySchema:                 describeKeys(d.Keys),
		ItemCount:                 &items,
		TableSizeBytes:            &bytes,
		DeletionProtectionEnabled: &d.DeletionBarred,
		ProvisionedThroughput:     describeThroughput(d.Billing.Throughput, now),
		BillingModeSummary:        describeBilling(d, now),
		OnDemandThroughput:        describeMaxima(d.OnDemand),
		SSEDescription:            describeEncryption(d.Encryption),
		TableClassSummary:         describeClass(d),
		RestoreSummary:            describeRestored(d.Restored),
	}
	warm := warmUnits(d.Warm, d.Billing.OnDemand, d.Billing.Throughput)
	out.WarmThroughput = &api.TableWarmThroughputDescription{
		ReadUnitsPerSecond: &warm.Read, WriteUnitsPerSecond: &warm.Write, Status: &status,
	}
	describeStream(out, d, arn)
	if d.GoneAt != 0 { // AWS tells less of a table that is going
		out.KeySchema, out.AttributeDefinitions, out.CreationDateTime = nil, nil, nil
	}
	return out, e.describeIndexes(ctx, out, d, now)
}

func (e *Engine) describeIndexes(ctx context.Context, out *api.TableDescription, d *catalog.Descriptor, now time.Time) error {
	for i := range d.Indexes {
		x := &d.Indexes[i]
		items, bytes, err := e.statistics(ctx, d.ID, x.ID)
		if err != nil {
			return err
		}
		arn := *out.TableArn + "/index/" + x.Name
		projection := &api.Projection{ProjectionType: &x.Projection, NonKeyAttributes: x.Included}
		if x.Local {
			out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes, api.LocalSecondaryIndexDescription{
				IndexName: &x.Name, IndexArn: &arn, KeySchema: describeKeys(x.Keys), Projection: projection,
				ItemCount: &items, IndexSizeBytes: &bytes,
			})
			continue
		}
		status := string(d.IndexStatus(x, now))
		warm := warmUnits(x.Warm, d.Billing.OnDemand, x.Throughput)
		g := api.GlobalSecondaryIndexDescription{
			IndexName: &x.Name, IndexArn: &arn, KeySchema: describeKeys(x.Keys), Projection: projection,
			ItemCount: &items, IndexSizeBytes: &bytes, IndexStatus: &status,
			ProvisionedThroughput: describeThroughput(x.Throughput, now),
			OnDemandThroughput:    describeMaxima(x.OnDemand),
			WarmThroughput: &api.GlobalSecondaryIndexWarmThroughputDescription{
				ReadUnitsPerSecond: &warm.Read, WriteUnitsPerSecond: &warm.Write, Status: &status,
			},
		}
		if x.State == catalog.IndexAllocating || x.State == catalog.IndexBackfilling {
			g.Backfilling = new(x.State == catalog.IndexBackfilling)
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, g)
	}
	return nil
}

// statistics returns the exact number and bytes of the items of a table (index 0) or entries of an index.
func (e *Engine) statistics(ctx context.Context, t keyenc.TableID, x keyenc.IndexID) (items, bytes int64, err error) {
	counters, err := e.store.Counter(ctx, keyenc.Statistics(t, x))
	if err != nil || len(counters) < 2 {
		return 0, 0, err
	}
	return counters[0], counters[1], nil
}

func describeAttributes(in []catalog.Attribute) []api.AttributeDefinition {
	out := make([]api.AttributeDefinition, len(in))
	for i := range in {
		out[i] = api.AttributeDefinition{AttributeName: &in[i].Name, AttributeType: &in[i].Type}
	}
	return out
}

const (
	keyHash  = "HASH"
	keyRange = "RANGE"
)

func describeKeys(in []catalog.KeyElement) []api.KeySchemaElement {
	out := make([]api.KeySchemaElement, len(in))
	for i := range in {
		role := keyHash
		if in[i].Range {
			role = keyRange
		}
		out[i] = api.KeySchemaElement{AttributeName: &in[i].Name, KeyType: &role}
	}
	return out
}

func describeThroughput(t catalog.Throughput, now time.Time) *api.ProvisionedThroughputDescription {
	out := &api.ProvisionedThroughputDescription{
		NumberOfDecreasesToday: new(decreasesToday(t, now)),
		ReadCapacityUnits:      &t.Read,
		WriteCapacityUnits:     &t.Write,
	}
	if t.LastIncrease != 0 {
		out.LastIncreaseDateTime = timestamp(t.LastIncrease)
	}
	if t.LastDecrease != 0 {
		out.LastDecreaseDateTime = timestamp(t.LastDecrease)
	}
	return out
}

// describeBilling is nil for a table that was never on-demand.
func describeBilling(d *catalog.Descriptor, now time.Time) *api.BillingModeSummary {
	if d.Billing.BecameOnDemand == 0 {
		return nil
	}
	out := &api.BillingModeSummary{BillingMode: new(billingProvisioned)}
	if d.Billing.OnDemand {
		*out.BillingMode = billingOnDemand
	}
	if d.Status(now) != catalog.StatusCreating {
		out.LastUpdateToPayPerRequestDateTime = timestamp(d.Billing.BecameOnDemand)
	}
	return out
}

func describeMaxima(m *catalog.Maxima) *api.OnDemandThroughput {
	if m == nil {
		return nil
	}
	return &api.OnDemandThroughput{MaxReadRequestUnits: &m.Read, MaxWriteRequestUnits: &m.Write}
}

func describeEncryption(s catalog.Encryption) *api.SSEDescription {
	if s.KeyARN == "" {
		return nil
	}
	return &api.SSEDescription{Status: new("ENABLED"), SSEType: new("KMS"), KMSMasterKeyArn: &s.KeyARN}
}

func describeClass(d *catalog.Descriptor) *api.TableClassSummary {
	if d.Class == "" {
		return nil
	}
	out := &api.TableClassSummary{TableClass: &d.Class}
	if d.ClassChanged != 0 {
		out.LastUpdateDateTime = timestamp(d.ClassChanged)
	}
	return out
}

func describeRestored(r *catalog.Restored) *api.RestoreSummary {
	if r == nil {
		return nil
	}
	out := &api.RestoreSummary{SourceTableArn: &r.TableARN, RestoreDateTime: timestamp(r.At), RestoreInProgress: &r.InProgress}
	if r.BackupARN != "" {
		out.SourceBackupArn = &r.BackupARN
	}
	return out
}

func describeStream(out *api.TableDescription, d *catalog.Descriptor, tableARN string) {
	if d.Stream.Enabled {
		out.StreamSpecification = &api.StreamSpecification{StreamEnabled: new(true), StreamViewType: &d.Stream.View}
	}
	if d.Stream.Label != "" {
		out.LatestStreamLabel = &d.Stream.Label
		out.LatestStreamArn = new(tableARN + "/stream/" + d.Stream.Label)
	}
}

// warmUnits is the warm throughput as told, else what the billing mode gives.
func warmUnits(told *catalog.Units, onDemand bool, t catalog.Throughput) catalog.Units {
	switch {
	case told != nil:
		return *told
	case onDemand:
		return catalog.Units{Read: warmReadDefault, Write: warmWriteDefault}
	default:
		return catalog.Units{Read: t.Read, Write: t.Write}
	}
}

// describeTags tells tags in the order of their keys.
func describeTags(in []catalog.Tag) []api.Tag {
	in = slices.Clone(in)
	out := make([]api.Tag, len(in))
	for i := range in {
		out[i] = api.Tag{Key: &in[i].Key, Value: &in[i].Value}
	}
	return out
}

// timestamp tells milliseconds since the epoch as the API does, in seconds.
func timestamp(ms int64) *api.Timestamp { return new(api.Timestamp(float64(ms) / 1000)) }
