package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// document is the part of OpenAPI 3.1 that the tests read.
type document struct {
	OpenAPI string `json:"openapi"`
	Info    struct{ Title, Version string }
	Servers []struct{ URL string }
	Paths   map[string]map[string]struct {
		Security  []map[string][]string
		Responses map[string]struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				}
			}
		}
	}
	Components struct {
		SecuritySchemes map[string]struct{ Type, Scheme string }
		Schemas         map[string]struct{ Required []string }
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	answer := s.do(t, "GET", "/pay/openapi.json", "")
	var d document
	if err := json.Unmarshal([]byte(answer.Body), &d); err != nil || answer.Status != 200 {
		t.Fatalf("%d, %v", answer.Status, err)
	}
	if d.OpenAPI != "3.1.0" || d.Info.Title != "Pay" || d.Info.Version != "3.1.4" || len(d.Servers) != 1 || d.Servers[0].URL != "/pay" {
		t.Errorf("openapi %s, info %v, servers %v", d.OpenAPI, d.Info, d.Servers)
	}
	if scheme := d.Components.SecuritySchemes["bearer"]; scheme.Type != "http" || scheme.Scheme != "bearer" {
		t.Errorf("security schemes %v", d.Components.SecuritySchemes)
	}
	for path, want := range map[string][]string{
		"/echo post":  {"200", "400", "401", "408", "409", "413", "415", "422", "429", "500", "503", "504"}, // it takes a key
		"/who get":    {"200", "401", "429", "500", "503", "504"},
		"/admin get":  {"200", "401", "403", "429", "500", "503", "504"},
		"/open get":   {"200", "401", "429", "500", "503", "504"},
		"/list get":   {"200", "400", "401", "429", "500", "503", "504"},
		"/health get": {"200", "429", "500", "503", "504"},
	} {
		at, method, _ := strings.Cut(path, " ")
		operation, ok := d.Paths[at][method]
		if !ok {
			t.Errorf("%s is not there", path)
			continue
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(operation.Responses))); diff != "" {
			t.Errorf("%s: answers %s", path, diff)
		}
		if secured := len(operation.Security) > 0; secured != slices.Contains(want, "401") {
			t.Errorf("%s: security %v", path, operation.Security)
		}
		if ref := operation.Responses["500"].Content["application/problem+json"].Schema.Ref; ref != "#/components/schemas/Problem" {
			t.Errorf("%s: a 500 is %q", path, ref)
		}
	}
	if diff := cmp.Diff([]string{"code", "status", "title", "type"}, slices.Sorted(slices.Values(d.Components.Schemas["Problem"].Required))); diff != "" {
		t.Errorf("required of a problem: %s", diff)
	}
}

// TestPage: the page and all that it loads comes from here.
func TestPage(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for path, kind := range map[string]string{
		"/pay/docs": "text/html; charset=utf-8", "/pay/docs/page.js": "text/javascript; charset=utf-8", "/pay/docs/page.css": "text/css; charset=utf-8",
	} {
		answer := s.do(t, "GET", path, "")
		if answer.Status != 200 || answer.Header.Get("Content-Type") != kind {
			t.Errorf("%s: %d, %s, want %s", path, answer.Status, answer.Header.Get("Content-Type"), kind)
		}
		if strings.Contains(answer.Body, "://") || strings.Contains(answer.Body, "innerHTML") {
			t.Errorf("%s names another host, or sets HTML", path)
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
	answer := s.do(t, "GET", "/pay/", "")
	if answer.Status != 302 || answer.Header.Get("Location") != "/pay/docs" {
		t.Errorf("/pay/: %d to %q, want the page", answer.Status, answer.Header.Get("Location"))
	}
}
