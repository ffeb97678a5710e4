package monotable_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/monotable/monotable"
)

// openMeasured opens a database on disk with a table "things" that has a local and a global index.
func openMeasured(t *testing.T, o *monotable.Options) (*monotable.DB, *prometheus.Registry) {
	t.Helper()
	db, err := monotable.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"},
			{AttributeName: aws.String("sk"), AttributeType: "S"},
			{AttributeName: aws.String("g"), AttributeType: "S"},
			{AttributeName: aws.String("l"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byG"), Projection: &types.Projection{ProjectionType: "ALL"},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: "HASH"}},
		}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName: aws.String("byL"), Projection: &types.Projection{ProjectionType: "KEYS_ONLY"},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("l"), KeyType: "RANGE"}},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "KEYS_ONLY"},
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(db.Collector())
	return db, registry
}

// series returns the values of a metric, by the values of its labels, which are sorted by name. For a histogram it returns the
// count.
func series(t *testing.T, registry *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			found[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return found
}

func item(key string, more ...string) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: key}}
	for i := 0; i < len(more); i += 2 {
		it[more[i]] = &types.AttributeValueMemberS{Value: more[i+1]}
	}
	return it
}

// ledger adds up the capacity that responses report.
type ledger struct{ read, write map[string]float64 }

func (l *ledger) add(units map[string]float64, c *types.ConsumedCapacity) {
	units[" things"] += aws.ToFloat64(c.Table.CapacityUnits)
	for _, indexes := range []map[string]types.Capacity{c.GlobalSecondaryIndexes, c.LocalSecondaryIndexes} {
		for name, x := range indexes {
			units[name+" things"] += aws.ToFloat64(x.CapacityUnits)
		}
	}
}

// TestConsumedCapacityMetrics: the metrics equal what the responses report, for every operation on items, whether or not a report
// was requested.
func TestConsumedCapacityMetrics(t *testing.T) {
	count := func(report types.ReturnConsumedCapacity) (reported, counted ledger) {
		db, registry := openMeasured(t, nil)
		reported = ledger{map[string]float64{}, map[string]float64{}}
		useEveryOperation(t, db.Client(), report, &reported)
		return reported, ledger{
			series(t, registry, "monotable_consumed_read_capacity_units_total"),
			series(t, registry, "monotable_consumed_write_capacity_units_total"),
		}
	}
	nothing := cmpopts.IgnoreMapEntries(func(_ string, units float64) bool { return units == 0 })
	reported, counted := count(types.ReturnConsumedCapacityIndexes)
	if diff := cmp.Diff(reported, counted, cmp.AllowUnexported(ledger{}), nothing); diff != "" {
		t.Errorf("units reported (-) and counted (+):\n%s", diff)
	}
	if len(reported.read) != 3 || len(reported.write) != 3 {
		t.Errorf("the operations did not reach the table and both indexes: %v", reported)
	}
	_, unasked := count(types.ReturnConsumedCapacityNone)
	if diff := cmp.Diff(counted, unasked, cmp.AllowUnexported(ledger{}), nothing); diff != "" {
		t.Errorf("units counted with (-) and without (+) a report:\n%s", diff)
	}
}

