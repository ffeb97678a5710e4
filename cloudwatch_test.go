package monotable_test

import (
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable"
)

// stoppedClock is a clock that only moves when it is set.
type stoppedClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *stoppedClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *stoppedClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// watched is a database with a table "things", whose metrics are read by the SDK over a socket.
type watched struct {
	*testing.T
	db     *monotable.DB
	client *cloudwatch.Client
	start  time.Time
}

func openWatched(t *testing.T, dir string, clock *stoppedClock) *watched {
	t.Helper()
	db, err := monotable.Open(dir, &monotable.Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	client := cloudwatch.New(cloudwatch.Options{
		BaseEndpoint: aws.String(server.URL), Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("any", "any", ""), RetryMaxAttempts: 1,
	})
	return &watched{t, db, client, clock.now()}
}

// createThings creates a table with a global and a local index, provisioned with 7 and 5 units.
func (w *watched) createThings() {
	w.Helper()
	_, err := w.db.Client().CreateTable(w.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"),
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"},
			{AttributeName: aws.String("sk"), AttributeType: "S"},
			{AttributeName: aws.String("g"), AttributeType: "S"},
		},
		KeySchema:             []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
		ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(7), WriteCapacityUnits: aws.Int64(5)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byG"), Projection: &types.Projection{ProjectionType: "ALL"},
			KeySchema:             []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: "HASH"}},
			ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(3), WriteCapacityUnits: aws.Int64(2)},
		}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName: aws.String("byL"), Projection: &types.Projection{ProjectionType: "KEYS_ONLY"},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("g"), KeyType: "RANGE"}},
		}},
	})
	if err != nil {
		w.Fatal(err)
	}
}

func textOf(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// put writes an item of approximately that many bytes.
func (w *watched) put(pk string, bytes int) {
	w.Helper()
	_, err := w.db.Client().PutItem(w.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("things"),
		Item:      map[string]types.AttributeValue{"pk": textOf(pk), "sk": textOf("1"), "v": textOf(strings.Repeat("x", bytes))},
	})
	if err != nil {
		w.Fatal(err)
	}
}

// data returns the values of one metric by minutes since the start, from then to an hour later.
func (w *watched) data(name, stat string, period int32, dimensions ...string) map[int]float64 {
	w.Helper()
	out, err := w.client.GetMetricData(w.Context(), &cloudwatch.GetMetricDataInput{
		StartTime: &w.start, EndTime: aws.Time(w.start.Add(time.Hour)),
		MetricDataQueries: []cwtypes.MetricDataQuery{{Id: aws.String("m"), MetricStat: &cwtypes.MetricStat{
			Metric: metricNamed(name, dimensions...), Period: &period, Stat: &stat,
		}}},
	})
	if err != nil {
		w.Fatal(err)
	}
	r := out.MetricDataResults[0]
	if len(out.MetricDataResults) != 1 || *r.Label != name || r.StatusCode != "Complete" || len(r.Timestamps) != len(r.Values) {
		w.Fatalf("%+v", out)
	}
	values := map[int]float64{}
	for i, at := range r.Timestamps {
		values[int(at.Sub(w.start)/time.Minute)] = r.Values[i]
	}
	return values
}

// metricNamed is a metric with its dimensions: names and values in turn.
func metricNamed(name string, dimensions ...string) *cwtypes.Metric {
	m := &cwtypes.Metric{Namespace: aws.String("AWS/DynamoDB"), MetricName: &name}
	for i := 0; i < len(dimensions); i += 2 {
		m.Dimensions = append(m.Dimensions, cwtypes.Dimension{Name: &dimensions[i], Value: &dimensions[i+1]})
	}
	return m
}

func (w *watched) want(got map[int]float64, want map[int]float64, what string) {
	w.Helper()
	if !maps.Equal(got, want) {
		w.Errorf("%s: %v, want %v", what, got, want)
	}
}

