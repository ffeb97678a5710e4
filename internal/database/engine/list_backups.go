package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const listBackupsMax = 100

// ListBackups lists the backups of one table, which need not exist any more, or of all tables, the oldest first. There is no AWS
// Backup here, so a list of type AWS_BACKUP is empty.
func (e *Engine) ListBackups(ctx context.Context, in *api.ListBackupsInput) (*api.ListBackupsOutput, error) {
	if in.TimeRangeLowerBound != nil && in.TimeRangeUpperBound != nil && *in.TimeRangeLowerBound > *in.TimeRangeUpperBound {
		return nil, apierr.BackupsOutOfOrder.With()
	}
	wanted, err := e.backupFilter(in)
	if err != nil {
		return nil, err
	}
	limit := listBackupsMax
	if in.Limit != nil {
		limit = int(*in.Limit)
	}
	var from []byte
	if in.ExclusiveStartBackupArn != nil {
		if arn, ok := catalog.ParseARN(*in.ExclusiveStartBackupArn); ok && arn.Region != e.options.Region {
			return nil, apierr.BackupCursorForeign.With()
		}
		_, id, err := e.parseBackupARN(*in.ExclusiveStartBackupArn)
		if err != nil {
			return nil, err
		}
		from = keyAfter(keyenc.Backup(id))
	}
	out := &api.ListBackupsOutput{BackupSummaries: []api.BackupSummary{}}
	err = e.readLatest(ctx, func(r kv.Reader) error {
		return backup.Each(r, from, func(b *backup.Record) bool {
			if !wanted(b) {
				return true
			}
			if n := len(out.BackupSummaries); n == limit {
				out.LastEvaluatedBackupArn = out.BackupSummaries[n-1].BackupArn
				return false
			}
			out.BackupSummaries = append(out.BackupSummaries, e.summary(b))
			return true
		})
	})
	return out, err
}

// backupFilter returns the filter of a request.
func (e *Engine) backupFilter(in *api.ListBackupsInput) (func(*backup.Record) bool, error) {
	table, kind := "", backup.OfUser
	if in.TableName != nil {
		var err error
		if table, err = e.catalog.Name(*in.TableName); err != nil {
			return nil, err
		}
	}
	if in.BackupType != nil {
		kind = *in.BackupType
	}
	now := e.options.Now()
	return func(b *backup.Record) bool {
		created := *api.TimestampOf(b.Created)
		switch {
		case b.Expired(now),
			table != "" && b.Table.Name != table,
			kind != "ALL" && b.Type != kind,
			in.TimeRangeLowerBound != nil && created < *in.TimeRangeLowerBound,
			in.TimeRangeUpperBound != nil && created >= *in.TimeRangeUpperBound:
			return false
		}
		return true
	}, nil
}

func (e *Engine) summary(b *backup.Record) api.BackupSummary {
	d := e.backupDetails(b, b.Status())
	return api.BackupSummary{
		TableName:              &b.Table.Name,
		TableId:                &b.Table.UUID,
		TableArn:               new(e.catalog.TableARN(b.Table.Name)),
		BackupArn:              d.BackupArn,
		BackupName:             d.BackupName,
		BackupCreationDateTime: d.BackupCreationDateTime,
		BackupExpiryDateTime:   d.BackupExpiryDateTime,
		BackupStatus:           d.BackupStatus,
		BackupType:             d.BackupType,
		BackupSizeBytes:        d.BackupSizeBytes,
	}
}
