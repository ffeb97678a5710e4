package schema

import (
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// DescribeSource describes the source table of a backup, with the number and size of its items.
func DescribeSource(d *catalog.Descriptor, arn string, items, bytes int64) *api.SourceTableDetails {
	out := &api.SourceTableDetails{
		TableName:             &d.Name,
		TableId:               &d.UUID,
		TableArn:              &arn,
		TableSizeBytes:        &bytes,
		KeySchema:             DescribeKeys(d.Keys),
		TableCreationDateTime: api.TimestampOf(d.Created),
		ProvisionedThroughput: sourceThroughput(&d.Billing.Throughput),
		OnDemandThroughput:    describeMaxima(d.OnDemand),
		ItemCount:             &items,
		BillingMode:           new(billingProvisioned),
	}
	if d.Billing.OnDemand {
		*out.BillingMode = billingOnDemand
	}
	return out
}

// DescribeSourceFeatures describes the indexes and settings of a backup's source table.
func DescribeSourceFeatures(d *catalog.Descriptor) *api.SourceTableFeatureDetails {
	out := &api.SourceTableFeatureDetails{SSEDescription: describeEncryption(d.Encryption)}
	if d.Stream.Enabled {
		out.StreamDescription = &api.StreamSpecification{StreamEnabled: new(true), StreamViewType: &d.Stream.View}
	}
	if d.TTL.State != catalog.TTLDisabled {
		out.TimeToLiveDescription = DescribeTTL(d.TTL)
	}
	for i := range d.Indexes {
		x := &d.Indexes[i]
		projection := describeProjection(x)
		switch {
		case x.Local:
			out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes, api.LocalSecondaryIndexInfo{
				IndexName: &x.Name, KeySchema: DescribeKeys(x.Keys), Projection: projection,
			})
		case x.State == catalog.IndexDeleting:
		case x.Vector != nil:
			out.VectorIndexes = append(out.VectorIndexes, describeVector(x))
		default:
			out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, api.GlobalSecondaryIndexInfo{
				IndexName: &x.Name, KeySchema: DescribeKeys(x.Keys), Projection: projection,
				ProvisionedThroughput: sourceThroughput(&x.Throughput),
				OnDemandThroughput:    describeMaxima(x.OnDemand),
			})
		}
	}
	return out
}

func sourceThroughput(t *catalog.Throughput) *api.ProvisionedThroughput {
	return &api.ProvisionedThroughput{ReadCapacityUnits: &t.Read, WriteCapacityUnits: &t.Write}
}
