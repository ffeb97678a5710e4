package pebblekv_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

func TestOpenCreatesPrivateDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir, pebblekv.Options{})
	set(t, s, "k", "v")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestOpenUpgradesNothing: a new store is created in the format that it is used in, with one mark of the version.
func TestOpenUpgradesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, pebblekv.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "pebble", "marker.format-version.000001."+pebble.FormatTableFormatV6.String())
	if _, err := os.Stat(want); err != nil {
		t.Error(err)
	}
}

func TestOpenWithoutDirectory(t *testing.T) {
	if _, err := tryOpen("", pebblekv.Options{}); err == nil {
		t.Error("opened a store without a directory")
	}
}

func TestOpenRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"data", "./deep/data/", "."} {
		for range 2 {
			s := open(t, dir, pebblekv.Options{})
			set(t, s, "k", "v")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if dir == "data" {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		if dir == "./deep/data/" {
			if err := os.RemoveAll("deep"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestOpenLocked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, pebblekv.Options{})
	_, err := tryOpen(dir, pebblekv.Options{})
	if !errors.Is(err, kv.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the second of two stores in %s: %v", dir, err)
	}
	set(t, s, "k", "the first one is not disturbed")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, pebblekv.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOpenRejects: a directory that cannot be opened is rejected with a reason, and left unchanged.
func TestOpenRejects(t *testing.T) {
	store := func(t *testing.T, dir string) {
		t.Helper()
		s := open(t, dir, pebblekv.Options{})
		set(t, s, "k", "v")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(t *testing.T, name string) {
		t.Helper()
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	otherProgram := "merger name"
	if *encrypted {
		otherProgram = "not encrypted"
	}
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		want string
	}{
		{"a newer format", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			write(t, filepath.Join(dir, "FORMAT"), "monotable store format 2\n")
		}, `has layout "2", but this program supports layout 1`},
		{"a damaged format", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			write(t, filepath.Join(dir, "FORMAT"), "\x00\x00\x00")
		}, "is corrupt or belongs to another program"},
		{"an empty format", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			write(t, filepath.Join(dir, "FORMAT"), "")
		}, "is corrupt or belongs to another program"},
		{"a store without its format", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			remove(t, filepath.Join(dir, "FORMAT"))
		}, "contains data, but no file FORMAT"},
		{"a store with backups without its format", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			remove(t, filepath.Join(dir, "FORMAT"))
			if err := os.Mkdir(filepath.Join(dir, "kept"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "contains data, but no file FORMAT"},
		{"a store that was served, without its format", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			remove(t, filepath.Join(dir, "FORMAT"))
			write(t, filepath.Join(dir, "control.sock"), "")
		}, "contains data, but no file FORMAT"},
		{"a store without its data", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			remove(t, filepath.Join(dir, "pebble"))
		}, "its data is missing"},
		{"other files", func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, "letter.txt"), "dear")
		}, "contains other files (letter.txt)"},
		{"another program's database", func(t *testing.T, dir string) {
			t.Helper()
			db, err := pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{Logger: quiet{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Set([]byte("k"), []byte("v"), pebble.Sync), db.Close()); err != nil {
				t.Fatal(err)
			}
		}, otherProgram},
		{"an old Pebble's database", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Mkdir(filepath.Join(dir, "pebble"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "pebble", "CURRENT"), "MANIFEST-000001\n")
		}, "no longer supported"},
		{"a newer Pebble", func(t *testing.T, dir string) {
			t.Helper()
			store(t, dir)
			old, err := filepath.Glob(filepath.Join(dir, "pebble", "marker.format-version.*"))
			if err != nil || len(old) != 1 {
				t.Fatal(old, err)
			}
			if err := os.Rename(old[0], filepath.Join(dir, "pebble", "marker.format-version.000099.999")); err != nil {
				t.Fatal(err)
			}
		}, "unknown format major version"},
		{"a file", func(t *testing.T, dir string) {
			t.Helper()
			remove(t, dir)
			write(t, dir, "text")
		}, "not a directory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "db")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			test.make(t, dir)
			before := listing(t, dir)
			_, err := tryOpen(dir, pebblekv.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			after := listing(t, dir)
			for name := range before {
				if !after[name] {
					t.Errorf("%s was removed", name)
				}
			}
		})
	}
}

func listing(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names[path] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// quiet is a Pebble logger that discards everything.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) { panic("fatal") }
