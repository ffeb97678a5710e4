package cloudwatch

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// The shapes of the API, with the names in its model. Their members are decoded from and encoded to all three protocols by name.
// A nil pointer or slice means that the member is missing.

type dimension struct{ Name, Value string }

type metric struct {
	Namespace, MetricName string
	Dimensions            []dimension
}

type metricStat struct {
	Metric     *metric
	Period     *int64
	Stat, Unit string
}

type metricDataQuery struct {
	ID         string `json:"Id"`
	MetricStat *metricStat
	Expression string
	Label      *string
	ReturnData *bool
	Period     *int64
	AccountID  string `json:"AccountId"`
}

type getMetricDataInput struct {
	MetricDataQueries  []metricDataQuery
	StartTime, EndTime *moment
	NextToken, ScanBy  string
	MaxDatapoints      *int64
}

type metricDataResult struct {
	ID         string `json:"Id"`
	Label      string
	Timestamps []moment
	Values     []float64
	StatusCode string
}

type messageData struct{ Code, Value string }

type getMetricDataOutput struct {
	MetricDataResults []metricDataResult
	NextToken         string        `json:",omitempty"`
	Messages          []messageData // always empty, and always present
}

type getMetricStatisticsInput struct {
	Namespace, MetricName          string
	Dimensions                     []dimension
	StartTime, EndTime             *moment
	Period                         *int64
	Statistics, ExtendedStatistics []string
	Unit                           string
}

type datapoint struct {
	Timestamp          moment
	SampleCount        *float64 `json:",omitempty"`
	Average            *float64 `json:",omitempty"`
	Sum                *float64 `json:",omitempty"`
	Minimum            *float64 `json:",omitempty"`
	Maximum            *float64 `json:",omitempty"`
	Unit               string
	ExtendedStatistics map[string]float64 `json:",omitempty"`
}

type getMetricStatisticsOutput struct {
	Label      string
	Datapoints []datapoint
}

type listMetricsInput struct {
	Namespace, MetricName     string
	Dimensions                []dimension
	NextToken, RecentlyActive string
	OwningAccount             string
	IncludeLinkedAccounts     *bool
}

type listMetricsOutput struct {
	Metrics   []metric
	NextToken string `json:",omitempty"`
}

type getInsightRuleReportInput struct {
	RuleName                    string
	StartTime, EndTime          *moment
	Period, MaxContributorCount *int64
	Metrics                     []string
	OrderBy                     string
}

type insightRuleContributorDatapoint struct {
	Timestamp        moment
	ApproximateValue float64
}

type insightRuleContributor struct {
	Keys                      []string
	ApproximateAggregateValue float64
	Datapoints                []insightRuleContributorDatapoint
}

type insightRuleMetricDatapoint struct {
	Timestamp           moment
	UniqueContributors  *float64 `json:",omitempty"`
	MaxContributorValue *float64 `json:",omitempty"`
	SampleCount         *float64 `json:",omitempty"`
	Average             *float64 `json:",omitempty"`
	Sum                 *float64 `json:",omitempty"`
	Minimum             *float64 `json:",omitempty"`
	Maximum             *float64 `json:",omitempty"`
}

type getInsightRuleReportOutput struct {
	KeyLabels              []string
	AggregationStatistic   string
	AggregateValue         float64
	ApproximateUniqueCount int64
	Contributors           []insightRuleContributor
	MetricDatapoints       []insightRuleMetricDatapoint
}

// moment is a timestamp: seconds since the epoch in JSON and CBOR, RFC 3339 in AWS Query.
//
//nolint:recvcheck // decoding changes it, encoding takes it as a value
type moment struct{ time.Time }

// The valid years of a timestamp, which keep arithmetic in range.
const firstYear, lastYear = 1970, 9999

func (t *moment) set(at time.Time) error {
	if at = at.UTC(); at.Year() < firstYear || at.Year() > lastYear {
		return fmt.Errorf("timestamp is not in the years %d to %d", firstYear, lastYear)
	}
	t.Time = at
	return nil
}

func (t *moment) setSeconds(seconds float64) error {
	if !(math.Abs(seconds) < 1<<40) { // false for NaN
		return fmt.Errorf("timestamp is not in the years %d to %d", firstYear, lastYear)
	}
	return t.set(time.UnixMilli(int64(math.Round(seconds * 1000))))
}

// setText parses ISO 8601, or seconds since the epoch.
func (t *moment) setText(text string) error {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return t.set(at)
		}
	}
	return fmt.Errorf("timestamp must follow ISO8601")
}

func (t moment) text() string { return t.Format("2006-01-02T15:04:05.999Z07:00") }

func (t *moment) UnmarshalJSON(data []byte) error {
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err == nil {
		return t.setSeconds(seconds)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("timestamp is neither a number nor a string")
	}
	return t.setText(text)
}

func (t moment) MarshalJSON() ([]byte, error) { return json.Marshal(float64(t.UnixMilli()) / 1000) }

// epochTag marks seconds since the epoch.
const epochTag = 1

func (t *moment) UnmarshalCBOR(data []byte) error {
	var seconds float64
	tag := cbor.RawTag{}
	if err := cbor.Unmarshal(data, &tag); err == nil && tag.Number == epochTag {
		data = tag.Content
	}
	if err := cbor.Unmarshal(data, &seconds); err != nil {
		return fmt.Errorf("timestamp is not a number of seconds")
	}
	return t.setSeconds(seconds)
}

func (t moment) MarshalCBOR() ([]byte, error) {
	return cbor.Marshal(cbor.Tag{Number: epochTag, Content: float64(t.UnixMilli()) / 1000})
}
