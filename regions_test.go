package monotable_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/monotabletest"
)

// regional is a database behind a socket, with clients that sign for a Region.
type regional struct {
	*testing.T
	db  *monotable.DB
	url string
}

func openRegional(t *testing.T, dir string, regions ...string) *regional {
	t.Helper()
	db, err := monotable.Open(dir, &monotable.Options{Regions: regions})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db.Handler())
	t.Cleanup(server.Close)
	return &regional{t, db, server.URL}
}

func (r *regional) close() {
	r.Helper()
	if err := r.db.Close(); err != nil {
		r.Error(err)
	}
}

func (r *regional) client(region string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &r.url, Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
}

// create makes the table Music with a stream and puts an item that names the Region.
func (r *regional) create(region string) *types.TableDescription {
	r.Helper()
	out, err := r.client(region).CreateTable(r.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Music"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	})
	if err != nil {
		r.Fatal(err)
	}
	_, err = r.client(region).PutItem(r.Context(), &dynamodb.PutItemInput{TableName: aws.String("Music"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "where"}, "region": &types.AttributeValueMemberS{Value: region},
	}})
	if err != nil {
		r.Fatal(err)
	}
	return out.TableDescription
}

// where is the Region that the item of a table names.
func where(ctx context.Context, client *dynamodb.Client, table string) (string, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "where"}}})
	if err != nil {
		return "", err
	}
	value, _ := out.Item["region"].(*types.AttributeValueMemberS)
	if value == nil {
		return "", nil
	}
	return value.Value, nil
}

// TestClientOfRegion: an in-process client whose options name another Region uses that Region's tables.
func TestClientOfRegion(t *testing.T) {
	db := monotabletest.NewWith(t, &monotable.Options{Regions: []string{"eu-west-1"}, Auth: &monotable.Auth{Required: true}})
	createOrders(t.Context(), db.Client(func(o *dynamodb.Options) { o.Region = "eu-west-1" }))
	for region, want := range map[string]int{"us-east-1": 0, "eu-west-1": 1} {
		tables, err := db.Client(func(o *dynamodb.Options) { o.Region = region }).ListTables(t.Context(), nil)
		if err != nil || len(tables.TableNames) != want {
			t.Errorf("%s has %v, %v; want %d tables", region, tables, err, want)
		}
		streams, err := db.StreamsClient(func(o *dynamodbstreams.Options) { o.Region = region }).ListStreams(t.Context(), nil)
		if err != nil || len(streams.Streams) != 0 {
			t.Errorf("%s has %v, %v; want no streams", region, streams, err)
		}
	}
	if _, err := db.Client(func(o *dynamodb.Options) { o.Region = "mars-north-1" }).ListTables(t.Context(), nil); err == nil {
		t.Error("a Region that is not served has tables")
	}
}

// TestCallOfRegion: the options of a single call of an in-process client can name another Region.
func TestCallOfRegion(t *testing.T) {
	db := monotabletest.NewWith(t, &monotable.Options{Regions: []string{"eu-west-1"}})
	createOrders(t.Context(), db.Client(func(o *dynamodb.Options) { o.Region = "eu-west-1" }))
	client := db.Client()
	for region, want := range map[string]int{"us-east-1": 0, "eu-west-1": 1} {
		tables, err := client.ListTables(t.Context(), nil, func(o *dynamodb.Options) { o.Region = region })
		if err != nil || len(tables.TableNames) != want {
			t.Errorf("%s has %v, %v; want %d tables", region, tables, err, want)
		}
	}
}

// TestRegionsAreIsolated serves three Regions, in which tables with the same name are independent, also after a restart.
func TestRegionsAreIsolated(t *testing.T) {
	dir, regions := t.TempDir(), []string{"us-east-1", "eu-west-1", "ap-southeast-2"}
	r := openRegional(t, dir, regions...)
	for _, region := range regions {
		d := r.create(region)
		if want := "arn:aws:dynamodb:" + region + ":000000000000:table/Music"; *d.TableArn != want {
			t.Errorf("ARN %s, want %s", *d.TableArn, want)
		}
		streams := dynamodbstreams.New(dynamodbstreams.Options{
			BaseEndpoint: &r.url, Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		})
		if got := firstRecord(t, streams, *d.LatestStreamArn); *got.AwsRegion != region {
			t.Errorf("a record of %s has the Region %s", region, *got.AwsRegion)
		}
	}
	if _, err := r.client("eu-west-1").DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Music")}); err != nil {
		t.Fatal(err)
	}
	r.create("eu-west-1")
	_, err := where(t.Context(), r.client("eu-west-1"), "arn:aws:dynamodb:us-east-1:000000000000:table/Music")
	if err == nil || !strings.Contains(err.Error(), "Invalid AWS region") {
		t.Errorf("the ARN of another Region's table: %v", err)
	}
	r.close()

	r = openRegional(t, dir, "ap-southeast-2", "eu-west-1")
	defer r.close()
	for _, region := range regions {
		if got, err := where(t.Context(), r.client(region), "Music"); got != region || err != nil {
			t.Errorf("the table of %s has the item of %q, %v", region, got, err)
		}
	}
	if got, err := where(t.Context(), r.db.Client(), "Music"); got != "us-east-1" || err != nil {
		t.Errorf("an unsigned request gets the item of %q, %v", got, err)
	}
	if _, err := r.client("eu-west-1").CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String("Music"), BackupName: aws.String("kept")}); err != nil {
		t.Fatal(err)
	}
	verified, err := r.db.Verify(t.Context(), func(f monotable.Finding) { t.Error(f) }, nil)
	if err != nil || verified.Tables != 3 || verified.Items != 3 || verified.Backups != 1 {
		t.Errorf("verified %+v, %v, want 3 tables and a backup", verified, err)
	}
	wantTables(t, r.db, "Music", "ap-southeast-2/Music", "eu-west-1/Music")
}

