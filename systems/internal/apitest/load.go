package apitest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/monotable/monotable/systems/internal/load"
)

// Load sends every request of the system's load plan once on each of two connections. It fails the test if one is rejected, or if
// an operation is neither in the plan nor listed as left out.
func (v *Server) Load(t *testing.T) {
	t.Helper()
	plan := v.system.Load
	results, err := load.Run(t.Context(), plan, func(_ context.Context, r load.Request) (load.Response, error) {
		response := v.Do(t, Request{Method: r.Method, Path: r.Path, As: r.User, Groups: r.Groups, Header: r.Header, Body: body(r)})
		return load.Response{Status: response.Status, Body: response.Body}, nil
	}, load.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Refusal != "" {
			t.Errorf("%s was refused: %v %s", r.Route, r.Responses, r.Refusal)
		}
	}
	measured := map[string]bool{}
	for _, route := range plan.Routes {
		path, _ := cutQuery(route.Path)
		measured[v.document.match(route.Method, path)] = true
	}
	for id := range plan.Without {
		if v.document.operations[id] == nil {
			t.Errorf("the load plan leaves out %s, which is no operation", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.document.operations)) {
		if id == "exportOwnData" || id == "eraseOwnData" {
			continue // it belongs to the platform
		}
		o := v.document.operations[id]
		if _, left := plan.Without[id]; !o.process && measured[id] == left {
			t.Errorf("%s (%s %s): in the load plan %v, left out of it %v", id, o.method, o.path, measured[id], left)
		}
	}
}

// body returns nil if there is none, because Request distinguishes no body from an empty one.
func body(r load.Request) any {
	if r.Body == "" {
		return nil
	}
	return r.Body
}
