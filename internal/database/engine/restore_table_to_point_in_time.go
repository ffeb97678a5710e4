package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// RestoreTableToPointInTime creates a table with the contents of another at an earlier second: with all changes up to and
// including that time. Settings are the current ones of the source. The table is CREATING while its items are copied and later
// changes undone in the background.
func (e *Engine) RestoreTableToPointInTime(ctx context.Context, in *api.RestoreTableToPointInTimeInput) (*api.RestoreTableToPointInTimeOutput, error) {
	source, err := checkPointInTime(in, e.options.AccountID)
	if err != nil {
		return nil, err
	}
	if err := e.checkRestoreRegion(source, in.SSESpecificationOverride); err != nil {
		return nil, err
	}
	for {
		d, work, err := e.restoreFromNow(ctx, in, source)
		if errors.Is(err, errTableChanged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer e.jobs.start(work) // the response shows the table CREATING
		description, err := e.describe(ctx, d)
		if err != nil {
			return nil, err
		}
		return &api.RestoreTableToPointInTimeOutput{TableDescription: description}, nil
	}
}

// checkPointInTime checks everything that depends on the request alone, and returns the source's name or ARN.
func checkPointInTime(in *api.RestoreTableToPointInTimeInput, account string) (source string, err error) {
	latest := in.UseLatestRestorableTime != nil && *in.UseLatestRestorableTime
	switch {
	case in.SourceTableName == nil && in.SourceTableArn == nil:
		return "", apierr.RestoreSourceMissing.With()
	case in.SourceTableName != nil && in.SourceTableArn != nil:
		return "", apierr.RestoreSourceAmbiguous.With()
	case !latest && in.RestoreDateTime == nil:
		return "", apierr.RestoreTimeMissing.With()
	case latest && in.RestoreDateTime != nil:
		return "", apierr.RestoreTimeAmbiguous.With()
	}
	for i := range in.GlobalSecondaryIndexOverride {
		if x := &in.GlobalSecondaryIndexOverride[i]; x.WarmThroughput != nil {
			return "", apierr.OverrideWarmIndex.With(*x.IndexName)
		}
	}
	if in.SourceTableName != nil {
		return *in.SourceTableName, nil
	}
	switch arn, ok := catalog.ParseARN(*in.SourceTableArn); {
	case !ok:
		return "", apierr.RestoreSourceNotARN.With()
	case arn.Account != account:
		return "", apierr.RestoreSourceForeign.With()
	}
	return *in.SourceTableArn, nil
}

// restoreFromNow keeps the source with its log and creates the table to be restored from them.
func (e *Engine) restoreFromNow(ctx context.Context, in *api.RestoreTableToPointInTimeInput, source string) (d *catalog.Descriptor, work job.Record, err error) {
	s, err := e.recoverable(ctx, source)
	if err != nil {
		return nil, work, err
	}
	at, err := e.restoreTime(ctx, s, in)
	if err != nil {
		return nil, work, err
	}
	if err := e.checkRestoreTarget(*in.TargetTableName); err != nil {
		return nil, work, err
	}
	d, err = e.restoredDescriptor(s, *in.TargetTableName, catalog.Restored{At: at}, schema.Overrides{
		Billing: in.BillingModeOverride, Global: in.GlobalSecondaryIndexOverride, Local: in.LocalSecondaryIndexOverride,
		Throughput: in.ProvisionedThroughputOverride, Maxima: in.OnDemandThroughputOverride, Encryption: in.SSESpecificationOverride,
		Vector: in.VectorIndexOverride,
	})
	if err != nil {
		return nil, work, err
	}
	ctx, done := e.detached(ctx)
	defer done()
	kept := backup.KeptOfRestore(d.UUID)
	defer func() {
		if err != nil && !errors.Is(err, kv.ErrUndetermined) { // otherwise the job may exist
			e.dropKept(ctx, kept)
		}
	}()
	if err := e.keepWithLog(ctx, s, kept, at); err != nil {
		return nil, work, err
	}
	work = newRestoration(d, s, kept, at)
	return d, work, e.beginRestore(ctx, d, &work, kv.Intent{}, func(kv.Txn) error { return nil })
}

// recoverable returns the descriptor of a table that has point-in-time recovery.
func (e *Engine) recoverable(ctx context.Context, nameOrARN string) (*catalog.Descriptor, error) {
	d, err := e.backupTable(ctx, nameOrARN)
	switch {
	case err != nil:
		return nil, err
	case d.GoneAt != 0:
		return nil, apierr.BackupTableNotFound.With(d.Name)
	case !d.PITR.Enabled:
		return nil, apierr.RecoveryNotEnabled.With(d.Name)
	}
	return d, nil
}

// restoreTime returns the requested time in milliseconds: a whole second, or the last millisecond that can get no more changes.
func (e *Engine) restoreTime(ctx context.Context, d *catalog.Descriptor, in *api.RestoreTableToPointInTimeInput) (int64, error) {
	now := e.options.Now()
	earliest, err := e.earliestRestorable(ctx, d, now)
	if err != nil {
		return 0, err
	}
	latest := now.UnixMilli() - 1
	outside := func(at float64) error {
		return apierr.RestoreTimeOutside.With(secondOf(at/millis), secondOf(float64(wholeSeconds(earliest))), secondOf(float64(lastSecond(now))))
	}
	at := latest
	if in.RestoreDateTime != nil {
		wanted := math.Floor(float64(*in.RestoreDateTime)) * millis
		if wanted > float64(latest) {
			return 0, outside(wanted)
		}
		at = int64(max(wanted, 0))
	}
	if at < earliest {
		return 0, outside(float64(at))
	}
	return at, nil
}

// secondOf prints a time in seconds since the epoch as in AWS's messages. A time beyond years of four digits is printed as the
// first or last of these.
func secondOf(seconds float64) string {
	const first, last = -62_167_219_200, 253_402_300_799
	return time.Unix(int64(min(max(seconds, first), last)), 0).UTC().Format("2006-01-02T15:04:05Z")
}

// keepWithLog keeps the source with all changes up to and including a time, and the log of all later ones.
func (e *Engine) keepWithLog(ctx context.Context, d *catalog.Descriptor, kept string, at int64) error {
	if _, err := e.awaitWrites(ctx, d.ID); err != nil {
		return err
	}
	what := backup.Selection(d)
	what.Logs = []kv.LogID{kv.LogID(d.ID)}
	if err := e.store.Keep(ctx, kept, what); err != nil {
		return err
	}
	snapshot, err := e.store.OpenKept(ctx, kept)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	then, err := catalog.ReadDescriptor(snapshot, d.Name)
	if err != nil {
		return err
	}
	if then == nil || then.ID != d.ID || then.Version != d.Version {
		return errTableChanged
	}
	// The log may have been trimmed since the time was checked.
	earliest, err := e.earliestRestorable(ctx, d, e.options.Now())
	if err == nil && at < earliest {
		at := float64(at) / millis
		err = apierr.RestoreTimeOutside.With(secondOf(at), secondOf(float64(wholeSeconds(earliest))), secondOf(at))
	}
	return err
}

// awaitWrites waits for a table's writes in progress, each of which has read the clock while holding the table's version: after
// that, no change can get a time earlier than this call. It returns a number that divides the table's changes: those below it are
// visible to any read of items from now on, the others come after the call.
func (e *Engine) awaitWrites(ctx context.Context, table keyenc.TableID) (n kv.Seq, err error) {
	err = e.store.Update(ctx, kv.Intent{Write: [][]byte{keyenc.TableVersion(table)}}, func(txn kv.Txn) error {
		n = txn.LogSeq()
		return nil
	})
	return n, err
}