// settle ends the minute.
func (w *watched) settle(clock *stoppedClock) {
	w.Helper()
	clock.advance(time.Minute)
	if err := w.db.SettleMetrics(w.Context()); err != nil {
		w.Fatal(err)
	}
}

var watchStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestMetricDataByMinute: consumption is counted in the minute in which it occurred, and periods add minutes up.
func TestMetricDataByMinute(t *testing.T) {
	clock := &stoppedClock{at: watchStart}
	w := openWatched(t, t.TempDir(), clock)
	w.createThings()
	things := []string{"TableName", "things"}
	w.put("a", 100)  // 1 unit
	w.put("b", 2500) // 3 units
	w.settle(clock)
	w.put("c", 1500) // 2 units
	const consumed = "ConsumedWriteCapacityUnits"
	w.want(w.data(consumed, "Sum", 60, things...), map[int]float64{0: 4, 1: 2}, "sum")
	w.want(w.data(consumed, "SampleCount", 60, things...), map[int]float64{0: 2, 1: 1}, "count")
	w.want(w.data(consumed, "Average", 60, things...), map[int]float64{0: 2, 1: 2}, "average")
	w.want(w.data(consumed, "Minimum", 60, things...), map[int]float64{0: 1, 1: 2}, "minimum")
	w.want(w.data(consumed, "Maximum", 60, things...), map[int]float64{0: 3, 1: 2}, "maximum")
	w.want(w.data(consumed, "Sum", 300, things...), map[int]float64{0: 6}, "sum of five minutes")
	w.want(w.data(consumed, "p99", 60, things...), map[int]float64{1: 2}, "a percentile of equal values")
	w.want(w.data(consumed, "Sum", 60), nil, "no dimensions")
	w.want(w.data(consumed, "Sum", 60, "TableName", "other"), nil, "another table")
	w.want(w.data("ProvisionedReadCapacityUnits", "Average", 60, things...), map[int]float64{0: 7, 1: 7}, "provisioned")
	w.want(w.data("ProvisionedWriteCapacityUnits", "Maximum", 60, "TableName", "things", "GlobalSecondaryIndexName", "byG"),
		map[int]float64{0: 2, 1: 2}, "provisioned of an index")
	w.want(w.data("SuccessfulRequestLatency", "SampleCount", 60, "TableName", "things", "Operation", "PutItem"),
		map[int]float64{0: 2, 1: 1}, "latencies")
}

// TestMetricsSurviveReopening: Close writes the current minute, and the same minute continues after the database is reopened.
func TestMetricsSurviveReopening(t *testing.T) {
	clock, dir := &stoppedClock{at: watchStart}, t.TempDir()
	t.Run("before", func(t *testing.T) {
		w := openWatched(t, dir, clock)
		w.createThings()
		w.put("a", 100)
		w.settle(clock)
		w.put("b", 1500)
	})
	w := openWatched(t, dir, clock)
	w.start = watchStart
	w.put("c", 2500)
	w.want(w.data("ConsumedWriteCapacityUnits", "Sum", 60, "TableName", "things"), map[int]float64{0: 1, 1: 5}, "sum")
	w.want(w.data("ConsumedWriteCapacityUnits", "Maximum", 60, "TableName", "things"), map[int]float64{0: 1, 1: 3}, "maximum")
	if _, err := w.db.Verify(t.Context(), func(f monotable.Finding) { t.Error(f) }, nil); err != nil {
		t.Error(err)
	}
	clock.advance(15 * time.Hour)
	w.settle(clock)
	clock.advance(time.Minute)
	w.settle(clock)
	w.want(w.data("ConsumedWriteCapacityUnits", "Sum", 60, "TableName", "things"), nil, "after 15 hours")
}

