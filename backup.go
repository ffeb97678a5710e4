package monotable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/seal"
)

// errInMemory is what a database in memory answers to calls about its files.
var errInMemory = errors.New("monotable: the database is in memory and has no files")

// Backup makes dest a copy of the database as it is at one moment of the call, with every write that was
// acknowledged before it, while reads and writes go on. dest is a directory that does not exist yet, or is
// empty, outside the database's own. Where both are on one file system the copy shares most files with the
// database by hard links: it is quick and takes little room, and a fault of the disk hits both.
//
// The copy of an encrypted directory is encrypted too, and opens with the master key of this moment.
//
// The copy is a database like any other: [Open] opens it, [Verify] proves it, [Restore] copies it back. After
// an error nothing is left of it; what a crash leaves is refused by Open. progress, unless nil, hears how many
// bytes of how many are done. A database in memory has nothing to copy.
func (db *DB) Backup(ctx context.Context, dest string, progress func(done, total int64)) error {
	store, onDisk := db.store.(*pebblekv.Store)
	if !onDisk {
		return fmt.Errorf("%w to back up", errInMemory)
	}
	path, err := absolute(dest)
	if err != nil {
		return err
	}
	if err := store.Backup(ctx, path, progress); err != nil {
		return fmt.Errorf("monotable: back up to %s: %w", dest, err)
	}
	return nil
}

// Backup is [DB.Backup] for a directory that no process has open. The copy shares no files with it. No master key is needed: an encrypted
// directory is copied as it is.
func Backup(ctx context.Context, dir, dest string, progress func(done, total int64)) error {
	if err := copyStore(ctx, dir, dest, progress); err != nil {
		return fmt.Errorf("monotable: back up %s to %s: %w", dir, dest, err)
	}
	return nil
}

// Restore makes dir a database with all that a backup holds, which stays as it is. dir is a directory that does
// not exist yet, or is empty: nothing is ever overwritten. After an error nothing is left in it; what a crash
// leaves is refused by [Open]. progress, unless nil, hears how many bytes of how many are done.
func Restore(ctx context.Context, backup, dir string, progress func(done, total int64)) error {
	if err := copyStore(ctx, backup, dir, progress); err != nil {
		return fmt.Errorf("monotable: restore %s to %s: %w", backup, dir, err)
	}
	return nil
}

func copyStore(ctx context.Context, from, to string, progress func(done, total int64)) error {
	from, err := existing(from)
	if err != nil {
		return err
	}
	if to, err = absolute(to); err != nil {
		return err
	}
	return pebblekv.Copy(ctx, nil, from, to, progress)
}

// Recrypt is [Restore] to a directory whose files are encrypted with new keys under the master key, or, with encrypt false, are not encrypted.
// The backup, if it is encrypted, is so under the same master key.
func Recrypt(ctx context.Context, backup, dir string, masterKey []byte, encrypt bool, progress func(done, total int64)) error {
	o := &Options{MasterKey: masterKey}
	err := o.validateMasterKeys()
	from, to := "", ""
	if err == nil {
		from, err = existing(backup)
	}
	if err == nil {
		to, err = absolute(dir)
	}
	if err == nil {
		err = pebblekv.Recrypt(ctx, nil, from, to, masterKey, encrypt, progress)
	}
	if err != nil {
		return fmt.Errorf("monotable: restore %s to %s: %w", backup, dir, err)
	}
	return nil
}

func (o *Options) validateMasterKeys() error {
	var faults []error
	for name, key := range map[string][]byte{"MasterKey": o.MasterKey, "PreviousMasterKey": o.PreviousMasterKey} {
		if key != nil && len(key) != seal.KeyBytes {
			faults = append(faults, fmt.Errorf("monotable: %s has %d bytes: want %d", name, len(key), seal.KeyBytes))
		}
	}
	if o.MasterKey == nil && o.PreviousMasterKey != nil {
		faults = append(faults, errors.New("monotable: PreviousMasterKey is for a change of the MasterKey: give that, too"))
	}
	return errors.Join(faults...)
}

// openStore opens the store of a directory that has one. Of o only the master keys count.
func openStore(dir string, o *Options) (*pebblekv.Store, error) {
	o = o.withDefaults()
	if err := o.validateMasterKeys(); err != nil {
		return nil, err
	}
	path, err := existing(dir)
	if err != nil {
		return nil, fmt.Errorf("monotable: open %s: %w", dir, err)
	}
	store, err := pebblekv.Open(path, pebblekv.Options{
		Logger: slog.New(slog.DiscardHandler), MasterKey: o.MasterKey, PreviousMasterKey: o.PreviousMasterKey,
	})
	if err != nil {
		return nil, fmt.Errorf("monotable: open %s: %w", dir, err)
	}
	return store, nil
}

// existing returns the absolute path of a directory, and refuses one that is missing or empty, where opening it
// would make a new database.
func existing(dir string) (string, error) {
	path, err := absolute(dir)
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return "", errors.New("the directory is empty: there is no database in it")
	}
	return path, err
}

// absolute returns the path of a directory that stays right wherever the process goes.
func absolute(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no directory is named")
	}
	return filepath.Abs(dir)
}
