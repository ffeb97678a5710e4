package cluster

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
)

// TestClockSetForward: a leader whose clock is two days ahead expires items by PostgreSQL's clock, and keeps the metrics of the
// last hours.
func TestClockSetForward(t *testing.T) {
	url := postgrestest.URL("clock", postgres)
	open := func(ahead time.Duration) (*monotable.DB, func()) {
		db, err := monotable.OpenStore(t.Context(), url, &monotable.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		return db, func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	right, closeRight := open(0)
	begun := time.Now()
	createTable(t, right.Client())
	expire(t, right.Client()) // writes an expired item
	poll(t, "the item has expired", func() bool { return get(t, right.Client(), 2000) == 0 })
	closeRight()

	wrong, closeWrong := open(48 * time.Hour)
	for item, at := range map[int]time.Time{3000: time.Now().Add(time.Hour), 2000: time.Now().Add(-time.Second)} {
		_, err := wrong.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: fmt.Sprint("writer", item)}, "n": &types.AttributeValueMemberN{Value: "1"},
			"exp": &types.AttributeValueMemberN{Value: fmt.Sprint(at.Unix())},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	poll(t, "the item that is due has expired", func() bool { return get(t, wrong.Client(), 2000) == 0 })
	if get(t, wrong.Client(), 3000) == 0 {
		t.Error("an item has expired an hour before its time")
	}
	closeWrong()

	again, closeAgain := open(0)
	defer closeAgain()
	server := httptest.NewServer(again.Handler())
	defer server.Close()
	metrics := cloudwatch.New(cloudwatch.Options{BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("any", "any", "")})
	out, err := metrics.ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{Namespace: aws.String("AWS/DynamoDB"), MetricName: aws.String("TimeToLiveDeletedItemCount")})
	if err != nil || len(out.Metrics) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	counted, err := metrics.GetMetricStatistics(t.Context(), &cloudwatch.GetMetricStatisticsInput{
		Namespace: out.Metrics[0].Namespace, MetricName: out.Metrics[0].MetricName, Dimensions: out.Metrics[0].Dimensions,
		StartTime: aws.Time(begun.Truncate(time.Minute)), EndTime: aws.Time(time.Now().Add(time.Minute)), Period: aws.Int32(60), Statistics: []cwtypes.Statistic{cwtypes.StatisticSum},
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, p := range counted.Datapoints {
		sum += *p.Sum
	}
	if sum != 2 {
		t.Errorf("the metrics of the last minutes count %v expired items, want 2", sum)
	}
}
