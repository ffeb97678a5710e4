package engine

import (
	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// describeBackup tells a backup and the table that it was made of.
func (e *Engine) describeBackup(b *backup.Record, status string) *api.BackupDescription {
	d := b.Table
	details := &api.SourceTableDetails{
		TableName:             &d.Name,
		TableId:               &d.UUID,
		TableArn:              new(e.catalog.TableARN(d.Name)),
		TableSizeBytes:        &b.Bytes,
		KeySchema:             describeKeys(d.Keys),
		TableCreationDateTime: timestamp(d.Created),
		ProvisionedThroughput: sourceThroughput(&d.Billing.Throughput),
		OnDemandThroughput:    describeMaxima(d.OnDemand),
		ItemCount:             &b.Items,
		BillingMode:           new(billingProvisioned),
	}
	if d.Billing.OnDemand {
		*details.BillingMode = billingOnDemand
	}
	return &api.BackupDescription{
		BackupDetails:             e.backupDetails(b, status),
		SourceTableDetails:        details,
		SourceTableFeatureDetails: sourceFeatures(d),
	}
}

func sourceFeatures(d *catalog.Descriptor) *api.SourceTableFeatureDetails {
	out := &api.SourceTableFeatureDetails{SSEDescription: describeEncryption(d.Encryption)}
	if d.Stream.Enabled {
		out.StreamDescription = &api.StreamSpecification{StreamEnabled: new(true), StreamViewType: &d.Stream.View}
	}
	if d.TTL.State != catalog.TTLDisabled {
		out.TimeToLiveDescription = describeTTL(d.TTL)
	}
	for i := range d.Indexes {
		x := &d.Indexes[i]
		projection := &api.Projection{ProjectionType: &x.Projection, NonKeyAttributes: x.Included}
		switch {
		case x.Local:
			out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes, api.LocalSecondaryIndexInfo{
				IndexName: &x.Name, KeySchema: describeKeys(x.Keys), Projection: projection,
			})
		case x.State != catalog.IndexDeleting:
			out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, api.GlobalSecondaryIndexInfo{
				IndexName: &x.Name, KeySchema: describeKeys(x.Keys), Projection: projection,
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
