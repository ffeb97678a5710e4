package cloudwatch

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/monotable/monotable/internal/database/cloudwatch/history"
)

// namespace is the only one with metrics.
const namespace = "AWS/DynamoDB"

// The names of dimensions.
const (
	tableName  = "TableName"
	indexName  = "GlobalSecondaryIndexName"
	operation  = "Operation"
	streamName = "StreamLabel"
	receiver   = "ReceivingRegion"
)

// seriesOf returns the series of a metric with dimensions; ok is false if no metric here has these dimensions.
func seriesOf(in metric) (s history.Series, ok bool) {
	s.Name = in.MetricName
	fields := map[string]*string{tableName: &s.Table, indexName: &s.Index, operation: &s.Operation, streamName: &s.Stream, receiver: &s.Receiver}
	for _, d := range in.Dimensions {
		field := fields[d.Name]
		if field == nil || *field != "" || d.Value == "" {
			return history.Series{}, false
		}
		*field = d.Value
	}
	return s, in.Namespace == namespace
}

// metricOf is the inverse of seriesOf.
func metricOf(s history.Series) metric {
	m := metric{Namespace: namespace, MetricName: s.Name, Dimensions: []dimension{}}
	for _, d := range []dimension{{tableName, s.Table}, {indexName, s.Index}, {operation, s.Operation}, {streamName, s.Stream}, {receiver, s.Receiver}} {
		if d.Value != "" {
			m.Dimensions = append(m.Dimensions, d)
		}
	}
	return m
}

// statistic computes a statistic of a sample; ok is false if the sample does not have it.
type statistic func(s *history.Sample) (value float64, ok bool)

// simple are the statistics other than percentiles.
var simple = map[string]statistic{
	"SampleCount": func(s *history.Sample) (float64, bool) { return s.Count, true },
	"Sum":         func(s *history.Sample) (float64, bool) { return s.Sum, true },
	"Average":     func(s *history.Sample) (float64, bool) { return s.Sum / s.Count, true },
	"Minimum":     func(s *history.Sample) (float64, bool) { return s.Low, s.Ranged },
	"Maximum":     func(s *history.Sample) (float64, bool) { return s.High, s.Ranged },
}

var percentilePattern = regexp.MustCompile(`^p([0-9]{1,2}(?:\.[0-9]{1,10})?|100)$`)

// percentile returns a statistic such as p99 or p99.9.
func percentile(name string) (statistic, bool) {
	match := percentilePattern.FindStringSubmatch(name)
	if match == nil {
		return nil, false
	}
	percent, err := strconv.ParseFloat(match[1], 64)
	return func(s *history.Sample) (float64, bool) { return s.Percentile(percent) }, err == nil
}

// statisticOf returns any statistic by its name.
func statisticOf(name string) (statistic, bool) {
	if s, ok := simple[name]; ok {
		return s, true
	}
	return percentile(name)
}

// graph is one series over time, aggregated to periods.
type graph struct {
	series  history.Series
	known   bool // the series can exist
	period  time.Duration
	samples map[int64]*history.Sample // by the number of the period since the start
}

func newGraph(m metric, unit string, period int64) *graph {
	g := &graph{period: time.Duration(period) * time.Second, samples: map[int64]*history.Sample{}}
	g.series, g.known = seriesOf(m)
	g.known = g.known && (unit == "" || unit == g.series.Unit())
	return g
}

// draw reads the values of graphs in [start, end). Periods begin at the start.
func (h *Handler) draw(ctx context.Context, graphs []*graph, start, end time.Time) error {
	bySeries := map[history.Series][]*graph{}
	for _, g := range graphs {
		if g.known {
			bySeries[g.series] = append(bySeries[g.series], g)
		}
	}
	return h.source.Read(ctx, start, end, func(minute time.Time, s history.Series, m history.Sample) {
		for _, g := range bySeries[s] {
			at := int64(minute.Sub(start) / g.period)
			if g.samples[at] == nil {
				g.samples[at] = new(history.Sample)
			}
			g.samples[at].Merge(m)
		}
	})
}

// highResolution are CloudWatch's periods below a minute. Metrics here have one sample a minute, as DynamoDB's do, so such a
// period shows the minutes.
var highResolution = map[int64]bool{1: true, 5: true, 10: true, 20: true, 30: true}

func validPeriod(seconds int64) bool {
	return highResolution[seconds] || seconds >= 60 && seconds%60 == 0 && seconds <= math.MaxInt32
}

// span returns the requested time range; its start is rounded down to the minute. fault describes an invalid range.
func span(start, end *moment) (from, to time.Time, fault string) {
	switch {
	case start.Equal(end.Time):
		fault = "The parameter StartTime must not equal parameter EndTime."
	case start.After(end.Time):
		fault = "The parameter StartTime must be less than the parameter EndTime."
	}
	return start.Truncate(time.Minute), end.Time, fault
}

// units are the units that a request may name.
var units = map[string]bool{
	"Seconds": true, "Microseconds": true, "Milliseconds": true, "Bytes": true, "Kilobytes": true, "Megabytes": true,
	"Gigabytes": true, "Terabytes": true, "Bits": true, "Kilobits": true, "Megabits": true, "Gigabits": true,
	"Terabits": true, "Percent": true, "Count": true, "Bytes/Second": true, "Kilobytes/Second": true,
	"Megabytes/Second": true, "Gigabytes/Second": true, "Terabytes/Second": true, "Bits/Second": true,
	"Kilobits/Second": true, "Megabits/Second": true, "Gigabits/Second": true, "Terabits/Second": true,
	"Count/Second": true, "None": true, "": true,
}
