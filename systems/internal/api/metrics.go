package api

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable/design/table"
)

// Metrics are shared by all systems of a process; the label system tells them apart. A nil Metrics counts nothing.
type Metrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  *prometheus.GaugeVec

	calls         *prometheus.CounterVec
	callDurations *prometheus.HistogramVec
	callRequests  *prometheus.CounterVec
	callRetries   *prometheus.CounterVec
	units         *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	buckets := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	route, pattern := []string{"system", "method", "route"}, []string{"system", "pattern"}
	counter := func(name, help string, labels []string, more ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append(append([]string(nil), labels...), more...))
	}
	histogram := func(name, help string, labels []string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		requests:  counter("http_requests_total", "Requests answered.", route, "status"),
		durations: histogram("http_request_duration_seconds", "Duration of requests, without event streams.", route),
		inFlight:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "http_requests_in_flight", Help: "Requests in progress."}, []string{"system"}),

		calls:         counter("table_calls_total", "Calls of access patterns, by outcome.", pattern, "result"),
		callDurations: histogram("table_call_duration_seconds", "Duration of calls of access patterns.", pattern),
		callRequests:  counter("table_requests_total", "Requests to DynamoDB by access pattern.", pattern),
		callRetries:   counter("table_conflict_retries_total", "Writes retried after a conflict, by access pattern.", pattern),
		units:         counter("table_capacity_units_total", "Capacity units consumed by access pattern, as DynamoDB reports them.", pattern, "kind"),
	}
	registry.MustRegister(m.requests, m.durations, m.inFlight, m.calls, m.callDurations, m.callRequests, m.callRetries, m.units)
	return m
}

func (m *Metrics) begin(system string) {
	if m != nil {
		m.inFlight.WithLabelValues(system).Inc()
	}
}

func (m *Metrics) end(system string, about *request, a *responseRecorder, took time.Duration) {
	if m == nil {
		return
	}
	m.inFlight.WithLabelValues(system).Dec()
	m.requests.WithLabelValues(system, about.method, about.route, strconv.Itoa(a.code())).Inc()
	if !strings.HasPrefix(a.Header().Get("Content-Type"), "text/event-stream") {
		m.durations.WithLabelValues(system, about.method, about.route).Observe(took.Seconds())
	}
}

// Observer counts the calls of a system's access patterns, for table.Config.Observe. It is nil if Metrics is nil.
func (m *Metrics) Observer(system string) func(context.Context, table.Call) {
	if m == nil {
		return nil
	}
	return func(_ context.Context, c table.Call) {
		m.calls.WithLabelValues(system, c.Pattern, resultOf(c.Err)).Inc()
		m.callDurations.WithLabelValues(system, c.Pattern).Observe(c.Duration.Seconds())
		m.callRequests.WithLabelValues(system, c.Pattern).Add(float64(c.Requests))
		m.callRetries.WithLabelValues(system, c.Pattern).Add(float64(max(c.Attempts-1, 0)))
		m.units.WithLabelValues(system, c.Pattern, "read").Add(c.ReadUnits)
		m.units.WithLabelValues(system, c.Pattern, "write").Add(c.WriteUnits)
	}
}

// resultOf classifies errors; "error" is the class that needs attention.
func resultOf(err error) string {
	var value *table.ValueError
	var refusal *table.Refusal
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, table.ErrNotFound):
		return "not_found"
	case errors.Is(err, table.ErrConflict):
		return "conflict"
	case errors.Is(err, table.ErrCursor), errors.Is(err, table.ErrReused), errors.Is(err, table.ErrLines), errors.As(err, &value):
		return "invalid"
	case errors.Is(err, table.ErrExists), errors.As(err, &refusal):
		return "refused"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "canceled"
	default:
		return "error"
	}
}
