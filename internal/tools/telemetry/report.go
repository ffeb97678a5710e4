package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// reportInterval is how often the log reports that traces cannot be sent.
const reportInterval = time.Minute

// reportingExporter logs failures of an exporter, at most once per reportInterval, so that an unreachable collector does not
// flood the log: a busy server exports many batches per second.
type reportingExporter struct {
	sdk.SpanExporter

	endpoint string
	logger   *slog.Logger
	now      func() time.Time

	mu       sync.Mutex
	reported time.Time // of the last line
	dropped  int       // spans since that line
	failure  error     // the last failure since that line
}

// ExportSpans implements sdk.SpanExporter. It returns no error, because the SDK would only log it again.
func (e *reportingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped, e.failure = e.dropped+len(spans), err
	if now := e.now(); e.reported.IsZero() || now.Sub(e.reported) >= reportInterval {
		e.reportLocked(ctx, now)
	}
	return nil
}

// Shutdown implements sdk.SpanExporter. It logs the spans dropped since the last line.
func (e *reportingExporter) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	if e.dropped > 0 {
		e.reportLocked(ctx, e.now())
	}
	e.mu.Unlock()
	return e.SpanExporter.Shutdown(ctx)
}

func (e *reportingExporter) reportLocked(ctx context.Context, now time.Time) {
	e.logger.WarnContext(ctx, "traces cannot be sent", "endpoint", e.endpoint, "dropped_spans", e.dropped, "error", e.failure)
	e.reported, e.dropped = now, 0
}
