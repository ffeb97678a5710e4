package api

import (
	"log/slog"
	"net/http"
)

// processName is the system label of requests that belong to no system.
const processName = "process"

// WrapProcess wraps a handler that belongs to the process rather than to a system. It adds what every response has: request id, log
// line, metrics, and a problem after a panic. Nil metrics count nothing.
func WrapProcess(route string, handler http.Handler, logger *slog.Logger, metrics *Metrics) http.Handler {
	a := &API{options: Options{Name: processName, Logger: logger, Metrics: metrics}}
	return a.observe(a.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).route = route
		handler.ServeHTTP(w, r)
	})))
}
