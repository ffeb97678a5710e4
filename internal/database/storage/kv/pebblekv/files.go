package pebblekv

import (
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// file is a file in a directory.
type file struct {
	name string
	size int64
}

// listFiles lists the files of a directory, without lock files and directories.
func listFiles(fs vfs.FS, dir string) ([]file, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	files := make([]file, 0, len(names))
	for _, name := range names {
		info, err := fs.Stat(fs.PathJoin(dir, name))
		if err != nil {
			return nil, err
		}
		if name != lockFile && !info.IsDir() {
			files = append(files, file{name, info.Size()})
		}
	}
	return files, nil
}

// syncGradually syncs a new file gradually while it is written, so that the final sync does not delay those of the log.
func syncGradually(f vfs.File) vfs.File {
	return vfs.NewSyncingFile(f, vfs.SyncingFileOptions{BytesPerSync: 1 << 20})
}

// makingPath returns a new name in DIR/making.
func (s *Store) makingPath(what string) string {
	return s.fs.PathJoin(s.dir, makingDir, fmt.Sprintf("%s-%d", what, s.created.Add(1)))
}

// discard removes what exists under a name of makingPath. The next Open removes what it cannot.
func (s *Store) discard(path string) {
	if err := s.fs.RemoveAll(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.log.Error("store: removing temporary files", "path", path, "error", err)
	}
}
