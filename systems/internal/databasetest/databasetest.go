// Package databasetest gives a system's tests the database that they run on.
//
// By default it is a database in the test's own process. With SYSTEMS_ENDPOINT in the environment it is the DynamoDB
// implementation at that address, so that the same tests show that a system leans on nothing but DynamoDB: package
// test/systems runs them so against DynamoDB Local. There each test has an access key of its own, which gives it a database
// of its own.
package databasetest

import (
	"crypto/rand"
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
	endpoint, ownName string       // of another implementation, and the access key that makes its database the test's own
}

// Address is where another process finds the database of a test.
type Address struct {
	Endpoint string
	// AccessKey and Secret are the credentials that requests must be signed with.
	AccessKey, Secret string
}

// secret signs requests to databases that look at nothing but the access key.
const secret = "secret"

// Address is where another process finds the database, until the test ends.
func (d Database) Address(tb testing.TB) Address {
	tb.Helper()
	if d.handler == nil {
		return Address{d.endpoint, d.ownName, secret}
	}
	server := httptest.NewServer(d.handler)
	tb.Cleanup(server.Close)
	return Address{server.URL, "local", secret}
}

// Open gives the test its database, which ends with the test.
func Open(tb testing.TB) Database {
	tb.Helper()
	endpoint := os.Getenv(Variable)
	if endpoint == "" {
		db := monotabletest.New(tb)
		return Database{DynamoDB: db.Client(), Streams: db.StreamsClient(), handler: db.Handler()}
	}
	name := "t" + rand.Text()[:18]
	own := credentials.NewStaticCredentialsProvider(name, secret, "")
	const region = "us-east-1"
	return Database{
		DynamoDB: dynamodb.New(dynamodb.Options{Region: region, BaseEndpoint: &endpoint, Credentials: own}),
		Streams:  dynamodbstreams.New(dynamodbstreams.Options{Region: region, BaseEndpoint: &endpoint, Credentials: own}),
		endpoint: endpoint, ownName: name,
	}
}

// Other reports whether the tests run on another implementation than our own.
func Other() bool { return os.Getenv(Variable) != "" }

// Create makes the tables and waits until they can be used. What is left when the test ends goes with its database, or is
// deleted.
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
