package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// CreateBackup backs up a table as of one moment during the call, with every write that was acknowledged before it. In a
// directory the time does not depend on the table's size. Elsewhere the table is copied, and the copy continues if the request
// times out. The response shows the backup CREATING; the next request finds it AVAILABLE.
func (e *Engine) CreateBackup(ctx context.Context, in *api.CreateBackupInput) (*api.CreateBackupOutput, error) {
	for {
		d, err := e.backupSource(ctx, *in.TableName)
		if err != nil {
			return nil, err
		}
		b, err := e.backUp(ctx, d, *in.BackupName)
		if errors.Is(err, errBackupMissed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &api.CreateBackupOutput{BackupDetails: e.backupDetails(b, backup.Creating)}, nil
	}
}

// errBackupMissed: the table had been deleted before the snapshot, or the id was taken.
var errBackupMissed = errors.New("engine: the table was deleted before its backup began")

// backupTable returns the descriptor of the table named by a backup operation. These operations have their own error for a
// missing table.
func (e *Engine) backupTable(ctx context.Context, nameOrARN string) (*catalog.Descriptor, error) {
	d, err := e.find(ctx, nameOrARN)
	if isNotFound(err) {
		name, _ := e.catalog.Name(nameOrARN)
		return nil, apierr.BackupTableNotFound.With(name)
	}
	return d, err
}

// backupSource returns the descriptor of a table that can be backed up, including one that is being changed.
func (e *Engine) backupSource(ctx context.Context, nameOrARN string) (*catalog.Descriptor, error) {
	d, err := e.backupTable(ctx, nameOrARN)
	if err != nil {
		return nil, err
	}
	switch d.Status(e.options.Now()) {
	case catalog.StatusCreating:
		if d.Importing {
			return nil, apierr.BackupsNotYetKept.With(d.Name)
		}
		return nil, apierr.BackupTableNotFound.With(d.Name)
	case catalog.StatusDeleting:
		return nil, apierr.TableBeingDeleted.As(apierr.TableInUseException, d.Name)
	default:
		return d, nil
	}
}

// backUp keeps the table's data and writes the backup's record. Without the record nothing remains.
func (e *Engine) backUp(ctx context.Context, d *catalog.Descriptor, name string) (_ *backup.Record, err error) {
	now := e.options.Now()
	id, err := e.newBackupID(now)
	if err != nil {
		return nil, err
	}
	ctx, done := e.detached(ctx)
	defer done()
	kept := backup.KeptOf(id)
	err = e.store.Keep(ctx, kept, backup.Selection(d))
	if errors.Is(err, kv.ErrKeptExists) {
		return nil, errBackupMissed
	}
	defer func() {
		if err != nil && !errors.Is(err, kv.ErrUndetermined) { // otherwise the record may exist
			e.dropKept(ctx, kept)
		}
	}()
	if err != nil {
		return nil, err
	}
	b, err := e.backupOf(ctx, kept, d, id, name, now)
	if err != nil {
		return nil, err
	}
	return b, e.store.Update(ctx, kv.Intent{Write: [][]byte{b.Key()}}, b.Save)
}

// backupOf creates a backup's record from the kept snapshot.
func (e *Engine) backupOf(ctx context.Context, kept string, d *catalog.Descriptor, id, name string, now time.Time) (*backup.Record, error) {
	snapshot, err := e.store.OpenKept(ctx, kept)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	then, err := catalog.ReadDescriptor(snapshot, d.Name)
	if err != nil {
		return nil, err
	}
	if then == nil || then.ID != d.ID || then.GoneAt != 0 {
		return nil, errBackupMissed
	}
	b, err := backup.New(id, name, now, then)
	if err != nil {
		return nil, err
	}
	return b, b.Count(snapshot)
}
