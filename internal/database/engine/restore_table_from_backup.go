package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// RestoreTableFromBackup creates a table from a backup. The table is CREATING while its items are copied in the background. Only
// one restore at a time can use a backup.
func (e *Engine) RestoreTableFromBackup(ctx context.Context, in *api.RestoreTableFromBackupInput) (*api.RestoreTableFromBackupOutput, error) {
	if err := e.checkRestoreRegion(*in.BackupArn, in.SSESpecificationOverride); err != nil {
		return nil, err
	}
	var b *backup.Record
	err := e.readLatest(ctx, func(r kv.Reader) (err error) {
		b, err = e.findBackup(r, *in.BackupArn)
		return err
	})
	if err != nil {
		return nil, err
	}
	if b.Making {
		return nil, apierr.BackupBeingCreated.With(*in.BackupArn)
	}
	if err := e.checkRestoreTarget(*in.TargetTableName); err != nil {
		return nil, err
	}
	d, err := e.restoredDescriptor(b.Table, *in.TargetTableName, catalog.Restored{BackupARN: e.backupARN(b), At: b.Created}, schema.Overrides{
		Billing: in.BillingModeOverride, Global: in.GlobalSecondaryIndexOverride, Local: in.LocalSecondaryIndexOverride,
		Throughput: in.ProvisionedThroughputOverride, Maxima: in.OnDemandThroughputOverride, Encryption: in.SSESpecificationOverride,
		Vector: in.VectorIndexOverride,
	})
	if err != nil {
		return nil, err
	}
	work := newRestoration(d, b.Table, b.Kept(), 0)
	free := func(txn kv.Txn) error { // until the restore ends, see notBeingRestored
		data, err := txn.Get(b.Key())
		switch {
		case err != nil:
			return err
		case data == nil:
			return apierr.BackupNotFound.With(*in.BackupArn)
		default:
			return e.notBeingRestored(txn, b, apierr.BackupOfOtherRestore)
		}
	}
	if err := e.beginRestore(ctx, d, &work, kv.Intent{Write: [][]byte{b.Key()}}, free); err != nil {
		return nil, err
	}
	defer e.jobs.start(work) // the response shows the table CREATING
	description, err := e.describe(ctx, d)
	if err != nil {
		return nil, err
	}
	return &api.RestoreTableFromBackupOutput{TableDescription: description}, nil
}
