package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/cryptfs"
)

// ErrMasterKey means that a directory is encrypted under a master key that was not given.
var ErrMasterKey = errors.New("the directory is encrypted")

// openFiles returns the file system of the store's data, which encrypts if the directory is encrypted. The directory's lock must
// be held.
func (s *Store) openFiles(is directory) (vfs.FS, error) {
	o := &s.options
	text, err := readFile(s.fs, s.fs.PathJoin(s.dir, keysFile))
	missing := errors.Is(err, os.ErrNotExist)
	switch {
	case err != nil && !missing:
		return nil, fmt.Errorf("%s: %w", s.dir, err)
	case is.encrypted && missing:
		return nil, fmt.Errorf("%s is encrypted, and its file %s is missing: restore it from a backup of the same directory",
			s.dir, keysFile)
	case is.store && !is.encrypted && !missing:
		return nil, fmt.Errorf("%s has a file %s, but %s says that it is not encrypted: restore the whole directory",
			s.dir, keysFile, formatFile)
	case is.store && !is.encrypted && o.Encrypt:
		return nil, fmt.Errorf("%s is not encrypted; only a copy of it can be: "+
			"make one with monotable restore %s NEW --encrypt (monotable.Recrypt), then remove the old files and backups", s.dir, s.dir)
	case missing && !o.Encrypt:
		return s.fs, nil
	case missing && o.MasterKey == nil:
		return nil, fmt.Errorf("%s: an encrypted directory needs a master key", s.dir)
	case o.MasterKey == nil:
		return nil, fmt.Errorf("%s: %w: pass its master key (--master-key, Options.MasterKey)", s.dir, ErrMasterKey)
	case missing:
		keys, err := newKeyFile(s.fs, s.dir, o.MasterKey)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.dir, err)
		}
		return cryptfs.New(s.fs, keys), nil
	}
	keys, err := s.openKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", s.dir, keysFile, err)
	}
	return cryptfs.New(s.fs, keys), nil
}

// openKeys opens the key file. If it is sealed under the previous master key it is resealed under the new one, with an additional
// data key for new files, because the old master key, and with it the data keys, may have been compromised.
func (s *Store) openKeys(text string) (*cryptfs.Keys, error) {
	keys, err := cryptfs.OpenKeys(text, s.options.MasterKey)
	if !errors.Is(err, cryptfs.ErrWrongKey) {
		return keys, err
	}
	wrong := fmt.Errorf("%w: %w than the one given: pass the right --master-key (Options.MasterKey); to change it, start the server with the old one as --previous-master-key (Options.PreviousMasterKey)", ErrMasterKey, err)
	if s.options.PreviousMasterKey == nil {
		return nil, wrong
	}
	old, err := cryptfs.OpenKeys(text, s.options.PreviousMasterKey)
	if err != nil {
		return nil, wrong
	}
	if s.options.ReadOnly {
		return old, nil
	}
	if keys, err = old.WithNew(); err != nil {
		return nil, err
	}
	if text, err = keys.Seal(s.options.MasterKey); err != nil {
		return nil, err
	}
	return keys, writeWhole(s.fs, s.dir, keysFile, text)
}

// newKeyFile creates a directory's first data key.
func newKeyFile(fs vfs.FS, dir string, master []byte) (*cryptfs.Keys, error) {
	keys, err := cryptfs.NewKeys()
	if err != nil {
		return nil, err
	}
	text, err := keys.Seal(master)
	if err != nil {
		return nil, err
	}
	return keys, writeWhole(fs, dir, keysFile, text)
}

// copyKeyFile copies the key file of a directory, if there is one, and reports whether there is.
func copyKeyFile(fs vfs.FS, from, to string) (bool, error) {
	text, err := readFile(fs, fs.PathJoin(from, keysFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, writeWhole(fs, to, keysFile, text)
}

// Encrypted reports whether the store encrypts what it writes.
func (s *Store) Encrypted() bool { return s.fs != s.files }

// Recrypt is Copy to a directory whose files are encrypted with new data keys or, if encrypt is false, not encrypted. The master
// key opens the source directory, if it is encrypted, and seals the new data keys.
func Recrypt(ctx context.Context, fs vfs.FS, from, to string, master []byte, encrypt bool, progress func(done, total int64)) error {
	if master == nil {
		return errors.New("no master key is given")
	}
	return copyClosed(ctx, fs, from, to, progress, func(c *copying, is directory) error {
		c.recrypt = &recryption{master: master, encrypt: encrypt}
		if !is.encrypted {
			return nil
		}
		text, err := readFile(c.fs, c.fs.PathJoin(from, keysFile))
		if err != nil {
			return err
		}
		keys, err := cryptfs.OpenKeys(text, master)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", from, keysFile, err)
		}
		c.read = cryptfs.New(c.fs, keys)
		return nil
	})
}
