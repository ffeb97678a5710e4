package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/systems/internal/api"
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
	response := s.do(t, "GET", "/pay/openapi.json", "")
	var d document
	if err := json.Unmarshal([]byte(response.Body), &d); err != nil || response.Status != 200 {
		t.Fatalf("%d, %v", response.Status, err)
	}
	if d.OpenAPI != "3.1.0" || d.Info.Title != "Pay" || d.Info.Version != "3.1.4" || len(d.Servers) != 1 || d.Servers[0].URL != "/pay" {
		t.Errorf("openapi %s, info %v, servers %v", d.OpenAPI, d.Info, d.Servers)
	}
	if scheme := d.Components.SecuritySchemes["bearer"]; scheme.Type != "http" || scheme.Scheme != "bearer" {
		t.Errorf("security schemes %v", d.Components.SecuritySchemes)
	}
	for path, want := range map[string][]string{
		"/echo post":  {"200", "400", "401", "408", "409", "413", "415", "422", "429", "500", "503", "504"}, // it takes an Idempotency-Key
		"/who get":    {"200", "400", "401", "429", "500", "503", "504"},
		"/admin get":  {"200", "400", "401", "403", "429", "500", "503", "504"},
		"/open get":   {"200", "400", "401", "429", "500", "503", "504"},
		"/list get":   {"200", "400", "401", "429", "500", "503", "504"},
		"/health get": {"200", "400", "429", "500", "503", "504"},
	} {
		at, method, _ := strings.Cut(path, " ")
		operation, ok := d.Paths[at][method]
		if !ok {
			t.Errorf("%s is missing", path)
			continue
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(operation.Responses))); diff != "" {
			t.Errorf("%s: the responses differ: %s", path, diff)
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

// TestPage: the document's page and its files are served as given; a system's own page takes precedence.
func TestPage(t *testing.T) {
	t.Parallel()
	shows := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(name + " at " + r.URL.Path)) })
	}
	docs := serve(t, func(o *api.Options) { o.Docs = shows("docs") })
	both := serve(t, func(o *api.Options) { o.Docs, o.Page = shows("docs"), shows("page") })
	for _, c := range []struct {
		s          *server
		path, want string
	}{
		{docs, "/pay/docs", "docs at /"},
		{docs, "/pay/assets/x.js", "docs at /assets/x.js"},
		{both, "/pay/docs", "docs at /"},
		{both, "/pay/", "page at /"},
		{both, "/pay/assets/x.js", "page at /assets/x.js"},
	} {
		if response := c.s.do(t, "GET", c.path, ""); response.Status != http.StatusOK || response.Body != c.want {
			t.Errorf("%s: %d %q, want %q", c.path, response.Status, response.Body, c.want)
		}
	}
	if response := docs.do(t, "GET", "/pay/", ""); response.Status != http.StatusFound || response.Header.Get("Location") != "/pay/docs" {
		t.Errorf("/pay/: %d to %q, want the page", response.Status, response.Header.Get("Location"))
	}
	if response := serve(t, nil).do(t, "GET", "/pay/docs", ""); response.Status != http.StatusNotFound {
		t.Errorf("/pay/docs of an API without a page: %d", response.Status)
	}
}

// TestExamplesInDocument: an example appears at its operation, with its values at the parameters, correctly typed, and with the
// body as written.
func TestExamplesInDocument(t *testing.T) {
	t.Parallel()
	s := serve(t, func(o *api.Options) {
		o.Examples = []api.Example{
			{Title: "Pay", Method: "POST", Path: "/echo", Body: `{"note":"z","amount":7}`},
			{Title: "A page", Method: "GET", Path: "/list?limit=5"},
			{Title: "A fault", Method: "GET", Path: "/fail/declared"},
			{Title: "Nothing", Method: "GET", Path: "/nowhere"},
		}
	})
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name     string
				Examples map[string]struct{ Value json.RawMessage }
			}
			RequestBody struct {
				Content map[string]struct {
					Examples map[string]struct{ Value json.RawMessage }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(s.do(t, "GET", "/pay/openapi.json", "").Body), &d); err != nil {
		t.Fatal(err)
	}
	if got := string(d.Paths["/echo"]["post"].RequestBody.Content["application/json"].Examples["Pay"].Value); got != `{"note":"z","amount":7}` {
		t.Errorf("the body of POST /echo: %s", got)
	}
	for path, want := range map[string]string{"/list limit A page": "5", "/fail/{kind} kind A fault": `"declared"`} {
		at := strings.SplitN(path, " ", 3)
		for _, p := range d.Paths[at[0]]["get"].Parameters {
			if got := string(p.Examples[at[2]].Value); p.Name == at[1] && got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			} else if p.Name != at[1] && got != "" {
				t.Errorf("%s: %s has %s", path, p.Name, got)
			}
		}
	}
}

// TestProblemsInDocument: a response lists the codes of its status, the operation's own and the common ones; all are defined at
// the top.
func TestProblemsInDocument(t *testing.T) {
	t.Parallel()
	var d struct {
		Problems []struct {
			Code   string
			Status int
			Detail string
		} `json:"x-problems"`
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Codes []string `json:"x-problems"`
			}
		}
	}
	if err := json.Unmarshal([]byte(serve(t, nil).do(t, "GET", "/pay/openapi.json", "").Body), &d); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, p := range d.Problems {
		if p.Detail == "" {
			t.Errorf("%s has no detail", p.Code)
		}
		known[fmt.Sprint(p.Status, " ", p.Code)] = true
	}
	for _, test := range []struct {
		path, method, status string
		want                 []string
	}{
		{"/fail/{kind}", "get", "409", []string{"insufficient_funds"}},
		{"/fail/{kind}", "get", "400", []string{"invalid_parameter", "invalid_value"}},
		{"/list", "get", "400", []string{"invalid_cursor", "invalid_parameter", "invalid_value"}},
		{"/echo", "post", "400", []string{"invalid_body", "invalid_parameter", "invalid_value"}},
		{"/echo", "post", "409", []string{"conflict"}},
		{"/echo", "post", "422", []string{"idempotency_key_reused"}},
		{"/who", "get", "400", []string{"invalid_parameter", "invalid_value"}},
		{"/who", "get", "401", []string{"invalid_token", "missing_token"}},
		{"/admin", "get", "403", []string{"forbidden"}},
		{"/health", "get", "400", []string{"invalid_parameter"}},
		{"/health", "get", "503", []string{"throttled", "unavailable"}},
	} {
		got := d.Paths[test.path][test.method].Responses[test.status].Codes
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %s, %s: %s", test.method, test.path, test.status, diff)
		}
		for _, code := range got {
			if !known[test.status+" "+code] {
				t.Errorf("%s of %s is not among the problems of the document", code, test.path)
			}
		}
	}
}
