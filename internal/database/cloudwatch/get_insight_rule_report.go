package cloudwatch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/engine/insights"
)

// The limits of GetInsightRuleReport.
const (
	contributorsMax     = 100
	contributorsDefault = 10
	insightMetricsMax   = 32
)

// How contributors are ranked.
const (
	bySum     = "Sum"
	byMaximum = "Maximum"
)

// Rules returns what a contributor insights rule counted in [from, to); found is false if the rule does not exist.
type Rules func(name string, from, to time.Time) (report insights.Report, found bool)

// period holds the counts of a rule in a period of a report.
type period struct {
	at              moment
	amounts         map[string]float64 // by contributor, the quoted values of the key
	samples         int64
	lowest, highest float64
}

func (p *period) sum() float64 {
	total := 0.0
	for _, amount := range p.amounts {
		total += amount
	}
	return total
}

// insightMetrics are the statistics of a report's datapoints.
var insightMetrics = map[string]func(*insightRuleMetricDatapoint, *period){
	"UniqueContributors": func(d *insightRuleMetricDatapoint, p *period) { d.UniqueContributors = new(float64(len(p.amounts))) },
	"MaxContributorValue": func(d *insightRuleMetricDatapoint, p *period) {
		d.MaxContributorValue = new(slices.Max(slices.Collect(maps.Values(p.amounts))))
	},
	"SampleCount": func(d *insightRuleMetricDatapoint, p *period) { d.SampleCount = new(float64(p.samples)) },
	"Sum":         func(d *insightRuleMetricDatapoint, p *period) { d.Sum = new(p.sum()) },
	"Minimum":     func(d *insightRuleMetricDatapoint, p *period) { d.Minimum = &p.lowest },
	"Maximum":     func(d *insightRuleMetricDatapoint, p *period) { d.Maximum = &p.highest },
	"Average":     func(d *insightRuleMetricDatapoint, p *period) { d.Average = new(p.sum() / float64(p.samples)) },
}

// getInsightRuleReport returns the ranking of a contributor insights rule.
func (h *Handler) getInsightRuleReport(_ context.Context, in *getInsightRuleReportInput) (*getInsightRuleReportOutput, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	from, to, _ := span(in.StartTime, in.EndTime)
	report, found := h.rules(in.RuleName, from, to)
	if !found {
		return nil, &fault{
			status: http.StatusNotFound, code: "ResourceNotFoundException",
			message: "No table or index has the rule " + in.RuleName + ". DescribeContributorInsights lists the rules.",
		}
	}
	out := &getInsightRuleReportOutput{
		KeyLabels: report.Labels, AggregationStatistic: "SUM",
		Contributors: []insightRuleContributor{}, MetricDatapoints: []insightRuleMetricDatapoint{},
	}
	if report.Event == insights.Throttled {
		out.AggregationStatistic = "COUNT"
	}
	contributors := map[string]*insightRuleContributor{}
	for _, m := range report.Minutes {
		for _, k := range m.Keys {
			values := valuesOf(k)
			contributors[contributor(values)] = &insightRuleContributor{Keys: values}
		}
	}
	for _, p := range periods(report.Minutes, from, *in.Period) {
		point := insightRuleMetricDatapoint{Timestamp: p.at}
		for _, name := range in.Metrics {
			insightMetrics[name](&point, p)
		}
		if len(in.Metrics) > 0 {
			out.MetricDatapoints = append(out.MetricDatapoints, point)
		}
		out.AggregateValue += p.sum()
		for key, amount := range p.amounts {
			c := contributors[key]
			c.ApproximateAggregateValue += amount
			c.Datapoints = append(c.Datapoints, insightRuleContributorDatapoint{p.at, amount})
		}
	}
	out.ApproximateUniqueCount = int64(len(contributors))
	for _, c := range slices.SortedFunc(maps.Values(contributors), in.compare) {
		if len(out.Contributors) == in.limit() {
			break
		}
		out.Contributors = append(out.Contributors, *c)
	}
	return out, nil
}

func valuesOf(k insights.Rank) []string {
	values := make([]string, len(k.Key))
	for i, part := range k.Key {
		values[i] = part.Value
	}
	return values
}

// contributor returns a unique text for the values of a key.
func contributor(values []string) string { return fmt.Sprintf("%q", values) }

// periods aggregates minutes to periods of a number of seconds, oldest first.
func periods(minutes []insights.Counted, from time.Time, seconds int64) []*period {
	var all []*period
	length := time.Duration(seconds) * time.Second
	for _, m := range minutes {
		at := moment{from.Add(m.Minute.Sub(from).Truncate(length))}
		if len(all) == 0 || !all[len(all)-1].at.Equal(at.Time) {
			all = append(all, &period{at: at, amounts: map[string]float64{}, lowest: m.Lowest})
		}
		p := all[len(all)-1]
		for _, k := range m.Keys {
			p.amounts[contributor(valuesOf(k))] += k.Amount
		}
		p.samples += m.Samples
		p.lowest, p.highest = min(p.lowest, m.Lowest), max(p.highest, m.Highest)
	}
	return all
}

// compare ranks contributors; equal ones are ordered by their keys.
func (in *getInsightRuleReportInput) compare(a, b *insightRuleContributor) int {
	rank := func(c *insightRuleContributor) float64 {
		if in.OrderBy != byMaximum {
			return c.ApproximateAggregateValue
		}
		highest := 0.0
		for _, d := range c.Datapoints {
			highest = max(highest, d.ApproximateValue)
		}
		return highest
	}
	return cmp.Or(cmp.Compare(rank(b), rank(a)), slices.Compare(a.Keys, b.Keys))
}

func (in *getInsightRuleReportInput) limit() int {
	if in.MaxContributorCount == nil {
		return contributorsDefault
	}
	return int(*in.MaxContributorCount)
}

func (in *getInsightRuleReportInput) validate() error {
	switch {
	case in.RuleName == "":
		return missing("RuleName")
	case in.StartTime == nil:
		return missing("StartTime")
	case in.EndTime == nil:
		return missing("EndTime")
	case in.Period == nil:
		return missing("Period")
	case *in.Period < 1 || *in.Period > math.MaxInt32:
		return invalidValue("The parameter Period must be greater than or equal to 1.")
	case in.MaxContributorCount != nil && (*in.MaxContributorCount < 1 || *in.MaxContributorCount > contributorsMax):
		return invalidValue("The parameter MaxContributorCount must be a value from 1 to %d.", contributorsMax)
	case in.OrderBy != "" && in.OrderBy != bySum && in.OrderBy != byMaximum:
		return invalidValue("The parameter OrderBy must be a value in the set [ %s, %s ].", bySum, byMaximum)
	case len(in.Metrics) > insightMetricsMax:
		return invalidValue("The collection Metrics must not have a size greater than %d.", insightMetricsMax)
	}
	for i, name := range in.Metrics {
		if insightMetrics[name] == nil {
			return invalidValue("The parameter Metrics.member.%d must be a value in the set [ %s ].",
				i+1, strings.Join(slices.Sorted(maps.Keys(insightMetrics)), ", "))
		}
	}
	if _, _, fault := span(in.StartTime, in.EndTime); fault != "" {
		return invalidValue("%s", fault)
	}
	return nil
}
