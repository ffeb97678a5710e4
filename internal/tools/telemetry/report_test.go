package telemetry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// closedPort is the exporter of a collector that is down.
type closedPort struct{}

func (closedPort) ExportSpans(context.Context, []sdk.ReadOnlySpan) error {
	return errors.New("connection refused")
}

func (closedPort) Shutdown(context.Context) error { return nil }

// TestFailedExportsAreLoggedOnceAMinute: a collector that is down does not flood the log, and no dropped span is left out.
func TestFailedExportsAreLoggedOnceAMinute(t *testing.T) {
	var logged bytes.Buffer
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	e := &reportingExporter{
		SpanExporter: closedPort{}, endpoint: "http://localhost:4318", now: func() time.Time { return now },
		logger: slog.New(slog.NewTextHandler(&logged, nil)),
	}
	export := func(times int) {
		t.Helper()
		for range times {
			if err := e.ExportSpans(t.Context(), make([]sdk.ReadOnlySpan, 10)); err != nil {
				t.Fatalf("the SDK would log %v", err)
			}
		}
	}
	expect := func(what string, want ...string) {
		t.Helper()
		lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
		for i, line := range lines {
			if len(lines) != len(want) || !strings.HasSuffix(line, want[i]) {
				t.Fatalf("%s:\n%s\nwant %q", what, &logged, want)
			}
		}
	}
	first := `msg="traces cannot be sent" endpoint=http://localhost:4318 dropped_spans=10 error="connection refused"`
	export(1)
	expect("the first failure", first)
	now = now.Add(reportInterval - 1)
	export(40)
	expect("within a minute", first)
	now = now.Add(1)
	export(1)
	second := strings.Replace(first, "=10", "=410", 1)
	expect("after a minute", first, second)
	export(2)
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("at the end", first, second, strings.Replace(first, "=10", "=20", 1))
}
