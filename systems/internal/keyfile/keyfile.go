// Package keyfile keeps keys in files that only their owner may read.
//
// A file is there whole or not at all, whenever the process or the machine stops; and of several processes that make the
// same file at once all get what one of them has made. Errors are the file system's.
package keyfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Make makes a file, and its directory, and returns what stands in it in the end: text, or what another process has been
// faster with.
func Make(path string, text []byte) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	made, err := written(path, text)
	if err != nil {
		return nil, err
	}
	err = os.Link(made, path) // unlike a rename it does not replace
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err = errors.Join(err, os.Remove(made)); err != nil {
		return nil, err
	}
	return os.ReadFile(path) //nolint:gosec // the path is the operator's
}

// Replace puts a text in the place of a file's.
func Replace(path string, text []byte) error {
	made, err := written(path, text)
	if err != nil {
		return err
	}
	if err := os.Rename(made, path); err != nil {
		return errors.Join(err, os.Remove(made))
	}
	return nil
}

// written writes a text to a file beside path, down to the disk.
func written(path string, text []byte) (name string, err error) {
	made, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = made.Write(text)
	if err = errors.Join(err, made.Sync(), made.Close()); err != nil {
		return "", errors.Join(err, os.Remove(made.Name()))
	}
	return made.Name(), nil
}
