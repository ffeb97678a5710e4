package schema

import (
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/throttle"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

const (
	billingOnDemand    = "PAY_PER_REQUEST"
	billingProvisioned = "PROVISIONED"
)

// Statistics returns the number and size of the items of a table (index 0) or of the entries of an index.
type Statistics func(index keyenc.IndexID) (items, bytes int64, err error)

// Describe describes a table as of a time, like DescribeTable. WarmThroughput and each index's ProvisionedThroughput are always
// present: Terraform waits for the former and reads the latter unconditionally.
func Describe(d *catalog.Descriptor, arn string, now time.Time, statistics Statistics) (*api.TableDescription, error) {
	status := string(d.Status(now))
	items, bytes, err := statistics(0)
	if err != nil {
		return nil, err
	}
	out := &api.TableDescription{
		TableName:                 &d.Name,
		TableArn:                  &arn,
		TableId:                   &d.UUID,
		TableStatus:               &status,
		CreationDateTime:          api.TimestampOf(d.Created),
		AttributeDefinitions:      describeAttributes(d.Attributes),
		KeySchema:                 DescribeKeys(d.Keys),
		ItemCount:                 &items,
		TableSizeBytes:            &bytes,
		DeletionProtectionEnabled: &d.DeletionBarred,
		ProvisionedThroughput:     describeThroughput(d.Billing.Throughput, d.SettledAt, now),
		BillingModeSummary:        describeBilling(d, now),
		OnDemandThroughput:        describeMaxima(d.OnDemand),
		SSEDescription:            describeEncryption(d.Encryption),
		TableClassSummary:         describeClass(d),
		RestoreSummary:            describeRestored(d.Restored),
	}
	warm := warmUnits(d.Warm, d.Billing.OnDemand, d.Billing.Throughput)
	out.WarmThroughput = &api.TableWarmThroughputDescription{
		ReadUnitsPerSecond: &warm.Read, WriteUnitsPerSecond: &warm.Write, Status: warmStatus(status),
	}
	describeStream(out, d, arn)
	if d.GoneAt != 0 { // AWS omits some members for a table being deleted
		out.KeySchema, out.AttributeDefinitions, out.CreationDateTime = nil, nil, nil
	}
	return out, describeIndexes(out, d, now, statistics)
}

func describeIndexes(out *api.TableDescription, d *catalog.Descriptor, now time.Time, statistics Statistics) error {
	for i := range d.Indexes {
		x := &d.Indexes[i]
		items, bytes, err := statistics(x.ID)
		if err != nil {
			return err
		}
		arn := *out.TableArn + "/index/" + x.Name
		projection := describeProjection(x)
		if x.Local {
			out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes, api.LocalSecondaryIndexDescription{
				IndexName: &x.Name, IndexArn: &arn, KeySchema: DescribeKeys(x.Keys), Projection: projection,
				ItemCount: &items, IndexSizeBytes: &bytes,
			})
			continue
		}
		status := string(d.IndexStatus(x, now))
		var backfilling *bool
		if x.State == catalog.IndexAllocating || x.State == catalog.IndexBackfilling {
			backfilling = new(x.State == catalog.IndexBackfilling)
		}
		if x.Vector != nil {
			v := describeVector(x)
			out.VectorIndexes = append(out.VectorIndexes, api.VectorIndexDescription{
				IndexName: v.IndexName, SearchSchema: v.SearchSchema, Projection: v.Projection, VectorAttribute: v.VectorAttribute,
				Dimensions: v.Dimensions, DistanceFunction: v.DistanceFunction, IndexStatus: &status, Backfilling: backfilling,
				IndexSizeBytes: &bytes, ItemCount: &items, IndexArn: &arn,
			})
			continue
		}
		warm := warmUnits(x.Warm, d.Billing.OnDemand, x.Throughput)
		g := api.GlobalSecondaryIndexDescription{
			IndexName: &x.Name, IndexArn: &arn, KeySchema: DescribeKeys(x.Keys), Projection: projection,
			ItemCount: &items, IndexSizeBytes: &bytes, IndexStatus: &status, Backfilling: backfilling,
			ProvisionedThroughput: describeThroughput(x.Throughput, x.SettledAt, now),
			OnDemandThroughput:    describeMaxima(x.OnDemand),
			WarmThroughput: &api.GlobalSecondaryIndexWarmThroughputDescription{
				ReadUnitsPerSecond: &warm.Read, WriteUnitsPerSecond: &warm.Write, Status: warmStatus(status),
			},
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, g)
	}
	return nil
}

// describeAttributes describes attribute definitions in order of name, as AWS does.
func describeAttributes(in []catalog.Attribute) []api.AttributeDefinition {
	in = slices.SortedFunc(slices.Values(in), func(a, b catalog.Attribute) int { return strings.Compare(a.Name, b.Name) })
	out := make([]api.AttributeDefinition, len(in))
	for i := range in {
		out[i] = api.AttributeDefinition{AttributeName: &in[i].Name, AttributeType: &in[i].Type}
	}
	return out
}

// describeProjection describes the projection of an index, with its attributes in order of name, as AWS does.
func describeProjection(x *catalog.IndexDescriptor) *api.Projection {
	return &api.Projection{ProjectionType: &x.Projection, NonKeyAttributes: slices.Sorted(slices.Values(x.Included))}
}

