package apitest

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/sam"
)

// document is the part of a system's OpenAPI document that tests need.
type document struct {
	operations map[string]*operation // by operationId
	routes     *http.ServeMux
}

// operation is one of its operations.
type operation struct {
	id, method, path, summary string
	public, process, input    bool
	anonymous                 bool                // callable without a token
	codes                     map[string][]string // of problems, by status
}

// readDocument fetches the system's document.
func (v *Server) readDocument(tb testing.TB) *document {
	tb.Helper()
	v.document = &document{routes: http.NewServeMux()}
	var read struct {
		Paths map[string]map[string]struct {
			OperationID string           `json:"operationId"`
			Summary     string           `json:"summary"`
			Tags        []string         `json:"tags"`
			Security    []map[string]any `json:"security"`
			Parameters  []any            `json:"parameters"`
			RequestBody any              `json:"requestBody"`
			Responses   map[string]struct {
				Codes []string `json:"x-problems"`
			} `json:"responses"`
		} `json:"paths"`
	}
	v.Do(tb, Request{Method: http.MethodGet, Path: "/openapi.json"}).JSON(tb, &read)
	d := &document{operations: map[string]*operation{}, routes: http.NewServeMux()}
	for path, methods := range read.Paths {
		for method, of := range methods {
			o := &operation{
				id: of.OperationID, summary: of.Summary, method: strings.ToUpper(method), path: path, public: len(of.Security) == 0,
				anonymous: slices.ContainsFunc(of.Security, func(way map[string]any) bool { return len(way) == 0 }),
				process:   slices.Contains(of.Tags, "Process"), input: len(of.Parameters) > 0 || of.RequestBody != nil,
				codes: map[string][]string{},
			}
			for status, response := range of.Responses {
				o.codes[status] = response.Codes
			}
			d.operations[o.id] = o
			d.routes.Handle(o.method+" "+o.path, http.NotFoundHandler())
		}
	}
	return d
}

// Routes returns the system's own operations.
func (v *Server) Routes() []sam.Route {
	var routes []sam.Route
	for _, id := range slices.Sorted(maps.Keys(v.document.operations)) {
		if o := v.document.operations[id]; !o.process {
			routes = append(routes, sam.Route{ID: id, Method: o.method, Path: o.path, Summary: o.summary, Token: !o.public && !o.anonymous})
		}
	}
	return routes
}

// match returns the operation of a request, or "" if there is none.
func (d *document) match(method, path string) string {
	_, pattern := d.routes.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
	for id, o := range d.operations {
		if o.method+" "+o.path == pattern {
			return id
		}
	}
	return ""
}

var parameter = regexp.MustCompile(`\{[^}]+\}`)

// example returns a path of the operation with a value for each parameter.
func (o *operation) example() string { return parameter.ReplaceAllString(o.path, "x") }
