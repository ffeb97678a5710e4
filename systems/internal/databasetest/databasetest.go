// Package databasetest provides the database for a system's tests.
//
// By default it is a database in the test's own process. With SYSTEMS_ENDPOINT in the environment it is the DynamoDB
// implementation at that address, so that the same tests prove that a system depends on nothing but DynamoDB: package
// test/systems runs them against DynamoDB Local. There, each test has its own access key, which selects its own database.
package databasetest

import (
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/inprocess"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/system"
)

// Variable is the environment variable with the address of another implementation.
const Variable = "SYSTEMS_ENDPOINT"

// Database is an empty database.
type Database struct {
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client

	handler           http.Handler // of a database in the test's own process
	endpoint, ownName string       // of another implementation, and the access key that selects the test's own database
}

// Address is how another process connects to a test's database.
type Address struct {
	Endpoint string
	// AccessKey and Secret are the credentials that sign requests.
	AccessKey, Secret string
}

// owner is the id and secret of the owner's access key, with which requests are signed by default. Other implementations only
// check the id, which differs there.
const owner = "monotable"

// Address returns how another process can connect to the database until the test ends.
func (d Database) Address(tb testing.TB) Address {
	tb.Helper()
	if d.handler == nil {
		return Address{d.endpoint, d.ownName, owner}
	}
	server := httptest.NewServer(d.handler)
	tb.Cleanup(server.Close)
	return Address{server.URL, owner, owner}
}

// Signed returns clients whose requests are signed with the credentials for their context. If the database was opened by Guarded,
// their policies apply; requests without an access key are sent as the owner.
func (d Database) Signed(credentials aws.CredentialsProvider) (*dynamodb.Client, *dynamodbstreams.Client) {
	if d.handler == nil {
		return d.DynamoDB, d.Streams
	}
	signs := aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		of, err := credentials.Retrieve(ctx)
		if of.AccessKeyID == "" {
			of.AccessKeyID, of.SecretAccessKey = owner, owner
		}
		return of, err
	})
	return dynamodb.New(d.DynamoDB.Options(), func(o *dynamodb.Options) { o.HTTPClient, o.Credentials = inprocess.Client{Handler: d.handler}, signs }),
		dynamodbstreams.New(d.Streams.Options(), func(o *dynamodbstreams.Options) {
			o.HTTPClient, o.Credentials = inprocess.Client{Handler: d.handler}, signs
		})
}

// Open gives the test a database, which is closed when the test ends.
func Open(tb testing.TB) Database {
	tb.Helper()
	return Guarded(tb, "")
}

// Guarded is Open for a database that enforces the policies in a users file, in the format of monotable serve --iam; "" enforces
// nothing. Other implementations enforce nothing either. DynamoDB and Streams are the owner's clients.
func Guarded(tb testing.TB, users string) Database {
	tb.Helper()
	endpoint := os.Getenv(Variable)
	if endpoint == "" {
		options := new(monotable.Options)
		if users != "" {
			options.Auth = &monotable.Auth{Required: true, File: users, RootAccessKeyID: owner, RootSecretAccessKey: owner}
		}
		db := monotabletest.NewWith(tb, options)
		return Database{DynamoDB: db.Client(), Streams: db.StreamsClient(), handler: db.Handler()}
	}
	name := "t" + rand.Text()[:18]
	own := credentials.NewStaticCredentialsProvider(name, owner, "")
	const region = "us-east-1"
	return Database{
		DynamoDB: dynamodb.New(dynamodb.Options{Region: region, BaseEndpoint: &endpoint, Credentials: own}),
		Streams:  dynamodbstreams.New(dynamodbstreams.Options{Region: region, BaseEndpoint: &endpoint, Credentials: own}),
		endpoint: endpoint, ownName: name,
	}
}

// Other reports whether the tests run against another implementation.
func Other() bool { return os.Getenv(Variable) != "" }

// OnTiKV reports whether the tests run over a TiKV cluster, where writes of the same item wait for each other for long.
func OnTiKV() bool { return monotabletest.OnTiKV(os.Getenv(monotabletest.StoreVariable)) }

// Create creates tables and waits until they are active. At the end of the test they are deleted, or disappear with the database.
func (d Database) Create(tb testing.TB, tables []system.Table) {
	tb.Helper()
	for _, t := range tables {
		if _, err := d.DynamoDB.CreateTable(tb.Context(), t.Create); err != nil {
			tb.Fatalf("create table %s: %v", aws.ToString(t.Create.TableName), err)
		}
	}
	for _, t := range tables {
		described := &dynamodb.DescribeTableInput{TableName: t.Create.TableName}
		if err := dynamodb.NewTableExistsWaiter(d.DynamoDB).Wait(tb.Context(), described, time.Minute); err != nil {
			tb.Fatalf("wait for table %s: %v", aws.ToString(t.Create.TableName), err)
		}
		if t.TTL == "" {
			continue
		}
		_, err := d.DynamoDB.UpdateTimeToLive(tb.Context(), &dynamodb.UpdateTimeToLiveInput{
			TableName: t.Create.TableName, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTL, Enabled: aws.Bool(true)},
		})
		if err != nil {
			tb.Fatalf("time to live of table %s: %v", aws.ToString(t.Create.TableName), err)
		}
	}
}

// Items scans a table or, unless index is "", an index.
func (d Database) Items(tb testing.TB, table, index string) iter.Seq[map[string]types.AttributeValue] {
	tb.Helper()
	return func(yield func(map[string]types.AttributeValue) bool) {
		in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(index == "")}
		if index != "" {
			in.IndexName = &index
		}
		for pages := dynamodb.NewScanPaginator(d.DynamoDB, in); pages.HasMorePages(); {
			page, err := pages.NextPage(tb.Context())
			if err != nil {
				tb.Fatal(err)
			}
			for _, it := range page.Items {
				if !yield(it) {
					return
				}
			}
		}
	}
}
