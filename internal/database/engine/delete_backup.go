package engine

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/backup"
)

// DeleteBackup deletes a backup and reclaims the space that only it used. System backups of deleted tables stay until they
// expire.
func (e *Engine) DeleteBackup(ctx context.Context, in *api.DeleteBackupInput) (*api.DeleteBackupOutput, error) {
	table, id, err := e.parseBackupARN(*in.BackupArn)
	if err != nil {
		return nil, err
	}
	b, err := e.removeBackup(ctx, id, func(b *backup.Record) error {
		switch {
		case b.Table.Name != table, b.Expired(e.options.Now()):
			return apierr.BackupNotFound.With(*in.BackupArn)
		case b.Type == backup.OfSystem:
			return apierr.BackupOfSystem.With(*in.BackupArn, time.UnixMilli(b.Expires).UTC().Format(time.RFC3339))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, apierr.BackupNotFound.With(*in.BackupArn)
	}
	return &api.DeleteBackupOutput{BackupDescription: e.describeBackup(b, backup.Deleted)}, nil
}
