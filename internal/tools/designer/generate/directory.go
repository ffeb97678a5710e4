package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Difference is where a directory differs from a package.
type Difference struct {
	Name string // of the file
	Line int    // of the first difference
	What string
}

// String is the difference as FILE:LINE: what.
func (d *Difference) String() string { return fmt.Sprintf("%s:%d: %s", d.Name, d.Line, d.What) }

// Compare returns the first difference between a directory and a package, nil if there is none. It writes nothing.
func Compare(dir string, files []File) (*Difference, error) {
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		have, err := os.ReadFile(name) //nolint:gosec // the caller names the directory
		if errors.Is(err, fs.ErrNotExist) {
			return &Difference{Name: name, Line: 1, What: "is missing"}, nil
		}
		if err != nil {
			return nil, err
		}
		have = bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n")) // as in some checkouts
		if !bytes.Equal(have, f.Content) {
			n := 0
			for n < min(len(have), len(f.Content)) && have[n] == f.Content[n] {
				n++
			}
			return &Difference{Name: name, Line: 1 + bytes.Count(have[:n], []byte("\n")), What: "differs from the generated code"}, nil
		}
	}
	stale, err := staleFiles(dir, files)
	if err != nil || len(stale) == 0 {
		return nil, err
	}
	return &Difference{Name: stale[0], Line: 1, What: "was generated, but the design no longer needs it"}, nil
}

// Write makes a directory contain a package: it writes the files that differ, and removes files that an earlier generation
// wrote and this one does not. Before it changes anything, it refuses to overwrite files that were not generated.
func Write(dir string, files []File) error {
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		own, err := generated(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && !own {
			return fmt.Errorf("%s is not a generated file and is not overwritten: move it, or generate into another directory", name)
		}
	}
	stale, err := staleFiles(dir, files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // source that others may read
		return err
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // source that others may read
			return err
		}
		have, err := os.ReadFile(name) //nolint:gosec // the caller names the directory
		if err == nil && bytes.Equal(have, f.Content) {
			continue // so that build tools that compare times have nothing to do
		}
		if err := os.WriteFile(name, f.Content, 0o644); err != nil { //nolint:gosec // source that others may read
			return err
		}
	}
	for _, name := range stale {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// staleFiles are the generated files in a directory, and in its subdirectories with files of the package, that do not belong
// to the package. Files of other languages are ignored.
func staleFiles(dir string, files []File) ([]string, error) {
	folders, extension := []string{"."}, ".go"
	for _, f := range files {
		extension = filepath.Ext(f.Name)
		if folder := filepath.Dir(filepath.FromSlash(f.Name)); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	var out []string
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := filepath.Join(folder, e.Name())
			if e.IsDir() || filepath.Ext(name) != extension || slices.ContainsFunc(files, func(f File) bool { return filepath.FromSlash(f.Name) == name }) {
				continue
			}
			own, err := generated(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			if own {
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return out, nil
}

// generated reports whether a file was written by Write.
func generated(name string) (bool, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the caller names the directory
	if err != nil {
		return false, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	_, after, _ := strings.Cut(first, " ") // the comment marker
	return strings.HasPrefix(after, headerStart) && strings.HasSuffix(strings.TrimSuffix(first, "\r"), "; DO NOT EDIT."), nil
}
