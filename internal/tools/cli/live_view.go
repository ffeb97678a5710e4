package cli

import (
	"maps"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// sample is the metrics of a server at one moment.
type sample struct {
	at       time.Time
	families map[string]*dto.MetricFamily
}

// liveView is a server's activity between two samples. Rates are per second, times in seconds.
type liveView struct {
	Time    time.Time  `json:"time"`
	Seconds float64    `json:"seconds"` // between the samples
	Ready   bool       `json:"ready"`
	Total   liveRates  `json:"total"`
	Tables  []liveRow  `json:"tables"` // those with requests or items, by name
	Server  liveServer `json:"server"`
	Disk    *liveDisk  `json:"disk,omitempty"` // nil in memory
}

// liveRates are the rates of requests.
type liveRates struct {
	Requests   float64 `json:"requests_per_second"`
	P50        float64 `json:"p50_seconds"`
	P99        float64 `json:"p99_seconds"`
	Errors     float64 `json:"errors"`
	Throttles  float64 `json:"throttles"`
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
}

// liveRow is a table.
type liveRow struct {
	Name string `json:"name"`
	liveRates
	Items float64 `json:"items"`
}

// liveServer is the state of the process.
type liveServer struct {
	Connections float64 `json:"connections"`
	InFlight    float64 `json:"requests_in_flight"`
	Jobs        float64 `json:"jobs"`
	Memory      float64 `json:"resident_bytes"`
}

// liveDisk is the state of the store.
type liveDisk struct {
	SyncP99        float64 `json:"sync_p99_seconds"`
	Syncs          float64 `json:"syncs"`
	Stalled        float64 `json:"stalled"` // share of the time in which writes were stalled
	Written        float64 `json:"written_bytes"`
	CompactionDebt float64 `json:"compaction_debt_bytes"`
	CacheHits      float64 `json:"cache_hits"` // share of blocks
	Bytes          float64 `json:"bytes"`
	Free           float64 `json:"free_bytes"`
}

// newLiveView compares two samples.
func newLiveView(before, after sample) *liveView {
	d := samples{before, after, after.at.Sub(before.at).Seconds()}
	v := &liveView{
		Time: after.at, Seconds: d.seconds, Ready: d.now("monotable_ready", nil) == 1, Total: d.rates(nil), Tables: []liveRow{},
		Server: liveServer{
			Connections: d.now("monotable_connections", nil), InFlight: d.now("monotable_requests_in_flight", nil),
			Jobs: d.now("monotable_jobs", nil), Memory: d.now("process_resident_memory_bytes", nil),
		},
	}
	for _, name := range d.tables() {
		table := map[string]string{"table": name}
		v.Tables = append(v.Tables, liveRow{name, d.rates(table), d.now("monotable_items", map[string]string{"table": name, "index": ""})})
	}
	if after.families["monotable_disk_bytes"] == nil {
		return v
	}
	hits, misses := d.rate("monotable_block_cache_hits_total", nil), d.rate("monotable_block_cache_misses_total", nil)
	v.Disk = &liveDisk{
		SyncP99: d.quantile(0.99, "monotable_log_sync_duration_seconds", nil), Syncs: d.rateOfCount("monotable_log_sync_duration_seconds"),
		Stalled:        d.rate("monotable_write_stall_seconds_total", nil),
		Written:        d.rate("monotable_written_bytes_total", map[string]string{"to": "log"}) + d.rate("monotable_written_bytes_total", map[string]string{"to": "tables"}),
		CompactionDebt: d.now("monotable_compaction_debt_bytes", nil), CacheHits: share(hits, misses),
		Bytes: d.now("monotable_disk_bytes", nil), Free: d.now("monotable_file_system_free_bytes", nil),
	}
	return v
}

func share(part, rest float64) float64 {
	if part+rest == 0 {
		return 0
	}
	return part / (part + rest)
}

// samples are two samples of a server, and the time between them.
type samples struct {
	before, after sample
	seconds       float64
}

func (d *samples) rates(labels map[string]string) liveRates {
	throttled := map[string]string{"class": "throttled"}
	maps.Copy(throttled, labels)
	return liveRates{
		Requests: d.rate("monotable_requests_total", labels),
		P50:      d.quantile(0.5, "monotable_request_duration_seconds", labels), P99: d.quantile(0.99, "monotable_request_duration_seconds", labels),
		Errors: d.rate("monotable_request_errors_total", labels), Throttles: d.rate("monotable_request_errors_total", throttled),
		ReadUnits:  d.rate("monotable_consumed_read_capacity_units_total", labels),
		WriteUnits: d.rate("monotable_consumed_write_capacity_units_total", labels),
	}
}

// tables are the names of tables with counters or stored items.
func (d *samples) tables() []string {
	names := map[string]bool{}
	for _, family := range []string{"monotable_items", "monotable_requests_total"} {
		for _, m := range d.after.families[family].GetMetric() {
			names[labelOf(m, "table")] = true
		}
	}
	if d.rate("monotable_requests_total", map[string]string{"table": ""}) == 0 {
		delete(names, "")
	}
	return slices.Sorted(maps.Keys(names))
}

// now is the sum of the latest values of a metric's series with these labels.
func (d *samples) now(name string, labels map[string]string) float64 {
	return d.after.sum(name, labels)
}

// rate is the growth of the sum per second. A counter that has become smaller was reset.
func (d *samples) rate(name string, labels map[string]string) float64 {
	return max(0, d.after.sum(name, labels)-d.before.sum(name, labels)) / d.seconds
}

func (d *samples) rateOfCount(name string) float64 {
	after, _ := d.after.histogram(name, nil)
	before, _ := d.before.histogram(name, nil)
	return max(0, after-before) / d.seconds
}

func (s *sample) sum(name string, labels map[string]string) (total float64) {
	for _, m := range s.families[name].GetMetric() {
		if hasLabels(m, labels) {
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return total
}

// histogram adds up the histograms with these labels: the count, and the counts up to each bound.
func (s *sample) histogram(name string, labels map[string]string) (count float64, upTo map[float64]float64) {
	upTo = map[float64]float64{}
	for _, m := range s.families[name].GetMetric() {
		if !hasLabels(m, labels) {
			continue
		}
		count += float64(m.GetHistogram().GetSampleCount())
		for _, b := range m.GetHistogram().GetBucket() {
			upTo[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	return count, upTo
}

// quantile estimates a quantile of the observations between the samples, like Prometheus's histogram_quantile; 0 if
// there were none.
func (d *samples) quantile(q float64, name string, labels map[string]string) float64 {
	count, upTo := d.after.histogram(name, labels)
	countBefore, upToBefore := d.before.histogram(name, labels)
	rank, lower, below := q*(count-countBefore), 0.0, 0.0
	if rank <= 0 {
		return 0
	}
	for _, bound := range slices.Sorted(maps.Keys(upTo)) {
		if math.IsInf(bound, 1) {
			break
		}
		n := upTo[bound] - upToBefore[bound]
		if n >= rank {
			return lower + (bound-lower)*(rank-below)/(n-below)
		}
		lower, below = bound, n
	}
	return lower // or more
}

func hasLabels(m *dto.Metric, labels map[string]string) bool {
	for name, value := range labels {
		if labelOf(m, name) != value {
			return false
		}
	}
	return true
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
