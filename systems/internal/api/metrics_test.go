package api_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/monotable/monotable/design/table"
)

func TestMetricsOfRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	token := s.token(t)
	s.do(t, "GET", "/pay/size/10", "")
	s.do(t, "GET", "/pay/size/20", "")
	s.do(t, "GET", "/pay/fail/missing", "", "Authorization", token)
	s.do(t, "GET", "/pay/nowhere/1", "")
	s.do(t, "BREW", "/pay/nowhere/2", "")
	s.Close()
	const want = `
# HELP http_requests_total Requests answered.
# TYPE http_requests_total counter
http_requests_total{method="GET",route="/pay/fail/{kind}",status="404",system="pay"} 1
http_requests_total{method="GET",route="/pay/size/{n}",status="200",system="pay"} 2
http_requests_total{method="GET",route="unmatched",status="404",system="pay"} 1
http_requests_total{method="other",route="unmatched",status="404",system="pay"} 1
# HELP http_requests_in_flight Requests in progress.
# TYPE http_requests_in_flight gauge
http_requests_in_flight{system="pay"} 0
`
	if err := testutil.GatherAndCompare(s.registry, strings.NewReader(want), "http_requests_total", "http_requests_in_flight"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(s.registry, "http_request_duration_seconds"); err != nil || n != 4 {
		t.Errorf("%d histograms of durations (%v), want one for each of 4 routes and methods", n, err)
	}
}

func TestMetricsOfPatterns(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	observe := s.metrics.Observer("pay")
	for _, err := range []error{
		nil, table.ErrNotFound, table.ErrConflict, &table.ValueError{}, &table.Refusal{Err: errBroke}, errors.New("else"),
	} {
		observe(t.Context(), table.Call{Pattern: "Pay", Requests: 2, ReadUnits: 0.5, WriteUnits: 4, Attempts: 3, Duration: time.Millisecond, Err: err})
	}
	const want = `
# HELP table_calls_total Calls of access patterns, by outcome.
# TYPE table_calls_total counter
table_calls_total{pattern="Pay",result="conflict",system="pay"} 1
table_calls_total{pattern="Pay",result="error",system="pay"} 1
table_calls_total{pattern="Pay",result="invalid",system="pay"} 1
table_calls_total{pattern="Pay",result="not_found",system="pay"} 1
table_calls_total{pattern="Pay",result="ok",system="pay"} 1
table_calls_total{pattern="Pay",result="refused",system="pay"} 1
# HELP table_capacity_units_total Capacity units consumed by access pattern, as DynamoDB reports them.
# TYPE table_capacity_units_total counter
table_capacity_units_total{kind="read",pattern="Pay",system="pay"} 3
table_capacity_units_total{kind="write",pattern="Pay",system="pay"} 24
# HELP table_conflict_retries_total Writes retried after a conflict, by access pattern.
# TYPE table_conflict_retries_total counter
table_conflict_retries_total{pattern="Pay",system="pay"} 12
# HELP table_requests_total Requests to DynamoDB by access pattern.
# TYPE table_requests_total counter
table_requests_total{pattern="Pay",system="pay"} 12
`
	if err := testutil.GatherAndCompare(
		s.registry, bytes.NewBufferString(want),
		"table_calls_total", "table_capacity_units_total", "table_conflict_retries_total", "table_requests_total",
	); err != nil {
		t.Error(err)
	}
}