// wantTables checks which tables the metrics name.
func wantTables(t *testing.T, db *monotable.DB, want ...string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(db.Collector())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		if f.GetName() == "monotable_items" {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetName() == "table" {
						names = append(names, l.GetValue())
					}
				}
			}
		}
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tables in metrics: %s", diff)
	}
}

func firstRecord(t *testing.T, client *dynamodbstreams.Client, arn string) streamtypes.Record {
	t.Helper()
	described, err := client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	it, err := client.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &arn, ShardId: described.StreamDescription.Shards[0].ShardId, ShardIteratorType: "TRIM_HORIZON",
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: it.ShardIterator})
	if err != nil || len(out.Records) != 1 {
		t.Fatalf("%d records, %v, want one", len(out.Records), err)
	}
	return out.Records[0]
}

// TestUnservedRegionIsRefused checks AWS's error type and that the message says what to do. Without Regions a request is served
// whatever it is signed for.
func TestUnservedRegionIsRefused(t *testing.T) {
	r := openRegional(t, t.TempDir(), "eu-west-1")
	defer r.close()
	_, err := r.client("eu-north-1").ListTables(t.Context(), &dynamodb.ListTablesInput{})
	var refused smithy.APIError
	if !errors.As(err, &refused) || refused.ErrorCode() != "InvalidSignatureException" ||
		!strings.Contains(refused.ErrorMessage(), "This server serves eu-west-1, us-east-1: add eu-north-1 to its --regions") {
		t.Errorf("%v", err)
	}

	single := openRegional(t, t.TempDir())
	defer single.close()
	single.create("us-east-1")
	if got, err := where(t.Context(), single.client("eu-north-1"), "Music"); got != "us-east-1" || err != nil {
		t.Errorf("a request for another Region gets %q, %v", got, err)
	}
}

// TestOtherRegionsWithoutRequests: Stats has the tables of all Regions, Changes and Insights find them by REGION/TABLE or ARN.
func TestOtherRegionsWithoutRequests(t *testing.T) {
	dir := t.TempDir()
	r := openRegional(t, dir, ireland)
	r.create(virginia)
	arn := *r.create(ireland).TableArn
	_, err := r.client(ireland).UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
		TableName: aws.String("Music"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Music": virginia, virginia + "/Music": virginia, ireland + "/Music": ireland, arn: ireland,
		strings.Replace(arn, ireland, virginia, 1): virginia,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		changes := r.db.Changes(ctx, name, monotable.FromNow)
		r.putItem(want, name, "1", nil)
		for change, err := range changes {
			if err != nil {
				t.Fatalf("changes of %s: %v", name, err)
			}
			if got := change.Keys["pk"].(*types.AttributeValueMemberS).Value; got != name {
				t.Errorf("%s has a change of %s", name, got)
			}
			break
		}
		cancel()
		ranked, err := r.db.Insights(t.Context(), name)
		if err != nil || (len(ranked.Resources) > 0) != (want == ireland) {
			t.Errorf("insights of %s: %+v, %v", name, ranked, err)
		}
	}
	for _, name := range []string{"eu-north-1/Music", "Absent", ireland + "/Absent"} {
		for _, err := range r.db.Changes(t.Context(), name, monotable.FromBeginning) {
			if err == nil {
				t.Fatalf("%s has changes", name)
			}
		}
	}
	wantStats := func(s monotable.Stats, err error) {
		t.Helper()
		var names []string
		for _, x := range s.Tables {
			names = append(names, fmt.Sprint(x.Name, " ", x.Items.Rows))
		}
		if diff := cmp.Diff([]string{"Music 4", ireland + "/Music 3"}, names); diff != "" || err != nil || s.Total.Rows != 7 {
			t.Errorf("%d rows, %v: %s", s.Total.Rows, err, diff)
		}
	}
	wantStats(r.db.Stats(t.Context()))
	r.close()
	wantStats(monotable.ReadStats(t.Context(), dir, nil))
}

