package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/bucket/buckettest"
	"github.com/monotable/monotable/internal/database/bucket/folder"
)

func open(t *testing.T, dir string) *folder.Store {
	t.Helper()
	s, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSuite(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) bucket.Store {
		t.Helper()
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, buckettest.Bucket), 0o755); err != nil {
			t.Fatal(err)
		}
		return open(t, dir)
	})
}

// TestNothingLeavesTheDirectory tries names and links that lead out of the directory.
func TestNothingLeavesTheDirectory(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outside, "s3")
	for _, created := range []string{"in-bucket", "linked"} {
		if err := os.MkdirAll(filepath.Join(dir, created), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"out-bucket", "in-bucket/out", "linked/up"} {
		if err := os.Symlink(outside, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	for _, c := range []struct{ bucket, key string }{
		{"in-bucket", "../secret"},
		{"in-bucket", "a/../../../secret"},
		{"in-bucket", "/etc/passwd"},
		{"in-bucket", "a//b"},
		{"in-bucket", "a/./b"},
		{"in-bucket", `..\secret`},
		{"in-bucket", "out/secret"},
		{"linked", "up/secret"},
		{"out-bucket", "secret"},
		{"..", "secret"},
	} {
		b := bucket.Bucket{Name: c.bucket}
		if r, err := s.Open(t.Context(), b, c.key); err == nil {
			r.Close()
			t.Errorf("%s/%s was opened", c.bucket, c.key)
		}
		w, err := s.Create(t.Context(), b, c.key, bucket.Encryption{})
		if err == nil {
			_, err = w.Commit()
		}
		if err == nil {
			t.Errorf("%s/%s was written", c.bucket, c.key)
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "s" {
		t.Errorf("the file outside is %q (%v)", data, err)
	}
}

func TestOpenRemovesCrashLeftovers(t *testing.T) {
	dir := t.TempDir()
	w, err := open(t, dir).Create(t.Context(), bucket.Bucket{Name: "bucket"}, "key", bucket.Encryption{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	open(t, dir)
	if _, err := os.Stat(filepath.Join(dir, ".uploads")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the upload still exists: %v", err)
	}
}

// TestDenied: a directory without the permission to write denies access, which is not an error that may go away.
func TestDenied(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is denied to root")
	}
	dir := t.TempDir()
	s := open(t, dir)
	if err := os.Chmod(dir, 0o500); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), bucket.Bucket{Name: "bucket"}, "key", bucket.Encryption{}); !errors.Is(err, bucket.ErrDenied) {
		t.Errorf("created: %v", err)
	}
}