// useEveryOperation calls each operation on items at least once.
func useEveryOperation(t *testing.T, client *dynamodb.Client, report types.ReturnConsumedCapacity, reported *ledger) {
	t.Helper()
	table, large := aws.String("things"), strings.Repeat("x", 5000)
	call := func(units map[string]float64, c []types.ConsumedCapacity, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i := range c {
			if c[i].Table != nil {
				reported.add(units, &c[i])
			}
		}
	}
	one := func(c *types.ConsumedCapacity) []types.ConsumedCapacity {
		if c == nil {
			return nil
		}
		return []types.ConsumedCapacity{*c}
	}
	ctx := t.Context()
	put, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item("a", "g", "1", "l", "1"), ReturnConsumedCapacity: report})
	call(reported.write, one(put.ConsumedCapacity), err)
	put, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item("a", "g", "2", "l", "1", "text", large), ReturnConsumedCapacity: report})
	call(reported.write, one(put.ConsumedCapacity), err)
	update, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: table, Key: item("b"), UpdateExpression: aws.String("SET l = :l"), ReturnConsumedCapacity: report,
		ExpressionAttributeValues: map[string]types.AttributeValue{":l": &types.AttributeValueMemberS{Value: "1"}},
	})
	call(reported.write, one(update.ConsumedCapacity), err)
	batch, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"things": {
			{PutRequest: &types.PutRequest{Item: item("c", "g", "3")}}, {DeleteRequest: &types.DeleteRequest{Key: item("b")}},
		}}, ReturnConsumedCapacity: report,
	})
	call(reported.write, batch.ConsumedCapacity, err)
	transaction, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: table, Item: item("d", "g", "4", "l", "4")}},
			{ConditionCheck: &types.ConditionCheck{TableName: table, Key: item("a"), ConditionExpression: aws.String("attribute_exists(pk)")}},
		}, ReturnConsumedCapacity: report,
	})
	call(reported.write, transaction.ConsumedCapacity, err)
	del, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: item("c"), ReturnConsumedCapacity: report})
	call(reported.write, one(del.ConsumedCapacity), err)

	for _, consistent := range []bool{false, true} {
		get, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: item("a"), ConsistentRead: &consistent, ReturnConsumedCapacity: report})
		call(reported.read, one(get.ConsumedCapacity), err)
	}
	gets, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{"things": {Keys: []map[string]types.AttributeValue{item("a"), item("nobody")}}},
		ReturnConsumedCapacity: report,
	})
	call(reported.read, gets.ConsumedCapacity, err)
	both, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems:          []types.TransactGetItem{{Get: &types.Get{TableName: table, Key: item("a")}}, {Get: &types.Get{TableName: table, Key: item("d")}}},
		ReturnConsumedCapacity: report,
	})
	call(reported.read, both.ConsumedCapacity, err)
	scan, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: table, ReturnConsumedCapacity: report})
	call(reported.read, one(scan.ConsumedCapacity), err)
	for index, key := range map[string]string{"byG": "g", "byL": "pk"} {
		query, err := client.Query(ctx, &dynamodb.QueryInput{
			TableName: table, IndexName: &index, KeyConditionExpression: aws.String(key + " = :k"), Select: "ALL_ATTRIBUTES", ReturnConsumedCapacity: report,
			ExpressionAttributeValues: map[string]types.AttributeValue{":k": &types.AttributeValueMemberS{Value: map[string]string{"byG": "2", "byL": "a"}[index]}},
		})
		call(reported.read, one(query.ConsumedCapacity), err)
	}
}

func TestRequestMetrics(t *testing.T) {
	db, registry := openMeasured(t, nil)
	client, ctx := db.Client(func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }), t.Context()
	mustFail := func(_ any, err error) {
		t.Helper()
		if err == nil {
			t.Fatal("no error")
		}
	}
	things := aws.String("things")
	for range 3 {
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: things, Item: item("a")}); err != nil {
			t.Fatal(err)
		}
	}
	mustFail(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: things, Item: item("a"), ConditionExpression: aws.String("attribute_not_exists(pk)")}))
	mustFail(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("nowhere"), Item: item("a")}))
	mustFail(client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{ConditionCheck: &types.ConditionCheck{TableName: things, Key: item("nobody"), ConditionExpression: aws.String("attribute_exists(pk)")}},
		{Delete: &types.Delete{TableName: things, Key: item("a"), ConditionExpression: aws.String("attribute_not_exists(pk)")}},
	}}))
	if _, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: things}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]map[string]float64{
		"monotable_requests_total": {
			"CreateTable ": 1, "PutItem things": 4, "PutItem ": 1, "TransactWriteItems things": 1, "Scan things": 1,
		},
		"monotable_request_errors_total": {
			"user ConditionalCheckFailedException PutItem things":         1,
			"user ResourceNotFoundException PutItem ":                     1,
			"user TransactionCanceledException TransactWriteItems things": 1,
		},
		"monotable_request_duration_seconds":         {"CreateTable ": 1, "PutItem things": 3, "PutItem ": 0, "TransactWriteItems things": 0, "Scan things": 1},
		"monotable_conditional_check_failures_total": {"things": 3, "(other)": 0},
		"monotable_items":                            {" things": 1, "byG things": 0, "byL things": 0},
		"monotable_tables":                           {"": 1},
		"monotable_requests_in_flight":               {"": 0},
		"monotable_request_memory_bytes":             {"": 0},
		"monotable_ready":                            {"": 1},
	} {
		if diff := cmp.Diff(want, series(t, registry, name)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if returned := series(t, registry, "monotable_returned_items_total")["Scan things"]; returned != 1 {
		t.Errorf("%v items returned", returned)
	}
	for _, name := range []string{"monotable_commit_wait_seconds", "monotable_log_sync_duration_seconds", "monotable_received_bytes_total", "monotable_sent_bytes_total"} {
		if got := series(t, registry, name)[""]; got == 0 {
			t.Errorf("%s is 0", name)
		}
	}
	if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: things}); err != nil {
		t.Fatal(err)
	}
	after := series(t, registry, "monotable_requests_total")
	if names := slices.Sorted(maps.Keys(after)); slices.Contains(names, "PutItem things") || !slices.Contains(names, "PutItem ") {
		t.Errorf("after the table was deleted there are %v", names)
	}
}

