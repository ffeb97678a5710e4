package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/tools/telemetry"
)

// tracesWait is the time for sending the last traces when the server stops.
const tracesWait = 5 * time.Second

// traced returns the database's handler, which sends traces if the environment requests them.
func traced(ctx context.Context, env Environment, db *monotable.DB, logger *slog.Logger) (handler http.Handler, stop func() error, err error) {
	tracer, shutdown, err := telemetry.Start(ctx, env.Getenv, currentVersion().Version, logger)
	if err != nil {
		return nil, nil, err
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesWait)
		defer cancel()
		if err := shutdown(ctx); err != nil {
			logger.Warn("the most recent traces were not sent", "error", err)
		}
		return nil
	}
	if tracer == nil {
		return db.Handler(), stop, nil
	}
	s, ok := db.Handler().(interface {
		Traced(t server.Tracer) http.Handler
	})
	if !ok {
		return nil, nil, errors.Join(errors.New("the database's handler cannot be traced"), stop())
	}
	return s.Traced(tracer), stop, nil
}
