package engine

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The types and statuses of backups.
const (
	backupOfUser   = "USER"
	backupOfSystem = "SYSTEM"

	backupCreating  = "CREATING"
	backupAvailable = "AVAILABLE"
	backupDeleted   = "DELETED"
)

const (
	// systemBackupPeriod is for how long what is left of a deleted table can be restored.
	systemBackupPeriod = 35 * 24 * time.Hour
	// systemBackupSuffix ends the names of such backups.
	systemBackupSuffix = "$DeletedTableBackup"
	// backupExpiryInterval is how often backups that have expired are looked for.
	backupExpiryInterval = time.Minute
)

// Kept snapshots belong to a backup, or to the restore of a table to a point in time.
const (
	keptOfBackup  = "backup-"  // and the backup's id
	keptOfRestore = "restore-" // and the new table's UUID
)

// backupFormat is the version of the stored form of a backup.
const backupFormat = 1

// backup is the record of a backup: a kept snapshot of a table, and what the API tells of it without a look into
// that. Times are milliseconds since the epoch.
type backup struct {
	Format  int    `json:"format"`
	ID      string `json:"id"` // the end of the ARN: 14 digits of milliseconds, '-', 8 hex digits
	Name    string `json:"name"`
	Type    string `json:"type"`
	Created int64  `json:"created"`
	Expires int64  `json:"expires,omitempty"` // 0 is never
	// Making: the snapshot is not kept yet. So begins the backup of a table that is deleted: the record is
	// written with the deletion, and the job that removes the table's data keeps them first.
	Making bool  `json:"making,omitempty"`
	Items  int64 `json:"items"`
	Bytes  int64 `json:"bytes"`
	// Descriptor is the table's, as it was.
	Descriptor json.RawMessage `json:"table"`

	table *catalog.Descriptor // Descriptor, decoded
}

func newBackup(id, name string, created time.Time, d *catalog.Descriptor) (*backup, error) {
	descriptor, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("engine: backup: %w", err)
	}
	return &backup{ID: id, Name: name, Type: backupOfUser, Created: created.UnixMilli(), Descriptor: descriptor, table: d}, nil
}

// newBackupID makes the id of a backup of now. Ids stand in the order of time.
func (e *Engine) newBackupID(now time.Time) (string, error) {
	var random [4]byte
	if err := e.randomBytes(random[:]); err != nil {
		return "", fmt.Errorf("engine: backup id: %w", err)
	}
	return fmt.Sprintf("%014d-%s", now.UnixMilli(), hex.EncodeToString(random[:])), nil
}

func (b *backup) key() []byte { return keyenc.Backup(b.ID) }

// kept names the backup's kept snapshot.
func (b *backup) kept() string { return keptOfBackup + b.ID }

func (b *backup) expired(now time.Time) bool { return b.Expires != 0 && b.Expires <= now.UnixMilli() }

// save writes the record within a transaction that holds its key.
func (b *backup) save(txn kv.Txn) error {
	b.Format = backupFormat
	data, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("engine: backup: %w", err)
	}
	txn.Set(b.key(), data)
	return nil
}

func decodeBackup(data []byte) (*backup, error) {
	b := new(backup)
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("engine: backup record: %w", err)
	}
	if b.Format < 1 || b.Format > backupFormat {
		return nil, fmt.Errorf("engine: backup %q is stored in format %d and this program knows formats up to %d: "+
			"open the store with the program that wrote it, or a newer one", b.ID, b.Format, backupFormat)
	}
	var err error
	if b.table, err = catalog.DecodeDescriptor(b.Descriptor); err != nil {
		return nil, fmt.Errorf("engine: backup %q: %w", b.ID, err)
	}
	return b, nil
}

// readBackup returns the backup of an id, nil where there is none any more.
func (e *Engine) readBackup(r kv.Reader, id string) (*backup, error) {
	data, err := r.Get(keyenc.Backup(id))
	if err != nil || data == nil {
		return nil, err
	}
	b, err := decodeBackup(data)
	if err != nil || b.expired(e.options.Now()) {
		return nil, err
	}
	return b, nil
}

