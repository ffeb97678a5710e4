package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"time"
)

// The limits of GetMetricData.
const (
	queriesMax = 500
	valuesMax  = 100_800
)

const (
	ascending  = "TimestampAscending"
	descending = "TimestampDescending"
)

const (
	complete    = "Complete"
	partialData = "PartialData"
)

var idPattern = regexp.MustCompile(`^[a-z][a-zA-Z0-9_]*$`)

// value is one point of a query's graph.
type value struct {
	query int
	at    int64 // seconds since the epoch
	value float64
}

// dataToken is the content of a NextToken: the request that it continues, and the last returned value.
type dataToken struct {
	Request uint64
	At      int64
	Query   int
}

// getMetricData returns the values of several metrics.
func (h *Handler) getMetricData(ctx context.Context, in *getMetricDataInput) (*getMetricDataOutput, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	after, err := in.after()
	if err != nil {
		return nil, err
	}
	values, err := h.values(ctx, in)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(values, in.compare)
	if after != nil {
		next, found := slices.BinarySearchFunc(values, value{query: after.Query, at: after.At}, in.compare)
		if found {
			next++
		}
		values = values[next:]
	}
	page := values[:min(len(values), in.limit())]
	out := &getMetricDataOutput{MetricDataResults: []metricDataResult{}, Messages: []messageData{}}
	results := map[int]int{} // by query
	for i, q := range in.MetricDataQueries {
		if q.ReturnData == nil || *q.ReturnData {
			results[i] = len(out.MetricDataResults)
			out.MetricDataResults = append(out.MetricDataResults, metricDataResult{
				ID: q.ID, Label: q.label(), Timestamps: []moment{}, Values: []float64{}, StatusCode: complete,
			})
		}
	}
	for _, v := range page {
		r := &out.MetricDataResults[results[v.query]]
		r.Timestamps, r.Values = append(r.Timestamps, moment{time.Unix(v.at, 0).UTC()}), append(r.Values, v.value)
	}
	for _, v := range values[len(page):] {
		out.MetricDataResults[results[v.query]].StatusCode = partialData
	}
	if len(page) < len(values) {
		last := page[len(page)-1]
		out.NextToken = sealed(dataToken{in.hash(), last.at, last.query})
	}
	return out, nil
}

// values returns the values of all queries that return data, unordered.
func (h *Handler) values(ctx context.Context, in *getMetricDataInput) ([]value, error) {
	m := &metricMath{
		queries: in.MetricDataQueries, series: make([]points, len(in.MetricDataQueries)),
		begun: make([]bool, len(in.MetricDataQueries)), budget: mathBudget,
	}
	if err := h.measure(ctx, in, m.series); err != nil {
		return nil, err
	}
	var values []value
	for i, q := range in.MetricDataQueries {
		if m.series[i] == nil {
			if err := m.evaluate(i); err != nil {
				return nil, err
			}
		}
		if q.ReturnData != nil && !*q.ReturnData {
			continue
		}
		for at, v := range m.series[i] {
			values = append(values, value{i, at, v})
		}
	}
	return values, nil
}

// measure sets the series of the queries that are metrics.
func (h *Handler) measure(ctx context.Context, in *getMetricDataInput, series []points) error {
	from, to, _ := span(in.StartTime, in.EndTime)
	graphs := map[int]*graph{}
	for i, q := range in.MetricDataQueries {
		if q.MetricStat != nil {
			graphs[i] = newGraph(*q.MetricStat.Metric, q.MetricStat.Unit, *q.MetricStat.Period)
		}
	}
	if err := h.draw(ctx, slices.Collect(maps.Values(graphs)), from, to); err != nil {
		return err
	}
	for i, g := range graphs {
		of, _ := statisticOf(in.MetricDataQueries[i].MetricStat.Stat)
		series[i] = points{}
		for at, sample := range g.samples {
			if v, ok := of(sample); ok {
				series[i][from.Add(time.Duration(at)*g.period).Unix()] = v
			}
		}
	}
	return nil
}