// TestMetricErrorsOverCBOR: the newest SDK gets the codes that AWS documents.
func TestMetricErrorsOverCBOR(t *testing.T) {
	clock := &stoppedClock{at: watchStart}
	w := openWatched(t, t.TempDir(), clock)
	_, err := w.client.GetMetricStatistics(t.Context(), &cloudwatch.GetMetricStatisticsInput{
		Namespace: aws.String("AWS/DynamoDB"), MetricName: aws.String("UserErrors"), Period: aws.Int32(61),
		StartTime: &w.start, EndTime: aws.Time(w.start.Add(time.Hour)), Statistics: []cwtypes.Statistic{"Sum"},
	})
	var shape *cwtypes.InvalidParameterValueException
	var coded smithy.APIError
	if !errors.As(err, &shape) || !errors.As(err, &coded) || coded.ErrorCode() != "InvalidParameterValue" {
		t.Errorf("%v", err)
	}
}

// TestInsightRuleReport: each rule that DescribeContributorInsights lists has a report, of a table and of an index.
func TestInsightRuleReport(t *testing.T) {
	clock := &stoppedClock{at: watchStart}
	w := openWatched(t, t.TempDir(), clock)
	w.createThings()
	rules := map[string]string{}
	for _, index := range []*string{nil, aws.String("byG")} {
		_, err := w.db.Client().UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
			TableName: aws.String("things"), IndexName: index, ContributorInsightsAction: types.ContributorInsightsActionEnable,
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.db.Client().DescribeContributorInsights(t.Context(), &dynamodb.DescribeContributorInsightsInput{
			TableName: aws.String("things"), IndexName: index,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range out.ContributorInsightsRuleList {
			rules[strings.Split(rule, "-")[1]+aws.ToString(index)] = rule
		}
	}
	w.put("a", 100)  // 1 unit
	w.put("b", 2500) // 3 units
	clock.advance(time.Minute)
	w.put("a", 100)
	type want struct {
		labels, statistic string
		keys              []string
		values            []float64
	}
	for name, want := range map[string]want{
		"PKC":    {"pk", "SUM", []string{"b", "a"}, []float64{3, 2}},
		"SKC":    {"pk sk", "SUM", []string{"b 1", "a 1"}, []float64{3, 2}},
		"PKT":    {"pk", "COUNT", nil, nil},
		"SKT":    {"pk sk", "COUNT", nil, nil},
		"PKCbyG": {"g", "SUM", nil, nil},
		"PKTbyG": {"g", "COUNT", nil, nil},
	} {
		out, err := w.client.GetInsightRuleReport(t.Context(), &cloudwatch.GetInsightRuleReportInput{
			RuleName: aws.String(rules[name]), StartTime: &w.start, EndTime: aws.Time(w.start.Add(time.Hour)), Period: aws.Int32(60),
			Metrics: []string{"Sum", "UniqueContributors"},
		})
		if err != nil {
			t.Fatal(name, err)
		}
		var keys []string
		var values []float64
		for _, c := range out.Contributors {
			keys, values = append(keys, strings.Join(c.Keys, " ")), append(values, *c.ApproximateAggregateValue)
		}
		if strings.Join(out.KeyLabels, " ") != want.labels || *out.AggregationStatistic != want.statistic ||
			!slices.Equal(keys, want.keys) || !slices.Equal(values, want.values) {
			t.Errorf("%s: %v %v %v %v, want %v", name, out.KeyLabels, *out.AggregationStatistic, keys, values, want)
		}
		if points := out.MetricDatapoints; name == "PKC" && (len(points) != 2 || *points[0].Sum != 4 || *points[1].Sum != 1 || *points[0].UniqueContributors != 2) {
			t.Errorf("%s: %+v", name, points)
		}
	}
	_, err := w.client.GetInsightRuleReport(t.Context(), &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String(rules["PKC"] + "0"), StartTime: &w.start, EndTime: aws.Time(w.start.Add(time.Hour)), Period: aws.Int32(60),
	})
	if _, gone := errors.AsType[*cwtypes.ResourceNotFoundException](err); !gone {
		t.Errorf("no such rule: %v", err)
	}
}
