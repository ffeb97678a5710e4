package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// systemBackupPeriod is how long the system backup of a deleted table can be restored.
	systemBackupPeriod = 35 * 24 * time.Hour
	// systemBackupSuffix is the suffix of the names of such backups.
	systemBackupSuffix = "$DeletedTableBackup"
	// backupExpiryInterval is how often expired backups are removed.
	backupExpiryInterval = time.Minute
)

// newBackupID creates an id for a backup at a time. Ids sort by time.
func (e *Engine) newBackupID(now time.Time) (string, error) {
	var random [4]byte
	if err := e.randomBytes(random[:]); err != nil {
		return "", fmt.Errorf("engine: backup id: %w", err)
	}
	return fmt.Sprintf("%014d-%s", now.UnixMilli(), hex.EncodeToString(random[:])), nil
}

// readBackup returns a backup by its id, or nil if it no longer exists.
func (e *Engine) readBackup(r kv.Reader, id string) (*backup.Record, error) {
	data, err := r.Get(keyenc.Backup(id))
	if err != nil || data == nil {
		return nil, err
	}
	b, err := backup.Decode(data)
	if err != nil || b.Expired(e.options.Now()) {
		return nil, err
	}
	return b, nil
}

// backupARN returns the ARN of a backup.
func (e *Engine) backupARN(b *backup.Record) string {
	return e.catalog.TableARN(b.Table.Name) + "/backup/" + b.ID
}

// parseBackupARN returns the table name and id of an ARN: arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/backup/ID.
func (e *Engine) parseBackupARN(text string) (table, id string, err error) {
	arn, ok := catalog.ParseARN(text)
	id, isBackup := strings.CutPrefix(arn.Rest, "/backup/")
	switch {
	case !ok && strings.HasPrefix(text, "arn:") && strings.Contains(text, "/backup/"):
		return "", "", apierr.BackupARNNotValid.With()
	case !ok, !isBackup, id == "", !catalog.ValidName(arn.Table):
		return "", "", apierr.InvalidBackupARN.With()
	case !arn.Native():
		return "", "", apierr.BackupARNNotValid.With()
	case arn.Account != e.options.AccountID:
		return "", "", apierr.OtherAccount.With()
	case arn.Region != e.options.Region:
		return "", "", apierr.BackupNotFound.With(text)
	}
	return arn.Table, id, nil
}

// findBackup returns a backup by its ARN.
func (e *Engine) findBackup(r kv.Reader, arn string) (*backup.Record, error) {
	table, id, err := e.parseBackupARN(arn)
	if err != nil {
		return nil, err
	}
	b, err := e.readBackup(r, id)
	if err == nil && (b == nil || b.Table.Name != table) {
		err = apierr.BackupNotFound.With(arn)
	}
	return b, err
}

// beginSystemBackup writes the record of a table's system backup in the transaction that deletes the table, and returns its id.
// The job that removes the table's data saves the data first.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_beforeyoubegin.html
func (e *Engine) beginSystemBackup(txn kv.Txn, d *catalog.Descriptor, now time.Time) (id string, err error) {
	if id, err = e.newBackupID(now); err != nil {
		return "", err
	}
	whole := *d
	whole.GoneAt = 0
	b, err := backup.New(id, d.Name+systemBackupSuffix, now, &whole)
	if err != nil {
		return "", err
	}
	b.Type, b.Expires, b.Making = backup.OfSystem, now.Add(systemBackupPeriod).UnixMilli(), true
	return id, b.Save(txn)
}

// keepDeleted keeps the data of a table that is being deleted for its system backup. Requests no longer reach the table, but an
// expiry that has begun may still end.
func (e *Engine) keepDeleted(ctx context.Context, id string) error {
	b := &backup.Record{ID: id}
	err := e.readLatest(ctx, func(r kv.Reader) (err error) {
		b, err = e.readBackup(r, id)
		return err
	})
	if err != nil || b == nil || !b.Making {
		return err
	}
	what := backup.Selection(b.Table)
	what.Frees = true
	if err := e.store.Keep(ctx, b.Kept(), what); err != nil && !errors.Is(err, kv.ErrKeptExists) {
		return err
	}
	snapshot, err := e.store.OpenKept(ctx, b.Kept())
	if err != nil {
		return err
	}
	defer snapshot.Close()
	if err := b.Count(snapshot); err != nil {
		return err
	}
	b.Making = false
	return e.store.Update(ctx, kv.Intent{Write: [][]byte{b.Key()}, Drops: true}, b.Save)
}

// readLatest calls read with a reader that sees everything committed before the call.
func (e *Engine) readLatest(ctx context.Context, read func(kv.Reader) error) error {
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	return read(snapshot)
}

// expireBackups removes expired backups.
func (e *Engine) expireBackups(ctx context.Context) error {
	now := e.options.Now()
	var over []*backup.Record
	err := e.readLatest(ctx, func(r kv.Reader) error {
		return backup.Each(r, nil, func(b *backup.Record) bool {
			if b.Expired(now) {
				over = append(over, b)
			}
			return true
		})
	})
	for _, b := range over {
		_, removed := e.removeBackup(ctx, b.ID, func(*backup.Record) error { return nil })
		if _, refused := errors.AsType[*apierr.Error](removed); !refused { // a restore is in progress
			err = errors.Join(err, removed)
		}
	}
	return err
}

