package keyfile

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestMake: concurrent creators of one file all get the same content, and no temporary files remain.
func TestMake(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "services", "key")
	got := make([]string, 16)
	var group sync.WaitGroup
	for n := range got {
		group.Go(func() {
			text, err := Make(path, fmt.Appendf(nil, "key of %d", n))
			if err != nil {
				t.Error(err)
			}
			got[n] = string(text)
		})
	}
	group.Wait()
	for n, text := range got {
		if text == "" || text != got[0] {
			t.Errorf("process %d has %q, another %q", n, text, got[0])
		}
	}
	alone(t, path, got[0])
}

func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"a long first text", "second"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		alone(t, path, text)
	}
	if err := Replace(filepath.Join(path, "under a file"), nil); err == nil {
		t.Error("a file under a file")
	}
	if _, err := Make(filepath.Join(path, "under", "a file"), nil); err == nil {
		t.Error("a file under a file")
	}
	alone(t, path, "second")
}

// alone checks that a directory has one file with a given content, readable only by its owner.
func alone(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%q, %v, want %q", got, err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v, %v, want one file", files, err)
	}
}
