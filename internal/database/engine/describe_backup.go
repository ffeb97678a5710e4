package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// DescribeBackup describes a backup, and its source table as it was at that time.
func (e *Engine) DescribeBackup(ctx context.Context, in *api.DescribeBackupInput) (*api.DescribeBackupOutput, error) {
	var b *backup.Record
	err := e.readLatest(ctx, func(r kv.Reader) (err error) {
		b, err = e.findBackup(r, *in.BackupArn)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &api.DescribeBackupOutput{BackupDescription: e.describeBackup(b, b.Status())}, nil
}