const (
	keyHash  = "HASH"
	keyRange = "RANGE"
)

// DescribeKeys describes a key.
func DescribeKeys(in []catalog.KeyElement) []api.KeySchemaElement {
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

// describeThroughput describes throughput whose latest change settles at a time; until then the previous value is shown.
func describeThroughput(t catalog.Throughput, settledAt int64, now time.Time) *api.ProvisionedThroughputDescription {
	if t.Was != nil && now.UnixMilli() < settledAt {
		t = *t.Was
	}
	out := &api.ProvisionedThroughputDescription{
		NumberOfDecreasesToday: new(decreasesToday(t, now)),
		ReadCapacityUnits:      &t.Read,
		WriteCapacityUnits:     &t.Write,
	}
	if t.LastIncrease != 0 {
		out.LastIncreaseDateTime = api.TimestampOf(t.LastIncrease)
	}
	if t.LastDecrease != 0 {
		out.LastDecreaseDateTime = api.TimestampOf(t.LastDecrease)
	}
	return out
}

// describeBilling returns nil for a table that never was on-demand.
func describeBilling(d *catalog.Descriptor, now time.Time) *api.BillingModeSummary {
	if d.Billing.BecameOnDemand == 0 {
		return nil
	}
	out := &api.BillingModeSummary{BillingMode: new(billingProvisioned)}
	if d.Billing.OnDemand {
		*out.BillingMode = billingOnDemand
	}
	if d.Status(now) != catalog.StatusCreating {
		out.LastUpdateToPayPerRequestDateTime = api.TimestampOf(d.Billing.BecameOnDemand)
	}
	return out
}

// describeMaxima describes the limits that are set.
func describeMaxima(m *catalog.Maxima) *api.OnDemandThroughput {
	if m == nil || m.Read == -1 && m.Write == -1 {
		return nil
	}
	out := &api.OnDemandThroughput{}
	if m.Read != -1 {
		out.MaxReadRequestUnits = &m.Read
	}
	if m.Write != -1 {
		out.MaxWriteRequestUnits = &m.Write
	}
	return out
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
		out.LastUpdateDateTime = api.TimestampOf(d.ClassChanged)
	}
	return out
}

// describeRestored describes the source of a restore in progress; AWS omits it once the table is restored.
func describeRestored(r *catalog.Restored) *api.RestoreSummary {
	if r == nil || !r.InProgress {
		return nil
	}
	out := &api.RestoreSummary{SourceTableArn: &r.TableARN, RestoreDateTime: api.TimestampOf(r.At), RestoreInProgress: &r.InProgress}
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

// WarmOf returns the warm throughput of a table or of one of its indexes.
func WarmOf(d *catalog.Descriptor, x *catalog.IndexDescriptor) catalog.Units {
	if x == nil {
		return warmUnits(d.Warm, d.Billing.OnDemand, d.Billing.Throughput)
	}
	return warmUnits(x.Warm, d.Billing.OnDemand, x.Throughput)
}

// warmUnits returns the warm throughput as requested, or else what the billing mode provides.
func warmUnits(requested *catalog.Units, onDemand bool, t catalog.Throughput) catalog.Units {
	switch {
	case requested != nil:
		return *requested
	case onDemand:
		return catalog.Units{Read: throttle.WarmReads, Write: throttle.WarmWrites}
	default:
		return catalog.Units{Read: t.Read, Write: t.Write}
	}
}

// warmStatus returns the status of the warm throughput of a table or index with a status: it is affected by the creation, but not
// by other changes.
func warmStatus(status string) *string {
	if status == string(catalog.StatusCreating) {
		return new(string(catalog.StatusUpdating))
	}
	return new(string(catalog.StatusActive))
}

// WithoutWarm returns the description as in the responses of CreateTable and DeleteTable: without warm throughput, unless it was
// requested.
func WithoutWarm(out *api.TableDescription, d *catalog.Descriptor) *api.TableDescription {
	if d.Warm == nil || d.GoneAt != 0 {
		out.WarmThroughput = nil
	}
	for i := range out.GlobalSecondaryIndexes {
		if x := &out.GlobalSecondaryIndexes[i]; d.Index(*x.IndexName).Warm == nil || d.GoneAt != 0 {
			x.WarmThroughput = nil
		}
	}
	return out
}

// DescribeTags returns tags ordered by key.
func DescribeTags(in []catalog.Tag) []api.Tag {
	in = slices.Clone(in)
	out := make([]api.Tag, len(in))
	for i := range in {
		out[i] = api.Tag{Key: &in[i].Key, Value: &in[i].Value}
	}
	return out
}

// DescribeTTL describes the time to live of a table.
func DescribeTTL(t catalog.TTL) *api.TimeToLiveDescription {
	out := &api.TimeToLiveDescription{}
	switch t.State {
	case catalog.TTLEnabling:
		out.TimeToLiveStatus = new("ENABLING")
	case catalog.TTLEnabled:
		out.TimeToLiveStatus = new("ENABLED")
	case catalog.TTLDisabling:
		out.TimeToLiveStatus = new("DISABLING")
	default:
		out.TimeToLiveStatus = new("DISABLED")
	}
	if t.Attribute != "" {
		out.AttributeName = &t.Attribute
	}
	return out
}
