package monotable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/seal"
)

// Backup copies the database to dest while reads and writes continue. The copy is a consistent snapshot and contains every write
// that was acknowledged before the call. dest must be missing or empty, and outside the database's directory. On the same file
// system, the copy shares most files with the database through hard links: it is fast and takes little space, but a disk failure
// affects both.
//
// The copy of an encrypted directory is also encrypted and opens with the current master key.
//
// The copy is an ordinary database: [Open] opens it, [Verify] verifies it, [Restore] copies it back. After an error nothing is
// left of the copy. Open rejects a copy that was interrupted by a crash. progress, unless nil, is called with the number of bytes
// copied and the total. A database in memory cannot be backed up.
func (db *DB) Backup(ctx context.Context, dest string, progress func(done, total int64)) error {
	store, onDisk := db.store.(*pebblekv.Store)
	if !onDisk {
		return fmt.Errorf("monotable: %w", db.errNoDirectory("back up the store with its own tools, as docs/cluster.md describes"))
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

// errNoDirectory is the error of a call that needs the files of a directory; do is what to do instead if other servers can share
// the store.
func (db *DB) errNoDirectory(do string) error {
	if _, inMemory := db.store.(*memkv.Store); inMemory {
		return errors.New("the database is in memory and has no files")
	}
	return fmt.Errorf("the server keeps its data in PostgreSQL or TiKV, not in this directory: %s", do)
}

// Backup is [DB.Backup] for a directory that no process has open. The copy shares no files with the original. It needs no master
// key: an encrypted directory is copied as it is.
func Backup(ctx context.Context, dir, dest string, progress func(done, total int64)) error {
	if err := copyStore(ctx, dir, dest, progress); err != nil {
		return fmt.Errorf("monotable: back up %s to %s: %w", dir, dest, err)
	}
	return nil
}

// Restore copies a backup to dir, which must be missing or empty: Restore never overwrites anything. The backup is unchanged.
// After an error dir is empty; [Open] rejects a restore that was interrupted by a crash. progress, unless nil, is called with the
// number of bytes copied and the total.
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

// Recrypt is [Restore] to a directory whose files are encrypted with new keys under the master key or, if encrypt is false, not
// encrypted. If the backup is encrypted, it must be under the same master key.
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
			faults = append(faults, fmt.Errorf("monotable: %s has %d bytes, want %d", name, len(key), seal.KeyBytes))
		}
	}
	if o.MasterKey == nil && o.PreviousMasterKey != nil {
		faults = append(faults, errors.New("monotable: PreviousMasterKey is only used to change the master key: set MasterKey, too"))
	}
	return errors.Join(faults...)
}

// openStore opens the store of an existing directory, which stays as it is if readOnly is set. Only the master keys of o are used.
func openStore(dir string, o *Options, readOnly bool) (*pebblekv.Store, error) {
	o = o.withDefaults()
	if err := o.validateMasterKeys(); err != nil {
		return nil, err
	}
	path, err := existing(dir)
	if err != nil {
		return nil, fmt.Errorf("monotable: open %s: %w", dir, err)
	}
	store, err := pebblekv.Open(path, pebblekv.Options{
		Logger: slog.New(slog.DiscardHandler), MasterKey: o.MasterKey, PreviousMasterKey: o.PreviousMasterKey, ReadOnly: readOnly,
	})
	if err != nil {
		return nil, fmt.Errorf("monotable: open %s: %w", dir, err)
	}
	return store, nil
}

// existing returns the absolute path of a directory. It rejects a missing or empty one, which would otherwise become a new
// database.
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

// absolute returns an absolute path, which stays valid when the process changes its working directory. It has no symbolic links, so
// a directory is recognized as another, or as inside of it, by its path.
func absolute(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("the directory's name is empty")
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return withoutLinks(path), nil
}

// withoutLinks resolves the symbolic links in the part of a path that exists.
func withoutLinks(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(withoutLinks(parent), filepath.Base(path))
}