// removeBackup removes a backup unless check or a running restore prevents it, and returns it, or nil if it no longer exists.
func (e *Engine) removeBackup(ctx context.Context, id string, check func(*backup.Record) error) (b *backup.Record, err error) {
	key := keyenc.Backup(id)
	err = e.store.Update(ctx, kv.Intent{Write: [][]byte{key}, Drops: true}, func(txn kv.Txn) error {
		data, err := txn.Get(key)
		if err != nil || data == nil {
			b = nil
			return err
		}
		if b, err = backup.Decode(data); err != nil {
			return err
		}
		if err := check(b); err != nil {
			return err
		}
		if err := e.notBeingRestored(txn, b, apierr.BackupBeingRestored); err != nil {
			return err
		}
		txn.Delete(key)
		return nil
	})
	if err != nil || b == nil {
		return nil, err
	}
	if e.member != nil { // such a store removes row by row, and waits until there is less of other long work
		go e.dropKept(e.jobs.ctx, b.Kept())
	} else {
		e.dropKept(ctx, b.Kept())
	}
	return b, nil
}

// notBeingRestored returns the refusal if a restore reads the backup, or its table is still CREATING. A restore starts while holding
// the backup's key, and a job that has ended never comes back, so a caller that holds the key and sees no restore can rely on it.
func (e *Engine) notBeingRestored(r kv.Reader, b *backup.Record, refusal apierr.Sentence) error {
	reading, err := job.Stored(r, func(j job.Record) bool { return j.Kind == job.Restore && j.Restore.Kept == b.Kept() })
	if err == nil && (len(reading) > 0 || e.restoresFrom(b)) {
		err = refusal.With(e.backupARN(b))
	}
	return err
}

// restoresFrom reports whether a table that is CREATING comes from a backup.
func (e *Engine) restoresFrom(b *backup.Record) bool {
	now, arn := e.options.Now(), e.backupARN(b)
	for _, t := range e.catalog.Tables() {
		if r := t.Descriptor.Restored; r != nil && r.BackupARN == arn && t.Descriptor.Status(now) == catalog.StatusCreating {
			return true
		}
	}
	return false
}

// detached returns a context for work that a request starts but that must outlive it. It ends with the engine.
func (e *Engine) detached(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(e.jobs.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// dropKept deletes a kept snapshot that is no longer referenced. If that fails, or the engine is closed, the next Open does it, or the leader
// of the servers that share the store.
func (e *Engine) dropKept(ctx context.Context, name string) {
	ctx, done := e.detached(ctx)
	defer done()
	if err := e.store.DropKept(ctx, name); err != nil && ctx.Err() == nil && !errors.Is(err, kv.ErrClosed) {
		e.options.Logger.Warn("cannot delete a snapshot that is no longer needed; the next start tries again", "name", name, "error", err)
	}
}

// dropNamelessKept deletes all unreferenced kept snapshots.
func (e *Engine) dropNamelessKept(ctx context.Context) error {
	nameless, err := e.namelessKept(ctx)
	for _, name := range nameless {
		e.dropKept(ctx, name)
	}
	return err
}

// namelessKept returns the kept snapshots that no backup, job or export refers to. A crash leaves them, either between creating
// the snapshot and its record or between deleting the two.
func (e *Engine) namelessKept(ctx context.Context) (nameless []string, err error) {
	kept, err := e.store.Kept(ctx)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	named := map[string]bool{}
	err = e.readLatest(ctx, func(r kv.Reader) error {
		restores, err := job.Stored(r, func(j job.Record) bool { return j.Kind == job.Restore })
		if err != nil {
			return err
		}
		for i := range restores {
			named[restores[i].Restore.Kept] = true
		}
		exports, err := transfer.All(r, transfer.Export, (*transfer.Record).UnderWay)
		if err != nil {
			return err
		}
		for _, x := range exports {
			named[backup.KeptOfExport(x.ID)] = true
		}
		return backup.Each(r, nil, func(b *backup.Record) bool { named[b.Kept()] = true; return true })
	})
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		if backup.OwnsSnapshot(k.Name) && !named[k.Name] {
			nameless = append(nameless, k.Name)
		}
	}
	return nameless, nil
}

func (e *Engine) backupDetails(b *backup.Record, status string) *api.BackupDetails {
	out := &api.BackupDetails{
		BackupArn:              new(e.backupARN(b)),
		BackupName:             &b.Name,
		BackupSizeBytes:        &b.Bytes,
		BackupStatus:           &status,
		BackupType:             &b.Type,
		BackupCreationDateTime: api.TimestampOf(b.Created),
	}
	if b.Expires != 0 {
		out.BackupExpiryDateTime = api.TimestampOf(b.Expires)
	}
	return out
}

// describeBackup describes a backup and its source table.
func (e *Engine) describeBackup(b *backup.Record, status string) *api.BackupDescription {
	return &api.BackupDescription{
		BackupDetails:             e.backupDetails(b, status),
		SourceTableDetails:        schema.DescribeSource(b.Table, e.catalog.TableARN(b.Table.Name), b.Items, b.Bytes),
		SourceTableFeatureDetails: schema.DescribeSourceFeatures(b.Table),
	}
}
