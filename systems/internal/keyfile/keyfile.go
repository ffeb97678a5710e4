// Package keyfile stores keys in files that only their owner can read.
//
// A file is either complete or absent, whenever the process or machine stops. If several processes create the same file
// concurrently, all of them get the content written by one of them. Errors are those of the file system.
package keyfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Make creates a file and its directory, and returns the file's final content: text, or what a concurrent process has written
// first.
func Make(path string, text []byte) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	created, err := written(path, text)
	if err != nil {
		return nil, err
	}
	err = os.Link(created, path) // unlike a rename, it does not replace
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err = errors.Join(err, os.Remove(created)); err != nil {
		return nil, err
	}
	return os.ReadFile(path) //nolint:gosec // the path is the operator's
}

// Replace replaces a file's content.
func Replace(path string, text []byte) error {
	created, err := written(path, text)
	if err != nil {
		return err
	}
	if err := os.Rename(created, path); err != nil {
		return errors.Join(err, os.Remove(created))
	}
	return nil
}

// written writes a synced temporary file beside path.
func written(path string, text []byte) (name string, err error) {
	created, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = created.Write(text)
	if err = errors.Join(err, created.Sync(), created.Close()); err != nil {
		return "", errors.Join(err, os.Remove(created.Name()))
	}
	return created.Name(), nil
}
