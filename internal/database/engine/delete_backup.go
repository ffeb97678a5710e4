package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// DeleteBackup removes a backup and gives back the room that only it takes. Those that the system made of deleted
// tables stay until they expire.
func (e *Engine) DeleteBackup(ctx context.Context, in *api.DeleteBackupInput) (*api.DeleteBackupOutput, error) {
	table, id, err := e.parseBackupARN(*in.BackupArn)
	if err != nil {
		return nil, err
	}
	b, err := e.removeBackup(ctx, id, func(b *backup) error {
		switch {
		case b.table.Name != table, b.expired(e.options.Now()):
			return apierr.BackupNotFound.With(*in.BackupArn)
		case b.Type == backupOfSystem:
			return apierr.BackupOfSystem.With(*in.BackupArn)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, apierr.BackupNotFound.With(*in.BackupArn)
	}
	return &api.DeleteBackupOutput{BackupDescription: e.describeBackup(b, backupDeleted)}, nil
}
