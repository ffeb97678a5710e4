package web_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/demo"
	"github.com/monotable/monotable/web"
)

// installed skips the test where the npm packages are not there.
func installed(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/vite"); errors.Is(err, os.ErrNotExist) {
		t.Skip("the npm packages of web are not installed: make setup")
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// files are all files below a directory.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found[path], err = os.ReadFile(filepath.Join(dir, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// same reports files that differ between what is committed and what was made now.
func same(t *testing.T, committed, built string) {
	t.Helper()
	have, want := files(t, committed), files(t, built)
	for name, text := range want {
		if !bytes.Equal(have[name], text) {
			t.Errorf("%s/%s is not what its sources make: run make web", committed, name)
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("%s/%s is made by no source: run make web", committed, name)
	}
}

// TestBuildMatchesSources: what is committed is what the sources make, the clients by the systems' documents included.
func TestBuildMatchesSources(t *testing.T) {
	t.Parallel()
	installed(t)
	documents, clients, dist := t.TempDir(), t.TempDir(), t.TempDir()
	var stderr bytes.Buffer
	env := demo.Environment{Program: "demo", Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: &stderr}
	if status := demo.Run(t.Context(), []string{"openapi", "--out", documents}, env); status != 0 {
		t.Fatal(stderr.String())
	}
	run(t, "node", "build/clients.mjs", documents, clients)
	same(t, "clients", clients)
	if t.Failed() {
		return // the pages would be built of others
	}
	run(t, "npm", "run", "--silent", "build", "--", "--outDir", dist)
	same(t, "dist", dist)
}

func get(t *testing.T, h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for n := 0; n < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestApp: a page is in the reader's language, and all that its HTML names is there, may be kept, and comes compressed.
func TestApp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"appcore", "catfecito", "portfolio", "transporteapp", "trinity"} {
		h := web.App(name, web.Page{Tokens: "/token"})
		for asked, lang := range map[string]string{"": "en", "es-MX,es;q=0.9,en;q=0.8": "es", "pt": "pt", "pt-PT": "pt", "ja": "en", "de;q=0.9, es;q=0.5": "es", ";;;q=x": "en"} {
			r := get(t, h, "/", "Accept-Language", asked)
			text := r.Body.String()
			if r.Code != http.StatusOK || !strings.Contains(text, `<html lang="`+lang+`"`) {
				t.Errorf("%s for %q: %d, want lang %s:\n%s", name, asked, r.Code, lang, text)
			}
			if strings.Contains(text, "<style") || strings.Contains(text, " style=") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(text) {
				t.Errorf("%s has inline scripts or styles, which its policy does not allow", name)
			}
			if again := get(t, h, "/", "Accept-Language", asked, "If-None-Match", r.Header().Get("ETag")); again.Code != http.StatusNotModified {
				t.Errorf("%s a second time: %d", name, again.Code)
			}
		}
		found := regexp.MustCompile(`(?:href|src)="(assets/[^"]+)"`).FindAllStringSubmatch(get(t, h, "/").Body.String(), -1)
		if len(found) < 3 {
			t.Errorf("%s names %d files, want script, styles and what they need", name, len(found))
		}
		for _, file := range found {
			r := get(t, h, "/"+file[1], "Accept-Encoding", "gzip")
			if r.Code != http.StatusOK || !strings.Contains(r.Header().Get("Cache-Control"), "immutable") || r.Header().Get("Content-Type") == "" {
				t.Errorf("%s %s: %d %v", name, file[1], r.Code, r.Header())
			}
			if r.Body.Len() > 4<<10 && r.Header().Get("Content-Encoding") != "gzip" {
				t.Errorf("%s %s is not compressed", name, file[1])
			}
		}
	}
}

// TestAssetsMatchBuild: nothing but files of the build can be read.
func TestAssetsMatchBuild(t *testing.T) {
	t.Parallel()
	h := web.App("appcore", web.Page{})
	for _, path := range []string{"/assets/", "/assets/nothing.js", "/assets/%2e%2e/manifest.json", "/assets/..%2fmanifest.json", "/manifest.json"} {
		if r := get(t, h, path); r.Code != http.StatusNotFound && r.Code != http.StatusMovedPermanently && r.Code != http.StatusTemporaryRedirect {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
}
