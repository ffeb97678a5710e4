package api

import (
	"context"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// Health is the response of health and readiness checks.
type Health struct {
	Status string `json:"status" enum:"ok" doc:"ok"`
}

// registerHealth adds the liveness and readiness checks.
func (a *API) registerHealth() {
	process, fresh := Tag(a, "Process"), Cache("no-store")
	Get[Health](process, "/health", "health", "Whether the process is alive", func(context.Context, auth.Principal, None) (Health, error) {
		return Health{Status: "ok"}, nil
	}, Tokenless, fresh)
	Get[Health](process, "/ready", "ready", "Whether the database is available", func(ctx context.Context, _ auth.Principal, _ None) (Health, error) {
		if a.options.Ready == nil {
			return Health{Status: "ok"}, nil
		}
		if err := a.options.Ready(ctx); err != nil {
			return Health{}, problem.Unavailable(err)
		}
		return Health{Status: "ok"}, nil
	}, Tokenless, fresh)
}
