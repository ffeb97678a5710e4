package format_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// pack writes a directory as a compressed archive.
func pack(t *testing.T, dir, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	compressed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(compressed)
	err = archive.AddFS(os.DirFS(dir))
	if err := errors.Join(err, archive.Close(), compressed.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// unpack makes dir what an archive holds.
func unpack(t *testing.T, name, dir string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compressed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(compressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o750)
		} else {
			err = extract(archive, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func extract(archive io.Reader, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, archive) //nolint:gosec // an archive of ours
	return errors.Join(err, f.Close())
}
