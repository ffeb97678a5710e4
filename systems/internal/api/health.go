package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/problem"
)

// Health is the answer of health and readiness.
type Health struct {
	Status string `json:"status" enum:"ok" doc:"ok"`
}

type healthOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         Health
}

// registerHealth adds the two questions that whatever runs the process asks: is it alive, can it do its work.
func (a *API) registerHealth() {
	ok := &healthOutput{CacheControl: "no-store", Body: Health{Status: "ok"}}
	huma.Register(a, Operation(huma.Operation{
		OperationID: "health", Method: http.MethodGet, Path: "/health", Tags: []string{"Process"},
		Summary: "Whether the process lives",
	}, Tokenless), func(context.Context, *struct{}) (*healthOutput, error) { return ok, nil })
	huma.Register(a, Operation(huma.Operation{
		OperationID: "ready", Method: http.MethodGet, Path: "/ready", Tags: []string{"Process"},
		Summary: "Whether the database can be used",
	}, Tokenless), func(ctx context.Context, _ *struct{}) (*healthOutput, error) {
		if a.options.Ready == nil {
			return ok, nil
		}
		if err := a.options.Ready(ctx); err != nil {
			return nil, problem.Unavailable(err)
		}
		return ok, nil
	})
}
