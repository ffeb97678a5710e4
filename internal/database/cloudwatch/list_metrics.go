package cloudwatch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/cloudwatch/history"
)

const (
	metricsMax     = 500 // in one response
	filtersMax     = 10
	recentlyActive = "PT3H"
)

// listMetrics returns the metrics that have data.
func (h *Handler) listMetrics(ctx context.Context, in *listMetricsInput) (*listMetricsOutput, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	after, err := in.after()
	if err != nil {
		return nil, err
	}
	now := h.now()
	from := now.Add(-history.Kept)
	if in.RecentlyActive != "" {
		from = now.Add(-3 * time.Hour)
	}
	found := map[history.Series]bool{}
	err = h.source.Read(ctx, from, now.Add(time.Minute), func(_ time.Time, s history.Series, _ history.Sample) {
		if !found[s] && in.matches(metricOf(s)) {
			found[s] = true
		}
	})
	if err != nil {
		return nil, err
	}
	out := &listMetricsOutput{Metrics: []metric{}}
	var last history.Series
	for _, s := range slices.SortedFunc(maps.Keys(found), history.Series.Compare) {
		switch {
		case after != nil && s.Compare(*after) <= 0:
		case len(out.Metrics) == metricsMax:
			out.NextToken = in.token(last)
			return out, nil
		default:
			out.Metrics, last = append(out.Metrics, metricOf(s)), s
		}
	}
	return out, nil
}

func (in *listMetricsInput) validate() error {
	if len(in.Dimensions) > filtersMax {
		return invalidValue("The collection Dimensions must not have a size greater than %d.", filtersMax)
	}
	for i, d := range in.Dimensions {
		if d.Name == "" {
			return invalidValue("The parameter Dimensions.member.%d.Name is required.", i+1)
		}
	}
	if in.RecentlyActive != "" && in.RecentlyActive != recentlyActive {
		return invalidValue("The parameter RecentlyActive must be a value in the set [ %s ].", recentlyActive)
	}
	return nil
}

// matches reports whether a metric passes the filters; it may have additional dimensions.
func (in *listMetricsInput) matches(m metric) bool {
	if in.Namespace != "" && in.Namespace != m.Namespace || in.MetricName != "" && in.MetricName != m.MetricName {
		return false
	}
	for _, filter := range in.Dimensions {
		if !slices.ContainsFunc(m.Dimensions, func(d dimension) bool {
			return d.Name == filter.Name && (filter.Value == "" || d.Value == filter.Value)
		}) {
			return false
		}
	}
	return true
}

// listToken is the content of a NextToken: the request that it continues, and the last returned metric.
type listToken struct {
	Request uint64
	Last    history.Series
}

// token returns the NextToken after a series.
func (in *listMetricsInput) token(last history.Series) string {
	return sealed(listToken{in.hash(), last})
}

// after returns the series after which the response starts, or nil.
func (in *listMetricsInput) after() (*history.Series, error) {
	if in.NextToken == "" {
		return nil, nil
	}
	var t listToken
	if !opened(in.NextToken, &t) || t.Request != in.hash() {
		return nil, invalidValue("The parameter NextToken is invalid.")
	}
	return &t.Last, nil
}

func (in *listMetricsInput) hash() uint64 {
	request := *in
	request.NextToken = ""
	return hashOf(request)
}

// sealed encodes a token as text, opened decodes it. Tokens are neither secret nor trusted.
func sealed(token any) string {
	data, _ := json.Marshal(token) // strings and numbers can always be encoded
	return base64.URLEncoding.EncodeToString(data)
}

func opened(text string, token any) bool {
	data, err := base64.URLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(data, token) == nil
}
