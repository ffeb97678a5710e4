package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// TestETag: a single item has a tag derived from its bytes. A caller who already has it gets 304 without a body, in any encoding.
// Lists, problems and uncacheable responses have no tag.
func TestETag(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a, ok := s.Config.Handler.(*api.API)
	if !ok {
		t.Fatal("the server serves another thing")
	}
	thing := struct {
		Text string `json:"text"`
	}{strings.Repeat("a", 3000)} // compressed if the caller accepts it
	get := func(context.Context, auth.Principal, api.None) (struct {
		Text string `json:"text"`
	}, error,
	) {
		return thing, nil
	}
	type shown struct {
		Text string `json:"text"`
	}
	routes := api.Tag(a, "Things")
	api.Get[shown](routes, "/thing", "thing", "A thing", get, api.Public)
	api.Get[shown](routes, "/cached", "cached", "A thing", get, api.Public, api.Cache("private, max-age=1"))
	api.Get[shown](routes, "/secret", "secret", "A thing", get, api.Public, api.Cache("no-store"))
	call := func(path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/pay"+path, http.NoBody)
		for n := 0; n < len(headers); n += 2 {
			r.Header.Set(headers[n], headers[n+1])
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	first := call("/thing")
	tag := first.Header().Get("ETag")
	if first.Code != http.StatusOK || len(tag) < 20 || tag[0] != '"' || first.Header().Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%d, ETag %s, Cache-Control %s", first.Code, tag, first.Header().Get("Cache-Control"))
	}
	zipped := call("/thing", "Accept-Encoding", "gzip")
	if other := zipped.Header().Get("ETag"); other == tag || zipped.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("other bytes (%s) have the tag %s", zipped.Header().Get("Content-Encoding"), other)
	}
	for _, known := range []string{tag, "W/" + tag, `"x", ` + tag, zipped.Header().Get("ETag"), "*"} {
		w := call("/thing", "If-None-Match", known)
		if w.Code != http.StatusNotModified || w.Body.Len() != 0 || w.Header().Get("ETag") != tag {
			t.Errorf("If-None-Match %s: %d, %d bytes, ETag %s", known, w.Code, w.Body.Len(), w.Header().Get("ETag"))
		}
	}
	for _, known := range []string{"", `"x"`, `""`, strings.ToUpper(tag), ","} {
		if w := call("/thing", "If-None-Match", known); w.Code != http.StatusOK || w.Body.String() != first.Body.String() {
			t.Errorf("If-None-Match %s: %d", known, w.Code)
		}
	}
	if w := call("/cached", "If-None-Match", tag); w.Code != http.StatusNotModified || w.Header().Get("Cache-Control") != "private, max-age=1" {
		t.Errorf("a route with a Cache-Control of its own: %d %s", w.Code, w.Header().Get("Cache-Control"))
	}
	thing.Text += "b"
	if w := call("/thing", "If-None-Match", tag); w.Code != http.StatusOK || w.Header().Get("ETag") == tag {
		t.Errorf("a changed resource: %d, ETag %s", w.Code, w.Header().Get("ETag"))
	}
	for _, path := range []string{"/secret", "/list", "/nothing"} {
		if w := call(path, "If-None-Match", "*", "Authorization", s.token(t)); w.Code == http.StatusNotModified || w.Header().Get("ETag") != "" {
			t.Errorf("%s: %d, ETag %s", path, w.Code, w.Header().Get("ETag"))
		}
	}
	var d struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Headers map[string]any }
		}
	}
	if err := json.Unmarshal(call("/openapi.json").Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	said := d.Paths["/thing"]["get"].Responses
	if _, ok := said["304"]; !ok || said["200"].Headers["ETag"] == nil {
		t.Errorf("the document says %v", said)
	}
	if _, ok := d.Paths["/secret"]["get"].Responses["304"]; ok {
		t.Error("the document has a 304 without a tag")
	}
}

// edited is a response for an item that callers read before they change it.
type edited struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
	Seen int       `json:"seen"`
}

func (e edited) Version() time.Time { return e.At }

type change struct {
	api.Seen
	Body struct {
		Text string `json:"text"`
	}
}

// TestIfMatch: a change succeeds with the current version, whatever else changed in the bytes, and without If-Match. A tag
// without a version changes nothing.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a, ok := s.Config.Handler.(*api.API)
	if !ok {
		t.Fatal("the server serves another thing")
	}
	thing := edited{Text: "a", At: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)}
	routes := api.Tag(a, "Things").With(api.Public)
	api.Get[edited](routes, "/edited", "edited", "A thing", func(context.Context, auth.Principal, api.None) (edited, error) { return thing, nil })
	api.Put[edited](routes, "/edited", "edit", "Change a thing", func(_ context.Context, _ auth.Principal, in change) (edited, error) {
		if !in.Has(thing.At) {
			return edited{}, problem.Changed()
		}
		thing.Text, thing.At = in.Body.Text, thing.At.Add(time.Millisecond)
		return thing, nil
	})
	put := func(match string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/pay/edited", strings.NewReader(`{"text":"b"}`))
		r.Header.Set("Content-Type", "application/json")
		if match != "" {
			r.Header.Set("If-Match", match)
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	tag := func() string {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/pay/edited", http.NoBody))
		return w.Header().Get("ETag")
	}
	first := tag()
	thing.Seen++ // not an edit
	if tag() == first {
		t.Error("other bytes have the same tag")
	}
	if w := put(first); w.Code != http.StatusOK || w.Header().Get("ETag") != tag() {
		t.Errorf("a client with the current version: %d, ETag %s, want %s", w.Code, w.Header().Get("ETag"), tag())
	}
	for _, match := range []string{first, `""`, `"x"`, `"zzzzzzzzzzzzzzzz.x"`, `"-1.x"`, "W/" + tag()} {
		if w := put(match); w.Code != http.StatusPreconditionFailed || !strings.Contains(w.Body.String(), problem.CodeChanged) {
			t.Errorf("If-Match %s: %d %s", match, w.Code, w.Body)
		}
	}
	for _, suffix := range []string{"", "-gzip"} { // a compressed response has a different tag for the same version
		if w := put(strings.TrimSuffix(tag(), `"`) + suffix + `"`); w.Code != http.StatusOK {
			t.Errorf("with %q: %d %s", suffix, w.Code, w.Body)
		}
	}
	for _, match := range []string{"", "*"} {
		if w := put(match); w.Code != http.StatusOK {
			t.Errorf("If-Match %s: %d %s", match, w.Code, w.Body)
		}
	}
}
