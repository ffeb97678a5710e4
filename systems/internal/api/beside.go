package api

import (
	"log/slog"
	"net/http"
)

// besideName is what metrics and logs call what is no system's.
const besideName = "process"

// Beside is a handler that belongs to the process and to no system, with what every answer has: a request id, a line in the
// log, metrics, a problem where it panics. Nil metrics count nothing.
func Beside(route string, handler http.Handler, logger *slog.Logger, metrics *Metrics) http.Handler {
	a := &API{options: Options{Name: besideName, Logger: logger, Metrics: metrics}}
	return a.observe(a.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).route = route
		handler.ServeHTTP(w, r)
	})))
}
