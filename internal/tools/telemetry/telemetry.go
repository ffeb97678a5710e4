// Package telemetry sends a trace of each request to an OpenTelemetry collector.
//
// # Model
//
// The standard environment variables of OpenTelemetry configure everything: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables.
// Without an endpoint or exporter among them, Start returns a nil Tracer and tracing costs nothing. Spans are sent by OTLP
// over HTTP, in batches, from the exporter's goroutine.
//
//	client's span (traceparent) ─► DynamoDB.PutItem ─┬─ latch    waits for keys held by others
//	                                                 ├─ read     reads of the store
//	                                                 └─ commit   until the log is on disk
//
// A request has at most one child span of each kind: it begins with the first wait of that kind and lasts as long as all of
// them together. Only sampled spans are created.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/server"
)

// Start returns a tracer configured by the environment, or nil if tracing is off, and stop, which flushes pending spans.
// getenv decides whether tracing is on; the SDK reads everything else from the process's environment.
func Start(ctx context.Context, getenv func(string) string, version string, logger *slog.Logger) (t server.Tracer, stop func(context.Context) error, err error) {
	on, err := enabled(getenv)
	if err == nil && on {
		err = check(getenv)
	}
	if err != nil || !on {
		return nil, func(context.Context) error { return nil }, err
	}
	otel.SetLogger(logr.FromSlogHandler(logger.Handler()))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("OpenTelemetry failed", "error", err) }))
	// Later ones take precedence: OTEL_SERVICE_NAME over the name here.
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("monotable"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("traces: %w", err)
	}
	reported := &reportingExporter{SpanExporter: exporter, endpoint: endpoint(getenv), logger: logger, now: time.Now}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(reported), sdk.WithResource(about))
	return tracer{provider.Tracer("github.com/monotable/monotable")}, provider.Shutdown, nil
}

// tracer implements server.Tracer.
type tracer struct{ spans trace.Tracer }

// Begin starts the span of a call, as a child of the client's.
func (t tracer) Begin(r *http.Request) (context.Context, func(*server.Exchange)) {
	ctx := r.Context()
	if r.Header.Get("X-Amz-Target") == "" { // a probe, or a browser
		return ctx, nil
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, span := t.spans.Start(ctx, "DynamoDB", trace.WithSpanKind(trace.SpanKindServer))
	if !span.IsRecording() {
		return ctx, nil
	}
	return ctx, func(x *server.Exchange) { t.end(ctx, span, x) }
}

func (t tracer) end(ctx context.Context, span trace.Span, x *server.Exchange) {
	span.SetName("DynamoDB." + x.Operation)
	span.SetAttributes(
		semconv.RPCSystemNameKey.String("aws-api"), semconv.RPCMethod("DynamoDB/"+x.Operation),
		semconv.DBSystemNameAWSDynamoDB, semconv.DBOperationName(x.Operation),
		semconv.AWSRequestID(x.ID), semconv.HTTPResponseStatusCode(x.Status),
	)
	if x.Table != nil {
		names := []string{x.Table.Name}
		for _, other := range x.More {
			names = append(names, other.Name)
		}
		span.SetAttributes(semconv.AWSDynamoDBTableNames(names...))
	}
	if x.Returned > 0 {
		span.SetAttributes(semconv.DBResponseReturnedRows(int(x.Returned)))
	}
	if x.Failure.Code != "" {
		span.SetAttributes(attribute.String(string(semconv.ErrorTypeKey), x.Failure.Code))
	}
	if x.Failure.Class == observe.System {
		reason := ""
		if x.Fault != nil {
			reason = x.Fault.Error()
		}
		span.SetStatus(codes.Error, reason)
	}
	for _, wait := range []struct {
		name string
		observe.Wait
	}{{"latch", x.Latch}, {"read", x.Read}, {"commit", x.Sync}} {
		if wait.Times == 0 {
			continue
		}
		_, child := t.spans.Start(ctx, wait.name, trace.WithTimestamp(wait.Begun), trace.WithAttributes(attribute.Int("monotable.times", wait.Times)))
		child.End(trace.WithTimestamp(wait.Begun.Add(wait.Total)))
	}
	span.End()
}
