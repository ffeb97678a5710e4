package cloudwatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The limits of GetMetricStatistics.
const (
	datapointsMax = 1440
	dimensionsMax = 30
	extendedMax   = 10
)

// getMetricStatistics returns statistics of one metric.
func (h *Handler) getMetricStatistics(ctx context.Context, in *getMetricStatisticsInput) (*getMetricStatisticsOutput, error) {
	wanted, err := in.validate()
	if err != nil {
		return nil, err
	}
	from, to, _ := span(in.StartTime, in.EndTime)
	g := newGraph(metric{in.Namespace, in.MetricName, in.Dimensions}, in.Unit, *in.Period)
	if err := h.draw(ctx, []*graph{g}, from, to); err != nil {
		return nil, err
	}
	out := &getMetricStatisticsOutput{Label: in.MetricName, Datapoints: []datapoint{}}
	for _, at := range slices.Sorted(maps.Keys(g.samples)) {
		p, some := datapoint{Timestamp: moment{from.Add(time.Duration(at) * g.period)}, Unit: g.series.Unit()}, false
		for name, of := range wanted {
			if value, ok := of(g.samples[at]); ok {
				p.put(name, value)
				some = true
			}
		}
		if some {
			out.Datapoints = append(out.Datapoints, p)
		}
	}
	return out, nil
}

func (p *datapoint) put(name string, value float64) {
	switch name {
	case "SampleCount":
		p.SampleCount = &value
	case "Average":
		p.Average = &value
	case "Sum":
		p.Sum = &value
	case "Minimum":
		p.Minimum = &value
	case "Maximum":
		p.Maximum = &value
	default:
		if p.ExtendedStatistics == nil {
			p.ExtendedStatistics = map[string]float64{}
		}
		p.ExtendedStatistics[name] = value
	}
}

// validate checks the input and returns the requested statistics.
func (in *getMetricStatisticsInput) validate() (map[string]statistic, error) {
	for _, required := range []struct {
		name  string
		there bool
	}{
		{"Namespace", in.Namespace != ""},
		{"MetricName", in.MetricName != ""},
		{"StartTime", in.StartTime != nil},
		{"EndTime", in.EndTime != nil},
		{"Period", in.Period != nil},
	} {
		if !required.there {
			return nil, missing(required.name)
		}
	}
	if err := validMetric("", metric{in.Namespace, in.MetricName, in.Dimensions}, in.Unit); err != nil {
		return nil, err
	}
	if !validPeriod(*in.Period) {
		return nil, invalidValue("The parameter Period must be 1, 5, 10, 20, 30, or a multiple of 60.")
	}
	from, to, fault := span(in.StartTime, in.EndTime)
	if fault != "" {
		return nil, invalidValue("%s", fault)
	}
	if n := (int64(to.Sub(from)/time.Second) + *in.Period - 1) / *in.Period; n > datapointsMax {
		return nil, invalidCombination("You have requested up to %d datapoints, which exceeds the limit of %d. "+
			"You may reduce the datapoints requested by increasing Period, or decreasing the time range.", n, datapointsMax)
	}
	return in.statistics()
}

func (in *getMetricStatisticsInput) statistics() (map[string]statistic, error) {
	switch {
	case len(in.Statistics) == 0 && len(in.ExtendedStatistics) == 0:
		return nil, invalidCombination("At least one of the parameters Statistics and ExtendedStatistics must be specified.")
	case len(in.Statistics) > 0 && len(in.ExtendedStatistics) > 0:
		return nil, invalidCombination("The parameters Statistics and ExtendedStatistics cannot be specified together.")
	case len(in.Statistics) > len(simple):
		return nil, invalidValue("The collection Statistics must not have a size greater than %d.", len(simple))
	case len(in.ExtendedStatistics) > extendedMax:
		return nil, invalidValue("The collection ExtendedStatistics must not have a size greater than %d.", extendedMax)
	}
	wanted := map[string]statistic{}
	for i, name := range in.Statistics {
		if wanted[name] = simple[name]; wanted[name] == nil {
			return nil, invalidValue("The parameter Statistics.member.%d must be a value in the set [ %s ].",
				i+1, strings.Join(slices.Sorted(maps.Keys(simple)), ", "))
		}
	}
	for i, name := range in.ExtendedStatistics {
		of, ok := percentile(name)
		if !ok {
			return nil, invalidValue("The value %s for parameter ExtendedStatistics.member.%d is not supported: "+
				"the percentiles p0 to p100 are.", name, i+1)
		}
		wanted[name] = of
	}
	return wanted, nil
}

// validMetric checks the common part of all requests for a metric; at is the prefix of the parameters' names.
func validMetric(at string, m metric, unit string) *fault {
	for _, text := range []struct {
		name, value string
	}{{"Namespace", m.Namespace}, {"MetricName", m.MetricName}} {
		if len(text.value) > 255 {
			return invalidValue("The parameter %s%s must be shorter than 256 characters.", at, text.name)
		}
	}
	if strings.HasPrefix(m.Namespace, ":") {
		return invalidValue("The parameter %sNamespace must not start with ':'.", at)
	}
	if len(m.Dimensions) > dimensionsMax {
		return invalidValue("The collection %sDimensions must not have a size greater than %d.", at, dimensionsMax)
	}
	for i, d := range m.Dimensions {
		where := fmt.Sprintf("%sDimensions.member.%d.", at, i+1)
		if d.Name == "" {
			return missing(where + "Name")
		}
		if d.Value == "" {
			return missing(where + "Value")
		}
	}
	if !units[unit] {
		return invalidValue("The parameter %sUnit must be a unit of CloudWatch, as Count or Milliseconds, not %s.", at, unit)
	}
	return nil
}
