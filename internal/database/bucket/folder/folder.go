// Package folder stores buckets as directories in one directory, and objects as files: the parts of a key between slashes are the
// names of directories and of the file.
//
//	DIR/BUCKET/a/b.json    the object a/b.json
//	DIR/.uploads/N         an object being written; removed by the next Open after a crash
//
// Whatever name a client gives a bucket or a key, nothing outside DIR is touched: all paths go through os.Root, which follows no
// symbolic link out of DIR, and keys that are not relative paths (a//b, ../b) are rejected.
//
// There is no operation to create a bucket, so Create creates the directory if it is missing.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/monotable/monotable/internal/database/bucket"
)

const (
	uploads   = ".uploads" // not a valid bucket name
	dirMode   = 0o755
	fileFlags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	fileMode  = 0o644
)

// Store is a directory of buckets. The directory is created when the first object is written.
type Store struct {
	dir  string
	last atomic.Int64 // number of the last upload
}

// Open returns the buckets in a directory, which need not exist yet. Only one Store may use a directory at a time.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bucket: %w", err)
	}
	defer root.Close()
	if err := root.RemoveAll(uploads); err != nil {
		return nil, fmt.Errorf("bucket: remove incomplete uploads: %w", err)
	}
	return s, nil
}

// Create implements bucket.Store.
func (s *Store) Create(_ context.Context, b bucket.Bucket, key string, _ bucket.Encryption) (bucket.Writer, error) {
	if err := check(b, key); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		return nil, writeError(err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, writeError(err)
	}
	w := &writer{root: root, name: path.Join(uploads, strconv.FormatInt(s.last.Add(1), 10)), target: path.Join(b.Name, key)}
	if err := root.MkdirAll(uploads, dirMode); err != nil {
		return nil, errors.Join(writeError(err), root.Close())
	}
	if w.file, err = root.OpenFile(w.name, fileFlags, fileMode); err != nil {
		return nil, errors.Join(writeError(err), root.Close())
	}
	w.Put = func(_ int, part []byte) error {
		_, err := w.file.Write(part)
		return err
	}
	return w, nil
}

// check rejects names that are not paths below the directory.
func check(b bucket.Bucket, key string) error {
	if err := bucket.CheckName(b.Name); err != nil {
		return err
	}
	if err := bucket.CheckKey(key); err != nil {
		return err
	}
	if !fs.ValidPath(key) || strings.ContainsAny(key, "\x00\\") {
		return fmt.Errorf("%w: key %q is not a valid file path", bucket.ErrName, key)
	}
	return nil
}

// writer is a file that is renamed to its final name when it is complete.
type writer struct {
	bucket.Parts
	root         *os.Root
	file         *os.File
	name, target string
	ended        bool
}

// Commit implements bucket.Writer.
func (w *writer) Commit() (string, error) {
	defer w.Abort()
	etag, err := w.Flush()
	if err != nil {
		return "", writeError(err)
	}
	if err := w.file.Sync(); err != nil {
		return "", writeError(err)
	}
	parent := path.Dir(w.target)
	if err := w.root.MkdirAll(parent, dirMode); err != nil {
		return "", writeError(err)
	}
	if err := w.root.Rename(w.name, w.target); err != nil {
		return "", writeError(err)
	}
	return etag, w.syncDirectory(parent)
}

// syncDirectory makes the directory entries of the file and of its parent directories durable.
func (w *writer) syncDirectory(dir string) error {
	for ; ; dir = path.Dir(dir) {
		f, err := w.root.Open(dir)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			return fmt.Errorf("bucket: %w", err)
		}
		if dir == "." {
			return nil
		}
	}
}

// Abort implements bucket.Writer.
func (w *writer) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	_ = w.file.Close()
	_ = w.root.Remove(w.name) // it no longer exists after a commit
	_ = w.root.Close()
}

// Open implements bucket.Store.
func (s *Store) Open(_ context.Context, b bucket.Bucket, key string) (io.ReadCloser, error) {
	if err := check(b, key); err != nil {
		return nil, err
	}
	root, err := s.bucket(b)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(key)
	if err != nil {
		return nil, readError(err, bucket.ErrNoKey)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(bucket.ErrNoKey, err, f.Close())
	}
	return f, nil
}

// bucket opens the directory of a bucket.
func (s *Store) bucket(b bucket.Bucket) (*os.Root, error) {
	if err := bucket.CheckName(b.Name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, readError(err, bucket.ErrNoBucket)
	}
	defer root.Close()
	inside, err := root.OpenRoot(b.Name)
	if err != nil {
		return nil, readError(err, bucket.ErrNoBucket)
	}
	return inside, nil
}

// readError converts the error of opening a file.
func readError(err, missing error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%w: %w", missing, err)
	}
	return writeError(err)
}

// writeError converts the error of writing a file.
func writeError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", bucket.ErrDenied, err)
	}
	return fmt.Errorf("bucket: %w", err)
}

// List implements bucket.Store.
func (s *Store) List(ctx context.Context, b bucket.Bucket, prefix string, limit int) ([]bucket.Object, error) {
	root, err := s.bucket(b)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var all []bucket.Object
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if inside := name + "/"; name != "." && !strings.HasPrefix(inside, prefix) && !strings.HasPrefix(prefix, inside) {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || !strings.HasPrefix(name, prefix) {
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			all = append(all, bucket.Object{Key: name, Size: info.Size()})
		}
		return err
	})
	if err != nil {
		return nil, readError(err, bucket.ErrNoBucket)
	}
	slices.SortFunc(all, func(a, b bucket.Object) int { return strings.Compare(a.Key, b.Key) })
	return all[:min(limit, len(all))], nil
}
