package monotable_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
)

// limited is a database that enforces capacity, with a fixed clock, and a client that does not retry.
type limited struct {
	*testing.T
	*dynamodb.Client
	clock    *stoppedClock
	registry *prometheus.Registry
}

func openLimited(t *testing.T) *limited {
	t.Helper()
	clock := &stoppedClock{at: time.Now()}
	db, err := monotable.OpenMemory(&monotable.Options{Now: clock.now, EnforceCapacity: true})
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
	registry := prometheus.NewRegistry()
	registry.MustRegister(db.Collector())
	return &limited{t, dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(server.URL), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("any", "any", ""),
	}), clock, registry}
}

// create creates a table with a key pk and an index byG on g.
func (l *limited) create(name string, throughput *types.ProvisionedThroughput, more func(*dynamodb.CreateTableInput)) {
	l.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: &name, ProvisionedThroughput: throughput,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("g"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byG"), Projection: &types.Projection{ProjectionType: "KEYS_ONLY"}, ProvisionedThroughput: throughput,
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: "HASH"}},
		}},
	}
	if throughput == nil {
		in.BillingMode = types.BillingModePayPerRequest
	}
	if more != nil {
		more(in)
	}
	if _, err := l.CreateTable(l.Context(), in); err != nil {
		l.Fatal(err)
	}
}

func (l *limited) put(table, key string, size int, g ...string) error {
	it := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: key}, "t": &types.AttributeValueMemberS{Value: strings.Repeat("x", size)},
	}
	for _, value := range g {
		it["g"] = &types.AttributeValueMemberS{Value: value}
	}
	_, err := l.PutItem(l.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it})
	return err
}

// wantReasons checks the reasons that an error gives: the reason, and the end of the resource's ARN.
func (l *limited) wantReasons(reasons []types.ThrottlingReason, want ...string) {
	l.Helper()
	var got []string
	for _, r := range reasons {
		got = append(got, *r.Reason+" "+strings.TrimPrefix(*r.Resource, "arn:aws:dynamodb:us-east-1:000000000000:table/"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.Error(diff)
	}
}

// TestThrottlingOverSDK: the SDK sees each of AWS's exceptions, with its reasons.
func TestThrottlingOverSDK(t *testing.T) {
	l := openLimited(t)
	l.create("provisioned", &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}, nil)
	if err := l.put("provisioned", "a", 0, "x"); err != nil {
		t.Fatal(err)
	}
	exceeded, ok := errors.AsType[*types.ProvisionedThroughputExceededException](l.put("provisioned", "b", 0, "x"))
	if !ok || !strings.HasPrefix(exceeded.ErrorMessage(), "The level of configured provisioned throughput for the table was exceeded.") {
		t.Fatalf("%v", exceeded)
	}
	l.wantReasons(exceeded.ThrottlingReasons,
		"TableWriteProvisionedThroughputExceeded provisioned", "IndexWriteProvisionedThroughputExceeded provisioned/index/byG")

	l.create("ondemand", nil, nil)
	for range 2 {
		if err := l.put("ondemand", "hot", 400_000); err != nil {
			t.Fatal(err)
		}
	}
	throttled, ok := errors.AsType[*types.ThrottlingException](l.put("ondemand", "hot", 400_000))
	if !ok || !strings.HasPrefix(throttled.ErrorMessage(), "Throughput exceeds the current capacity of your table or index.") {
		t.Fatalf("%v", throttled)
	}
	l.wantReasons(throttled.ThrottlingReasons, "TableWriteKeyRangeThroughputExceeded ondemand")

	want := map[string]float64{
		" WriteProvisionedThroughput provisioned": 1, "byG WriteProvisionedThroughput provisioned": 1, " WriteKeyRangeThroughput ondemand": 1,
	}
	if diff := cmp.Diff(want, series(t, l.registry, "monotable_throttle_events_total")); diff != "" {
		t.Error(diff)
	}
	l.clock.advance(time.Second)
	if err := errors.Join(l.put("provisioned", "b", 0), l.put("ondemand", "hot", 400_000)); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// TestAccountLimitOverSDK: the account's quota is 40,000 units a second for an on-demand table, whatever its warm throughput.
func TestAccountLimitOverSDK(t *testing.T) {
	l := openLimited(t)
	l.create("ondemand", nil, func(in *dynamodb.CreateTableInput) {
		in.WarmThroughput = &types.WarmThroughput{ReadUnitsPerSecond: aws.Int64(200_000)}
	})
	const keys = 60
	for i := range keys {
		l.clock.advance(time.Second)
		if err := l.put("ondemand", fmt.Sprint(i), 400_000); err != nil {
			t.Fatal(err)
		}
	}
	consumed := 0.0
	for i := range 10 * keys {
		out, err := l.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("ondemand"), KeyConditionExpression: aws.String("pk = :p"), ConsistentRead: aws.Bool(true), Select: types.SelectCount,
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: fmt.Sprint(i % keys)}},
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		})
		if exceeded, ok := errors.AsType[*types.RequestLimitExceeded](err); ok {
			l.wantReasons(exceeded.ThrottlingReasons, "TableReadAccountLimitExceeded ondemand")
			if consumed < 40_000 || consumed > 40_100 {
				t.Errorf("after %v units, want 40,000", consumed)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		consumed += *out.ConsumedCapacity.CapacityUnits
	}
	t.Errorf("no limit after %v units", consumed)
}

// TestBatchesOverSDK: the rest of a batch is resent until nothing is left, as programs do.
func TestBatchesOverSDK(t *testing.T) {
	l := openLimited(t)
	l.create("things", &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(2), WriteCapacityUnits: aws.Int64(3)}, nil)
	var requests []types.WriteRequest
	for i := range 10 {
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
		}}})
	}
	seconds := 0
	for rest := map[string][]types.WriteRequest{"things": requests}; len(rest) > 0; seconds++ {
		out, err := l.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: rest})
		if err != nil {
			t.Fatal(err)
		}
		rest = out.UnprocessedItems
		l.clock.advance(time.Second)
	}
	if seconds != 4 {
		t.Errorf("10 writes took %d seconds at 3 a second, want 4", seconds)
	}
	pages, count := 0, int32(0)
	p := dynamodb.NewScanPaginator(l, &dynamodb.ScanInput{TableName: aws.String("things"), ConsistentRead: aws.Bool(true)})
	for p.HasMorePages() {
		out, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages++
		count += out.Count
	}
	if count != 10 {
		t.Errorf("%d items on %d pages", count, pages)
	}
}