// eachBackup calls see for every backup from a key on, the oldest first, until it returns false.
func eachBackup(r kv.Reader, from []byte, see func(*backup) bool) error {
	lo, hi := keyenc.Backups()
	if from != nil {
		lo = from
	}
	it := r.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		b, err := decodeBackup(it.Value())
		if err != nil {
			return err
		}
		if !see(b) {
			break
		}
	}
	return it.Err()
}

// backupARN is the ARN of a backup.
func (e *Engine) backupARN(b *backup) string {
	return e.catalog.TableARN(b.table.Name) + "/backup/" + b.ID
}

// parseBackupARN returns table and id in an ARN: arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/backup/ID.
func (e *Engine) parseBackupARN(text string) (table, id string, err error) {
	arn, ok := catalog.ParseARN(text)
	id, isBackup := strings.CutPrefix(arn.Rest, "/backup/")
	switch {
	case !ok, !isBackup, id == "", !catalog.ValidName(arn.Table):
		return "", "", apierr.InvalidBackupARN.With(text)
	case arn.Account != e.options.AccountID:
		return "", "", apierr.OtherAccount.With(text)
	case arn.Region != e.options.Region:
		return "", "", apierr.OtherRegion.With(text)
	}
	return arn.Table, id, nil
}

// findBackup returns the backup of an ARN.
func (e *Engine) findBackup(r kv.Reader, arn string) (*backup, error) {
	table, id, err := e.parseBackupARN(arn)
	if err != nil {
		return nil, err
	}
	b, err := e.readBackup(r, id)
	if err == nil && (b == nil || b.table.Name != table) {
		err = apierr.BackupNotFound.With(arn)
	}
	return b, err
}

// keptOf is what a backup of a table keeps: items and entries, counters, and the descriptor as it is at the same
// moment. TTL entries are not restored.
func keptOf(d *catalog.Descriptor) kv.Selection {
	descriptor := keyenc.TableDescriptor(d.Name)
	what := kv.Selection{Spans: []kv.Span{{Lo: descriptor, Hi: keyAfter(descriptor)}}}
	for _, bounds := range []func(keyenc.TableID) (lo, hi []byte){keyenc.TableBounds, keyenc.StatisticsBounds} {
		lo, hi := bounds(d.ID)
		what.Spans = append(what.Spans, kv.Span{Lo: lo, Hi: hi})
	}
	return what
}

// beginSystemBackup writes, with the deletion of a table, the record of a backup of it, and returns its id. The
// job that removes the table's data keeps them first.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_beforeyoubegin.html
func (e *Engine) beginSystemBackup(txn kv.Txn, d *catalog.Descriptor, now time.Time) (id string, err error) {
	if id, err = e.newBackupID(now); err != nil {
		return "", err
	}
	whole := *d
	whole.GoneAt = 0
	b, err := newBackup(id, d.Name+systemBackupSuffix, now, &whole)
	if err != nil {
		return "", err
	}
	b.Type, b.Expires, b.Making = backupOfSystem, now.Add(systemBackupPeriod).UnixMilli(), true
	return id, b.save(txn)
}

// keepDeleted keeps the data of a table that is being deleted for the backup that began with its deletion. No
// write reaches the table any more.
func (e *Engine) keepDeleted(ctx context.Context, id string, table keyenc.TableID) error {
	b := &backup{ID: id}
	err := e.readLatest(ctx, func(r kv.Reader) (err error) {
		b, err = e.readBackup(r, id)
		return err
	})
	if err != nil || b == nil || !b.Making {
		return err
	}
	if err := e.store.Keep(ctx, b.kept(), keptOf(b.table)); err != nil && !errors.Is(err, kv.ErrKeptExists) {
		return err
	}
	if b.Items, b.Bytes, err = e.statistics(ctx, table, 0); err != nil {
		return err
	}
	b.Making = false
	return e.store.Update(ctx, kv.Intent{Write: [][]byte{b.key()}}, b.save)
}

// readLatest calls read with everything committed before.
func (e *Engine) readLatest(ctx context.Context, read func(kv.Reader) error) error {
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	return read(snapshot)
}