func TestMetricsKeepConventions(t *testing.T) {
	db, registry := openMeasured(t, nil)
	useEveryOperation(t, db.Client(), types.ReturnConsumedCapacityNone, &ledger{})
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestStreamMetrics(t *testing.T) {
	c := &stoppedClock{at: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	db, registry := openMeasured(t, &monotable.Options{Now: c.now, StreamShardRotation: -1})
	put := func(key string) {
		t.Helper()
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("things"), Item: item(key)}); err != nil {
			t.Fatal(err)
		}
	}
	age := func() map[string]float64 {
		ages := map[string]float64{}
		for labels, seconds := range series(t, registry, "monotable_stream_iterator_age_seconds") {
			ages[strings.Fields(labels)[1]] = seconds
		}
		return ages
	}
	streams := db.StreamsClient()
	read := readerOf(t.Context(), t, streams)
	put("a")
	if got := age(); len(got) != 0 {
		t.Errorf("before anything is read: %v", got)
	}
	expect := func(what string, records int, limit int32, want float64) {
		t.Helper()
		if n := read(limit); n != records {
			t.Fatalf("%s: %d records", what, n)
		}
		if got := age()["things"]; got != want {
			t.Errorf("%s: the iterator is %v s old, want %v", what, got, want)
		}
	}
	expect("all is read", 1, 10, 0)
	c.advance(10 * time.Second)
	put("b")
	c.advance(10 * time.Second)
	put("c")
	c.advance(time.Minute)
	if got := age()["things"]; got != 80 {
		t.Errorf("nothing was read for 80 s, and the iterator is %v s old", got)
	}
	expect("one of two is read", 1, 1, 70)
	expect("the rest is read", 1, 10, 0)
	if n := series(t, registry, "monotable_returned_records_total")["things"]; n != 3 {
		t.Errorf("%v records returned", n)
	}
}

// readerOf returns a function that reads the next records of the only shard of the only stream.
func readerOf(ctx context.Context, t *testing.T, client *dynamodbstreams.Client) func(limit int32) int {
	t.Helper()
	all, err := client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
	if err != nil {
		t.Fatal(err)
	}
	arn := all.Streams[0].StreamArn
	description, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	begin, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: description.StreamDescription.Shards[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		t.Fatal(err)
	}
	iterator := begin.ShardIterator
	return func(limit int32) int {
		t.Helper()
		page, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: &limit})
		if err != nil {
			t.Fatal(err)
		}
		iterator = page.NextShardIterator
		return len(page.Records)
	}
}

func TestProbes(t *testing.T) {
	db, _ := openMeasured(t, nil)
	if err := db.Ready(); err != nil {
		t.Errorf("not ready: %v", err)
	}
	probe := func(path string, status int, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		db.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil))
		if w.Code != status || w.Body.String() != want {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
	probe("/-/healthy", http.StatusOK, "healthy\n")
	probe("/-/ready", http.StatusOK, "ready\n")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	probe("/-/ready", http.StatusServiceUnavailable, "not ready: the database is closed\n")
}

// TestReadyOnFullDisk: the reason is a sentence for an anonymous probe, without the path of the data.
func TestReadyOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	db, err := monotable.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	usage, err := vfs.Default.GetDiskUsage(dir)
	if err != nil {
		t.Fatal(err)
	}
	db, err = monotable.Open(dir, &monotable.Options{DiskReserve: int64(usage.TotalBytes) - 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := httptest.NewRecorder()
	db.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/-/ready", nil))
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != "not ready: the disk is full: writes are rejected until there is room\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}