// compare orders values as in pages: by time, then by query.
func (in *getMetricDataInput) compare(a, b value) int {
	byTime := cmp.Compare(a.at, b.at)
	if in.ScanBy != ascending {
		byTime = -byTime
	}
	return cmp.Or(byTime, cmp.Compare(a.query, b.query))
}

func (in *getMetricDataInput) limit() int {
	if in.MaxDatapoints == nil {
		return valuesMax
	}
	return int(*in.MaxDatapoints)
}

func (in *getMetricDataInput) after() (*dataToken, error) {
	if in.NextToken == "" {
		return nil, nil
	}
	var t dataToken
	if !opened(in.NextToken, &t) || t.Request != in.hash() {
		return nil, errToken
	}
	return &t, nil
}

func (in *getMetricDataInput) hash() uint64 {
	request := *in
	request.NextToken, request.MaxDatapoints = "", nil
	return hashOf(request)
}

func hashOf(request any) uint64 {
	data, _ := json.Marshal(request) // strings, numbers and times can always be encoded
	h := fnv.New64a()
	_, _ = h.Write(data)
	return h.Sum64()
}

func (in *getMetricDataInput) validate() error {
	switch {
	case len(in.MetricDataQueries) == 0:
		return missing("MetricDataQueries")
	case in.StartTime == nil:
		return missing("StartTime")
	case in.EndTime == nil:
		return missing("EndTime")
	case len(in.MetricDataQueries) > queriesMax:
		return invalid("The collection MetricDataQueries must not have a size greater than %d.", queriesMax)
	case in.ScanBy != "" && in.ScanBy != ascending && in.ScanBy != descending:
		return invalid("The parameter ScanBy must be a value in the set [ %s, %s ].", descending, ascending)
	case in.MaxDatapoints != nil && (*in.MaxDatapoints < 1 || *in.MaxDatapoints > valuesMax):
		return invalid("The parameter MaxDatapoints must be a value from 1 to %d.", valuesMax)
	}
	if _, _, fault := span(in.StartTime, in.EndTime); fault != "" {
		return invalid("%s", fault)
	}
	ids := map[string]bool{}
	for i := range in.MetricDataQueries {
		q := &in.MetricDataQueries[i]
		if err := q.validate(fmt.Sprintf("MetricDataQueries.member.%d.", i+1)); err != nil {
			return err
		}
		if ids[q.ID] {
			return invalid("The values for parameter id in MetricDataQueries are not unique.")
		}
		ids[q.ID] = true
	}
	return nil
}

// validate checks one query; at is the prefix of its parameters' names.
func (q *metricDataQuery) validate(at string) error {
	switch {
	case q.ID == "":
		return missing(at + "Id")
	case len(q.ID) > 255 || !idPattern.MatchString(q.ID):
		return invalid("The value %s for parameter %sId is not matching the expected pattern %s.", q.ID, at, idPattern)
	case q.Expression != "" && q.MetricStat != nil:
		return invalid("The parameters %[1]sExpression and %[1]sMetricStat are mutually exclusive and you have specified both.", at)
	case len(q.Expression) > expressionMax:
		return invalid("The parameter %sExpression must not be longer than %d characters.", at, expressionMax)
	case q.Expression != "":
		return nil
	case q.MetricStat == nil:
		return missing(at + "MetricStat")
	}
	at += "MetricStat."
	stat := q.MetricStat
	switch {
	case stat.Metric == nil:
		return missing(at + "Metric")
	case stat.Metric.Namespace == "":
		return missing(at + "Metric.Namespace")
	case stat.Metric.MetricName == "":
		return missing(at + "Metric.MetricName")
	case stat.Period == nil:
		return missing(at + "Period")
	case stat.Stat == "":
		return missing(at + "Stat")
	case !validPeriod(*stat.Period):
		return invalid("The value %d for parameter %sPeriod is invalid: it must be 1, 5, 10, 20, 30, or a multiple of 60.", *stat.Period, at)
	}
	if _, ok := statisticOf(stat.Stat); !ok {
		return invalid("The value %s for parameter %sStat is not supported.", stat.Stat, at)
	}
	if err := validMetric(at+"Metric.", *stat.Metric, stat.Unit); err != nil {
		return err
	}
	return nil
}