// expireBackups removes the backups whose time is over.
func (e *Engine) expireBackups(ctx context.Context) error {
	now := e.options.Now()
	var over []*backup
	err := e.readLatest(ctx, func(r kv.Reader) error {
		return eachBackup(r, nil, func(b *backup) bool {
			if b.expired(now) {
				over = append(over, b)
			}
			return true
		})
	})
	for _, b := range over {
		_, removed := e.removeBackup(ctx, b.ID, func(*backup) error { return nil })
		if _, refused := errors.AsType[*apierr.Error](removed); !refused { // a restore goes on
			err = errors.Join(err, removed)
		}
	}
	return err
}

// removeBackup removes a backup unless check or a restore forbids it, and returns it; nil where it is gone.
func (e *Engine) removeBackup(ctx context.Context, id string, check func(*backup) error) (b *backup, err error) {
	key := keyenc.Backup(id)
	err = e.store.Update(ctx, kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		data, err := txn.Get(key)
		if err != nil || data == nil {
			b = nil
			return err
		}
		if b, err = decodeBackup(data); err != nil {
			return err
		}
		if err := check(b); err != nil {
			return err
		}
		if err := e.notBeingRestored(txn, b); err != nil {
			return err
		}
		txn.Delete(key)
		return nil
	})
	if err != nil || b == nil {
		return nil, err
	}
	e.dropKept(ctx, b.kept())
	return b, nil
}

// notBeingRestored refuses to touch a backup that a restore reads. Restores begin holding the backup's key, and
// a job that has ended does not come back: what is not seen by who holds the key will not be there later.
func (e *Engine) notBeingRestored(r kv.Reader, b *backup) error {
	reading, err := storedJobs(r, func(j job) bool { return j.Kind == jobRestore && j.Restore.Kept == b.kept() })
	if err == nil && len(reading) > 0 {
		err = apierr.BackupBeingRestored.With(e.backupARN(b))
	}
	return err
}

// dropKept forgets a kept snapshot that nothing names any more. Where it fails, the next Open does it.
func (e *Engine) dropKept(ctx context.Context, name string) {
	if err := e.store.DropKept(context.WithoutCancel(ctx), name); err != nil && !errors.Is(err, kv.ErrClosed) {
		e.options.Logger.Warn("a kept snapshot stays until the next start", "name", name, "error", err)
	}
}

// dropNamelessKept forgets the kept snapshots that no backup and no job names: a crash came between the making
// of the one and of the other, or between their ends.
func (e *Engine) dropNamelessKept(ctx context.Context) error {
	kept, err := e.store.Kept(ctx)
	if err != nil || len(kept) == 0 {
		return err
	}
	named := map[string]bool{}
	err = e.readLatest(ctx, func(r kv.Reader) error {
		restores, err := storedJobs(r, func(j job) bool { return j.Kind == jobRestore })
		if err != nil {
			return err
		}
		for i := range restores {
			named[restores[i].Restore.Kept] = true
		}
		return eachBackup(r, nil, func(b *backup) bool { named[b.kept()] = true; return true })
	})
	if err != nil {
		return err
	}
	for _, k := range kept {
		ours := strings.HasPrefix(k.Name, keptOfBackup) || strings.HasPrefix(k.Name, keptOfRestore)
		if ours && !named[k.Name] {
			e.dropKept(ctx, k.Name)
		}
	}
	return nil
}

// status is CREATING or AVAILABLE.
func (b *backup) status() string {
	if b.Making {
		return backupCreating
	}
	return backupAvailable
}

func (e *Engine) backupDetails(b *backup, status string) *api.BackupDetails {
	out := &api.BackupDetails{
		BackupArn:              new(e.backupARN(b)),
		BackupName:             &b.Name,
		BackupSizeBytes:        &b.Bytes,
		BackupStatus:           &status,
		BackupType:             &b.Type,
		BackupCreationDateTime: timestamp(b.Created),
	}
	if b.Expires != 0 {
		out.BackupExpiryDateTime = timestamp(b.Expires)
	}
	return out
}