// TestRegionIsSigned: a request is executed, and recorded, in the Region it is signed for, whatever its header says.
func TestRegionIsSigned(t *testing.T) {
	sink := &auditSink{}
	db, err := monotable.OpenMemory(&monotable.Options{
		Regions: []string{"us-east-1", "eu-west-1"}, Audit: &monotable.Audit{Writer: sink},
		Auth: &monotable.Auth{Required: true, RootAccessKeyID: "AKIAROOT", RootSecretAccessKey: "secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(db.Handler())
	t.Cleanup(server.Close)
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKIAROOT", "secret", ""), Retryer: aws.NopRetryer{},
		HTTPClient: roundTrip(func(request *http.Request) (*http.Response, error) {
			// Someone in the middle could change this: the header with the signature is not signed itself.
			request.Header.Set("Authorization", strings.Replace(request.Header.Get("Authorization"),
				"Credential=", "Credential=AKIAOTHER/20261123/eu-west-1/dynamodb/aws4_request, Credential=", 1))
			return http.DefaultClient.Do(request)
		}),
	})
	out, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Music"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := *out.TableDescription.TableArn; got != "arn:aws:dynamodb:us-east-1:000000000000:table/Music" {
		t.Errorf("the table is %s", got)
	}
	_, records := sink.take(t)
	if len(records) != 1 || records[0]["awsRegion"] != "us-east-1" || at(records[0], "userIdentity.accessKeyId") != "AKIAROOT" {
		t.Errorf("recorded: %v", records)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// roundTrip is an HTTP client.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) Do(r *http.Request) (*http.Response, error) { return f(r) }

// TestDefaultRegionStays: a database does not open with another default Region if that would serve tables under the name of another
// Region. Replicas would take each other's changes for their own, and differ from then on.
func TestDefaultRegionStays(t *testing.T) {
	dir := t.TempDir()
	open := func(region string, others ...string) error {
		db, err := monotable.Open(dir, &monotable.Options{Region: region, Regions: others})
		if err == nil {
			err = db.Close()
		}
		return err
	}
	r := openRegional(t, dir, ireland)
	r.close()
	if err := open(ireland, virginia); err != nil {
		t.Errorf("without tables: %v", err)
	}
	r = openRegional(t, dir, ireland)
	r.create(ireland)
	r.close()
	if err := open(ireland, virginia); err == nil || !strings.Contains(err.Error(), "eu-west-1 has tables of its own") {
		t.Errorf("the default Region became one with other tables: %v", err)
	}
	if err := open("sa-east-1", ireland); err != nil {
		t.Errorf("another name for the default Region: %v", err)
	}

	dir = t.TempDir()
	r = openRegional(t, dir, ireland)
	r.create(virginia)
	if err := r.replicate(virginia, createIn(ireland)); err != nil {
		t.Fatal(err)
	}
	r.awaitActive(virginia, ireland)
	r.close()
	if err := open("sa-east-1", ireland); err == nil || !strings.Contains(err.Error(), "default Region is us-east-1, not sa-east-1: its table Music") {
		t.Errorf("another name for the Region of a replica: %v", err)
	}
	if err := open(ireland, virginia); err == nil {
		t.Error("the default Region became that of another replica")
	}
	if err := open(virginia); err != nil {
		t.Error(err)
	}
}

// alone is a source of randomness that only one goroutine may read at a time.
type alone struct {
	*testing.T
	reading atomic.Bool
}

func (a *alone) Read(p []byte) (int, error) {
	if a.reading.Swap(true) {
		a.Error("Options.Rand is read concurrently")
	}
	for range 100 {
		runtime.Gosched()
	}
	defer a.reading.Store(false)
	return rand.Read(p)
}

// TestRandIsReadAlone: Options.Rand may be one that is not safe for concurrent use, such as that of a test with fixed ids, although
// Regions, users and sessions need it at once.
func TestRandIsReadAlone(t *testing.T) {
	db := monotabletest.NewWith(t, &monotable.Options{Regions: []string{ireland}, Rand: &alone{T: t}})
	var all sync.WaitGroup
	for _, region := range []string{virginia, ireland} {
		all.Go(func() {
			client := db.Client(func(o *dynamodb.Options) { o.Region = region })
			createOrders(t.Context(), client)
			for range 20 {
				if _, err := client.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String("orders"), BackupName: aws.String("copy")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for i := range 20 {
			if _, err := db.IAM(t.Context(), &monotable.IAMRequest{Action: "user create", Name: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
}
