package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Example is an example request in the document.
type Example struct {
	Title, Method string
	// Path is relative to the prefix: "/transactions?limit=5".
	Path   string
	Header map[string]string
	Body   string
	// Groups are the groups that the token needs.
	Groups []string
}

// addExamples adds an operation's examples to the document, by title.
func (a *API) addExamples(op *huma.Operation) {
	for _, e := range a.options.Examples {
		path, query, _ := strings.Cut(e.Path, "?")
		in, ok := places(op.Path, path)
		if e.Method != op.Method || !ok {
			continue
		}
		asked, err := url.ParseQuery(query)
		must(err)
		for _, parameter := range op.Parameters {
			value, given := in[parameter.Name], parameter.In == "path"
			if parameter.In == "query" {
				value, given = asked.Get(parameter.Name), asked.Has(parameter.Name)
			}
			if !given {
				continue
			}
			if parameter.Examples == nil {
				parameter.Examples = map[string]*huma.Example{}
			}
			parameter.Examples[e.Title] = &huma.Example{Value: value}
			if parameter.Schema != nil && parameter.Schema.Type != huma.TypeString {
				parameter.Examples[e.Title].Value = json.RawMessage(value)
			}
		}
		if op.RequestBody != nil && e.Body != "" {
			content := op.RequestBody.Content["application/json"]
			if content.Examples == nil {
				content.Examples = map[string]*huma.Example{}
			}
			content.Examples[e.Title] = &huma.Example{Value: json.RawMessage(e.Body)}
		}
	}
}

// places returns a path's parameters according to its pattern: for /users/{id} and /users/42, id is 42.
func places(pattern, path string) (map[string]string, bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	found := map[string]string{}
	for n, part := range want {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			found[strings.TrimSuffix(name, "}")] = have[n]
		} else if part != have[n] {
			return nil, false
		}
	}
	return found, true
}

// registerDocument serves the OpenAPI document, its page, and the system's own page.
func (a *API) registerDocument() {
	a.Handle("GET /openapi.json", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, err := a.document()
		if err != nil {
			panic(err) // a bug in an operation, logged and reported like any panic
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}))
	docs, page := a.options.Docs, a.options.Page
	if files := cmp.Or(page, docs); files != nil {
		a.Handle("GET /assets/", files) // one build contains the files of all pages
	}
	if docs != nil {
		a.Handle("GET /docs", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at := r.Clone(r.Context())
			at.URL.Path, at.URL.RawPath = "/", ""
			docs.ServeHTTP(w, at)
		}))
	}
	switch {
	case page != nil:
		a.Handle("GET /{$}", page)
	case docs != nil && a.options.Prefix != "":
		a.Handle("GET /{$}", http.RedirectHandler(a.options.Prefix+"/docs", http.StatusFound))
	}
}
