package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func parseSample(t *testing.T, at time.Time, text string) sample {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return sample{at, families}
}

const sampleBefore = `# TYPE monotable_ready gauge
monotable_ready 1
# TYPE monotable_items gauge
monotable_items{table="a",index=""} 7
monotable_items{table="a",index="x"} 3
# TYPE monotable_requests_total counter
monotable_requests_total{operation="GetItem",table="a"} 10
monotable_requests_total{operation="ListTables",table=""} 4
# TYPE monotable_request_errors_total counter
monotable_request_errors_total{operation="PutItem",table="a",error="E",class="user"} 1
# TYPE monotable_request_duration_seconds histogram
monotable_request_duration_seconds_bucket{operation="GetItem",table="a",le="0.001"} 10
monotable_request_duration_seconds_bucket{operation="GetItem",table="a",le="0.002"} 10
monotable_request_duration_seconds_bucket{operation="GetItem",table="a",le="+Inf"} 10
monotable_request_duration_seconds_sum{operation="GetItem",table="a"} 0.01
monotable_request_duration_seconds_count{operation="GetItem",table="a"} 10
# TYPE monotable_consumed_read_capacity_units_total counter
monotable_consumed_read_capacity_units_total{table="a",index=""} 5
monotable_consumed_read_capacity_units_total{table="a",index="x"} 1
`

const sampleAfter = `# TYPE monotable_ready gauge
monotable_ready 0
# TYPE monotable_items gauge
monotable_items{table="a",index=""} 8
monotable_items{table="a",index="x"} 3
# TYPE monotable_requests_total counter
monotable_requests_total{operation="GetItem",table="a"} 30
monotable_requests_total{operation="ListTables",table=""} 4
# TYPE monotable_request_errors_total counter
monotable_request_errors_total{operation="PutItem",table="a",error="E",class="user"} 3
monotable_request_errors_total{operation="PutItem",table="a",error="T",class="throttled"} 4
# TYPE monotable_request_duration_seconds histogram
monotable_request_duration_seconds_bucket{operation="GetItem",table="a",le="0.001"} 20
monotable_request_duration_seconds_bucket{operation="GetItem",table="a",le="0.002"} 30
monotable_request_duration_seconds_bucket{operation="GetItem",table="a",le="+Inf"} 30
monotable_request_duration_seconds_sum{operation="GetItem",table="a"} 0.03
monotable_request_duration_seconds_count{operation="GetItem",table="a"} 30
# TYPE monotable_consumed_read_capacity_units_total counter
monotable_consumed_read_capacity_units_total{table="a",index=""} 8
monotable_consumed_read_capacity_units_total{table="a",index="x"} 2
`

func TestLiveView(t *testing.T) {
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	v := newLiveView(parseSample(t, start, sampleBefore), parseSample(t, start.Add(2*time.Second), sampleAfter))
	rates := liveRates{Requests: 10, P50: 0.001, P99: 0.00198, Errors: 3, Throttles: 2, ReadUnits: 2}
	want := &liveView{Time: start.Add(2 * time.Second), Seconds: 2, Total: rates, Tables: []liveRow{{"a", rates, 8}}}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if diff := cmp.Diff(want, v, cmp.AllowUnexported(liveRow{}), near); diff != "" {
		t.Error(diff)
	}
	var text strings.Builder
	if err := v.print(&text); err != nil {
		t.Fatal(err)
	}
	const shown = `12:00:02  NOT READY: rejects writes  connections 0  in flight 0  jobs 0  memory 0 B
  REQUESTS/S  P50     P99  ERRORS/S  THROTTLED/S  RCU/S  WCU/S  ITEMS  TABLE
          10  1ms  1.98ms         3            2    2.0    0.0         all
          10  1ms  1.98ms         3            2    2.0    0.0      8  a

`
	if diff := cmp.Diff(shown, text.String()); diff != "" {
		t.Error(diff)
	}
}

// TestLiveViewAfterRestart tests that counters start again with the server, without negative rates.
func TestLiveViewAfterRestart(t *testing.T) {
	start := time.Now()
	v := newLiveView(parseSample(t, start, sampleAfter), parseSample(t, start.Add(time.Second), sampleBefore))
	if diff := cmp.Diff(liveRates{}, v.Total); diff != "" {
		t.Error(diff)
	}
}
