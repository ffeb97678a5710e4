package sdk

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestCloudWatchAWSCLI and TestCloudWatchBoto3 read metrics with AWS Query, like clients of that age.
func TestCloudWatchAWSCLI(t *testing.T) { run(t, "bash", "cloudwatch.sh", awsCLI) }

func TestCloudWatchBoto3(t *testing.T) { run(t, python, "-B", "cloudwatch_test.py") }

// TestCloudWatchGo reads metrics with the SDK for Go by Smithy RPC v2 CBOR, page by page, and again after a restart of the
// server.
func TestCloudWatchGo(t *testing.T) {
	t.Parallel()
	binary, dir := serverproc.Build(t), t.TempDir()
	server := serverproc.Start(t, binary, "--data", dir)
	table := client(server)
	start := time.Now().Truncate(time.Minute)
	_, err := table.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pk := range []string{"a", "b", "c"} {
		_, err := table.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("orders"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wantWritten(t, server, start, 3)
	wantMetrics(t, server, []string{"ConsumedWriteCapacityUnits", "SuccessfulRequestLatency"})
	server.Stop(t)
	wantWritten(t, serverproc.Start(t, binary, "--data", dir), start, 3)
}

func cloudWatch(s *serverproc.Server) *cloudwatch.Client {
	return cloudwatch.New(cloudwatch.Options{
		BaseEndpoint: &s.Endpoint, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// wantWritten adds up the values written since start through a paginator.
func wantWritten(t *testing.T, s *serverproc.Server, start time.Time, want float64) {
	t.Helper()
	pages := cloudwatch.NewGetMetricDataPaginator(cloudWatch(s), &cloudwatch.GetMetricDataInput{
		StartTime: &start, EndTime: aws.Time(start.Add(time.Hour)), MaxDatapoints: aws.Int32(1),
		MetricDataQueries: []cwtypes.MetricDataQuery{{Id: aws.String("written"), MetricStat: &cwtypes.MetricStat{
			Metric: &cwtypes.Metric{
				Namespace: aws.String("AWS/DynamoDB"), MetricName: aws.String("ConsumedWriteCapacityUnits"),
				Dimensions: []cwtypes.Dimension{{Name: aws.String("TableName"), Value: aws.String("orders")}},
			},
			Period: aws.Int32(60), Stat: aws.String("Sum"),
		}}},
	})
	written := 0.0
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range page.MetricDataResults[0].Values {
			written += value
		}
	}
	if written != want {
		t.Errorf("%v units written, want %v", written, want)
	}
}

func wantMetrics(t *testing.T, s *serverproc.Server, want []string) {
	t.Helper()
	out, err := cloudWatch(s).ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{
		Namespace: aws.String("AWS/DynamoDB"), RecentlyActive: cwtypes.RecentlyActivePt3h,
		Dimensions: []cwtypes.DimensionFilter{{Name: aws.String("TableName"), Value: aws.String("orders")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range out.Metrics {
		names = append(names, *m.MetricName)
	}
	if names = slices.Compact(names); !slices.Equal(names, want) {
		t.Errorf("metrics %v, want %v", names, want)
	}
}
