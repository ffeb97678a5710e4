package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv/cryptfs"
)

// copyChunk is how much of a file is copied between checks of the context.
const copyChunk = 1 << 20

// Backup durably copies the store, with everything acknowledged before the call, to dest while the store is in use. dest must be
// missing or empty; Open rejects it until the copy is complete, and an error leaves nothing. Tables are shared by hard links if
// the file system supports them. progress, which may be nil, is called with the number of bytes done and the total.
func (s *Store) Backup(ctx context.Context, dest string, progress func(done, total int64)) (err error) {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	defer s.catch(&err)
	if err := errors.Join(ctx.Err(), s.writable()); err != nil {
		return err
	}
	c := copying{fs: s.fs, read: s.fs, write: s.fs, from: s.makingPath("backup"), to: dest, link: true, progress: progress, health: s.copyHealth()}
	if inside(c.fs, dest, s.dir) {
		return fmt.Errorf("%s is in the directory of the store itself", dest)
	}
	if err := c.checkTarget(); err != nil {
		return err
	}
	defer s.discard(c.from)
	if err := s.stage(ctx, c.from); err != nil {
		return err
	}
	return c.run(ctx)
}

// copyHealth returns the health check of a copy. A store that is already full may still be copied, since that may be the reason
// for the copy.
func (s *Store) copyHealth() func() error {
	if s.space.at() > ample {
		return nil
	}
	return s.space.health
}

