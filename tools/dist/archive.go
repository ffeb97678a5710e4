package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// writeArchive writes files to a .tar.gz, .tgz, .zip or .whl, below an optional directory. The entries are sorted and have the release's time, root
// as owner, and one of two modes.
func (r *release) writeArchive(file, below string, files map[string]string) (err error) {
	w, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if strings.HasSuffix(file, ".zip") || strings.HasSuffix(file, ".whl") {
		return r.writeZip(w, below, files)
	}
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(below, name), Size: int64(len(data)), Mode: fileMode(name), ModTime: r.time, Format: tar.FormatUSTAR,
		}); err != nil {
			return err
		}
		if _, err := archive.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func (r *release) writeZip(w io.Writer, below string, files map[string]string) error {
	archive := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := os.ReadFile(files[name])
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: path.Join(below, name), Method: zip.Deflate, Modified: r.time}
		header.SetMode(os.FileMode(fileMode(name)))
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// fileMode returns an executable mode for programs.
func fileMode(name string) int64 {
	switch base := path.Base(name); {
	case base == "monotable", base == "bootstrap", strings.HasSuffix(base, ".exe"), strings.Contains(name, "bin/"):
		return 0o755
	default:
		return 0o644
	}
}

// checksums writes the SHA-256 of every file of the release, in the format of sha256sum -c.
func (r *release) checksums() error {
	var lines []string
	err := filepath.WalkDir(r.out, func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file == r.built():
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		sum, err := sha256File(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.out, file)
		lines = append(lines, sum+"  "+filepath.ToSlash(name)+"\n")
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("checksums.txt"), []byte(strings.Join(lines, "")), 0o644)
}

func sha256File(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("checksum: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
