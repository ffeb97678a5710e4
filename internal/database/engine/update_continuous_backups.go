package engine

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// recoveryDaysMax is the longest recovery period, and the default.
const recoveryDaysMax = 35

// UpdateContinuousBackups enables or disables point-in-time recovery of a table. Enabling it again starts a new period.
func (e *Engine) UpdateContinuousBackups(ctx context.Context, in *api.UpdateContinuousBackupsInput) (*api.UpdateContinuousBackupsOutput, error) {
	spec := in.PointInTimeRecoverySpecification
	if !*spec.PointInTimeRecoveryEnabled && spec.RecoveryPeriodInDays != nil {
		return nil, apierr.RecoveryDaysNeedless.With()
	}
	d, err := e.catalog.Change(ctx, *in.TableName, func(txn kv.Txn, d *catalog.Descriptor) error {
		if err := e.checkRestored(d); err != nil {
			return err
		}
		now := e.options.Now()
		switch d.Status(now) {
		case catalog.StatusCreating:
			return apierr.BackupsNotYetKept.With(d.Name)
		case catalog.StatusDeleting:
			return apierr.BackupTableNotFound.With(d.Name)
		default:
		}
		if !*spec.PointInTimeRecoveryEnabled {
			d.PITR.Enabled = false
			return nil
		}
		days := recoveryDaysMax
		if spec.RecoveryPeriodInDays != nil {
			days = int(*spec.RecoveryPeriodInDays)
		}
		enableRecovery(&d.PITR, days, now, txn.LogSeq())
		return nil
	})
	if isNotFound(err) {
		name, _ := e.catalog.Name(*in.TableName)
		err = apierr.BackupTableNotFound.With(name)
	}
	if err != nil {
		return nil, err
	}
	description, err := e.describeContinuousBackups(ctx, d)
	return &api.UpdateContinuousBackupsOutput{ContinuousBackupsDescription: description}, err
}

// enableRecovery enables recovery or changes its period. Recovery begins now, or at the time of the log's next number if that is
// ahead of the clock: changes with lower numbers may have no old images. A longer period does not bring back changes that the
// previous one has let go.
func enableRecovery(p *catalog.PITR, days int, now time.Time, next kv.Seq) {
	switch {
	case !p.Enabled:
		p.Since = max(now.UnixMilli(), next.Millis())
	case days > p.Days:
		p.Since = max(p.Since, periodStart(p.Days, now))
	}
	p.Enabled, p.Days = true, days
}
