package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/monotable/monotable/systems/internal/bucket"
)

const key = "uploads/01HM69BJT0GQXYEAV0CGM90155"

// stores runs a test with a directory and with S3, each with the base of its upload addresses.
func stores(t *testing.T, test func(t *testing.T, s bucket.Store, base string)) {
	t.Helper()
	t.Run("dir", func(t *testing.T) {
		s, shut, err := bucket.Open(t.Context(), bucket.Options{Secret: []byte("secret"), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(http.StripPrefix("/system", s.(http.Handler))) //nolint:forcetypeassert // a directory serves its uploads
		t.Cleanup(func() {
			server.Close()
			if err := shut(); err != nil {
				t.Error(err)
			}
		})
		test(t, s, server.URL+"/system/")
	})
	t.Run("s3", func(t *testing.T) {
		server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
		t.Cleanup(server.Close)
		for name, value := range map[string]string{
			"AWS_ENDPOINT_URL_S3": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
		} {
			t.Setenv(name, value)
		}
		if status := put(t, server.URL+"/pictures", nil, nil); status != http.StatusOK {
			t.Fatal(status)
		}
		s, _, err := bucket.Open(t.Context(), bucket.Options{Place: "s3://pictures"})
		if err != nil {
			t.Fatal(err)
		}
		if s.Origin() != server.URL {
			t.Errorf("uploads go to %s, not to %s", s.Origin(), server.URL)
		}
		test(t, s, "")
	})
}

func put(t *testing.T, at string, header map[string]string, data []byte) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, at, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TestStore: a file is uploaded, read, copied and deleted, in a directory just as in S3.
func TestStore(t *testing.T) {
	stores(t, func(t *testing.T, s bucket.Store, base string) {
		t.Helper()
		ctx, data := t.Context(), []byte("some bytes")
		if _, err := s.Get(ctx, key, 100); !errors.Is(err, bucket.ErrMissing) {
			t.Errorf("before the upload: %v", err)
		}
		up, err := s.Upload(ctx, key, int64(len(data)), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if status := put(t, base+up.URL, up.Header, data); status != http.StatusOK || up.Method != http.MethodPut {
			t.Fatalf("%s %s: %d", up.Method, up.URL, status)
		}
		if got, err := s.Get(ctx, key, 10); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := s.Get(ctx, key, 9); !errors.Is(err, bucket.ErrTooLarge) {
			t.Errorf("a file of ten bytes, with nine allowed: %v", err)
		}
		for range 2 {
			if err := s.Put(ctx, "images/1", "image/png", []byte("other")); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Get(ctx, "images/1", 100); err != nil || string(got) != "other" {
			t.Errorf("%q, %v", got, err)
		}
		for range 2 {
			if err := s.Delete(ctx, key); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Get(ctx, key, 100); !errors.Is(err, bucket.ErrMissing) {
			t.Errorf("after it was deleted: %v", err)
		}
		for _, bad := range []string{"", "uploads/", "uploads/../x", "/uploads/x", "uploads/a/b", "uploads/a b", "../../etc/passwd"} {
			if _, err := s.Get(ctx, bad, 1); err == nil || errors.Is(err, bucket.ErrMissing) {
				t.Errorf("the key %q: %v", bad, err)
			}
		}
	})
}

// TestSigned: a directory only accepts uploads of the signed size within the signed time.
func TestSigned(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	dir := t.TempDir()
	s, shut, err := bucket.Open(t.Context(), bucket.Options{Dir: dir, Secret: []byte("secret"), Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shut(); err != nil {
			t.Error(err)
		}
	}()
	up, err := s.Upload(t.Context(), key, 3, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	try := func(address, body string, length int64) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/"+address, strings.NewReader(body))
		r.ContentLength = length
		w := httptest.NewRecorder()
		s.(http.Handler).ServeHTTP(w, r) //nolint:forcetypeassert // a directory serves its uploads
		return w.Code
	}
	for name, c := range map[string]struct {
		address, body string
		length        int64
		want          int
	}{
		"as signed":          {up.URL, "abc", 3, http.StatusOK},
		"of unknown length":  {up.URL, "abc", -1, http.StatusOK},
		"too long":           {up.URL, "abcd", 4, http.StatusBadRequest},
		"too long, in truth": {up.URL, "abcd", -1, http.StatusBadRequest},
		"too short":          {up.URL, "ab", -1, http.StatusBadRequest},
		"another size":       {strings.Replace(up.URL, "size=3", "size=4", 1), "abcd", 4, http.StatusForbidden},
		"another key":        {strings.Replace(up.URL, "90155", "90156", 1), "abc", 3, http.StatusForbidden},
		"no signature":       {key, "abc", 3, http.StatusForbidden},
	} {
		if got := try(c.address, c.body, c.length); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	now = now.Add(2 * time.Minute)
	if got := try(up.URL, "abc", 3); got != http.StatusForbidden {
		t.Errorf("after its time: %d", got)
	}
	tidy(t, s, filepath.Join(dir, "files", key))
}

// tidy checks that uploads before a time are deleted and later ones stay.
func tidy(t *testing.T, s bucket.Store, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before time.Time
		stays  bool
	}{{info.ModTime().Add(-time.Second), true}, {info.ModTime(), false}} {
		if err := s.Tidy(context.WithoutCancel(t.Context()), "uploads", c.before); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); (err == nil) != c.stays {
			t.Errorf("what was uploaded before %v is missing: %v", c.before, err)
		}
	}
	if err := s.Tidy(t.Context(), "none", info.ModTime()); err != nil {
		t.Error(err)
	}
}