// stage copies the store as of one moment to dir, except for the file that marks it as complete.
func (s *Store) stage(ctx context.Context, dir string) error {
	fs := s.fs
	s.keeper.mu.Lock() // a kept snapshot whose name is in the copy must be in the copy, too
	defer s.keeper.mu.Unlock()
	if err := s.checkpoint(ctx, fs.PathJoin(dir, pebbleDir), exhausted); err != nil {
		return err
	}
	if _, err := copyKeyFile(fs, s.dir, dir); err != nil {
		return err
	}
	names, err := s.keptNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		files, err := listFiles(fs, s.keptPath(name))
		if err != nil {
			return err
		}
		to := fs.PathJoin(dir, keptDir, name)
		if err := fs.MkdirAll(to, dirMode); err != nil {
			return err
		}
		for _, f := range files {
			if err := vfs.LinkOrCopy(fs, fs.PathJoin(s.keptPath(name), f.name), fs.PathJoin(to, f.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Copy copies the store in from, which must not be open, to a new directory; a nil fs is the machine's file system. It takes the
// store's lock, or returns kv.ErrLocked, and changes nothing in from. to must be missing or empty; Open rejects it until the copy
// is complete, and an error leaves nothing. The two share no files. progress, which may be nil, is called with the number of bytes
// done and the total.
//
// The copy of an encrypted store is encrypted with the same keys and needs no master key.
func Copy(ctx context.Context, fs vfs.FS, from, to string, progress func(done, total int64)) error {
	return copyClosed(ctx, fs, from, to, progress, func(*copying, directory) error { return nil })
}

// copyClosed implements Copy and Recrypt; prepare sets what differs.
func copyClosed(ctx context.Context, fs vfs.FS, from, to string, progress func(done, total int64), prepare func(*copying, directory) error) error {
	if fs == nil {
		fs = vfs.Default
	}
	is, err := checkDirectory(fs, from)
	if err != nil {
		return err
	}
	if !is.store {
		return noStoreError(from)
	}
	if inside(fs, to, from) {
		return fmt.Errorf("%s is in the directory of the store itself", to)
	}
	c := copying{fs: fs, read: fs, write: fs, from: from, to: to, progress: progress}
	if err := c.checkTarget(); err != nil {
		return err
	}
	lock, err := lockForReading(fs, from)
	if err != nil {
		return err
	}
	c.release = lock.Close
	if err := prepare(&c, is); err != nil {
		return errors.Join(err, lock.Close())
	}
	return c.run(ctx)
}

// copying copies a store's directory, which does not change during the copy.
type copying struct {
	fs          vfs.FS
	read, write vfs.FS      // of data
	recrypt     *recryption // nil: data is copied as it is
	from, to    string
	link        bool // if possible
	progress    func(done, total int64)
	// health is checked while files are copied: a copy must not use up the space that its store needs. It may be nil.
	health func() error
	// release unlocks what is copied, after which an error means that it changed during the copy. It may be nil.
	release func() error

	done, total int64
	checked     bool // that there is space for the rest
}

// checkTarget rejects a directory that is not empty.
func (c *copying) checkTarget() error {
	if c.to == "" {
		return errors.New("the directory's name is empty")
	}
	names, err := c.fs.List(c.to)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", c.to, err)
	}
	for _, name := range names {
		if name != lostFound {
			return fmt.Errorf("%s contains files (%s): a copy needs an empty directory", c.to, name)
		}
	}
	return nil
}

// run copies everything, or leaves nothing.
func (c *copying) run(ctx context.Context) error {
	_, err := c.fs.Stat(c.to)
	existed := err == nil
	err = c.copyAll(ctx)
	if c.release != nil {
		err = errors.Join(err, c.release())
	}
	if err != nil {
		return fmt.Errorf("copying to %s: %w", c.to, errors.Join(err, c.undo(existed)))
	}
	// The copy is complete even if the marker cannot be removed.
	_ = c.fs.Remove(c.fs.PathJoin(c.to, incompleteFile))
	return nil
}

func (c *copying) copyAll(ctx context.Context) error {
	if err := makeDirectory(c.fs, c.to); err != nil {
		return err
	}
	if err := writeWhole(c.fs, c.to, incompleteFile, "a copy of a store is in progress here\n"); err != nil {
		return err
	}
	encrypted, err := c.copyKeys()
	if err != nil {
		return err
	}
	dirs := []string{pebbleDir}
	kept, err := c.fs.List(c.fs.PathJoin(c.from, keptDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, name := range kept {
		dirs = append(dirs, c.fs.PathJoin(keptDir, name))
	}
	files := make([][]file, len(dirs))
	for i, dir := range dirs {
		if files[i], err = listFiles(c.read, c.fs.PathJoin(c.from, dir)); err != nil {
			return err
		}
		for _, f := range files[i] {
			c.total += f.size
		}
	}
	c.report(0)
	for i, dir := range dirs {
		if err := c.copyDirectory(ctx, dir, files[i]); err != nil {
			return err
		}
	}
	return writeFormat(c.fs, c.to, encrypted)
}

// recryption is the encryption of a copy, if it differs from the original's.
type recryption struct {
	master  []byte
	encrypt bool
}

// copyKeys creates the copy's key file, if it has one, and reports whether it has.
func (c *copying) copyKeys() (bool, error) {
	switch {
	case c.recrypt == nil:
		return copyKeyFile(c.fs, c.from, c.to)
	case !c.recrypt.encrypt:
		return false, nil
	}
	keys, err := newKeyFile(c.fs, c.to, c.recrypt.master)
	if err == nil {
		c.write = cryptfs.New(c.fs, keys)
	}
	return true, err
}

func (c *copying) copyDirectory(ctx context.Context, dir string, files []file) error {
	to := c.fs.PathJoin(c.to, dir)
	if err := makeDirectory(c.fs, to); err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		old, fresh := c.fs.PathJoin(c.from, dir, f.name), c.fs.PathJoin(to, f.name)
		if c.link && c.fs.Link(old, fresh) == nil {
			c.report(f.size)
			continue
		}
		if err := c.copyFile(ctx, old, fresh); err != nil {
			return err
		}
	}
	return syncDirectory(c.fs, to)
}

// checkRoom rejects a copy that does not fit on the disk, before it fills the disk. Linked files take no space.
func (c *copying) checkRoom() error {
	if c.checked {
		return nil
	}
	c.checked = true
	usage, err := c.fs.GetDiskUsage(c.to)
	if err != nil {
		return nil //nolint:nilerr // not every file system tells, and where there is no room a write will
	}
	if left := c.total - c.done; left > bytesOf(usage.AvailBytes) {
		return fmt.Errorf("the copy needs %.2f MiB, but the disk has only %.2f MiB: free some space, or choose another disk",
			float64(left)/(1<<20), float64(usage.AvailBytes)/(1<<20))
	}
	return nil
}

func (c *copying) copyFile(ctx context.Context, from, to string) (err error) {
	if err := c.checkRoom(); err != nil {
		return err
	}
	src, err := c.read.Open(from, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := c.write.Create(to, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	dst = syncGradually(dst)
	defer func() { err = errors.Join(err, dst.Close()) }()
	for {
		n, err := io.CopyN(dst, src, copyChunk)
		c.report(n)
		if errors.Is(err, io.EOF) {
			return dst.Sync()
		}
		if c.health != nil {
			err = errors.Join(err, c.health())
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
}

func (c *copying) report(more int64) {
	c.done += more
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
}

// undo removes what was copied, in such an order that Open rejects the rest until the end.
func (c *copying) undo(existed bool) error {
	var errs []error
	for _, name := range []string{
		formatFile, formatFile + newSuffix, pebbleDir, keptDir, keysFile, keysFile + newSuffix, incompleteFile + newSuffix, incompleteFile,
	} {
		errs = append(errs, c.fs.RemoveAll(c.fs.PathJoin(c.to, name)))
	}
	if !existed {
		errs = append(errs, c.fs.RemoveAll(c.to))
	}
	return errors.Join(errs...)
}

// inside reports whether path is dir or below it, judging by the names.
func inside(fs vfs.FS, path, dir string) bool {
	dir = fs.PathJoin(dir)
	for path = fs.PathJoin(path); path != dir; path = fs.PathDir(path) {
		if fs.PathDir(path) == path || fs.PathBase(path) == ".." {
			return false
		}
	}
	return true
}
