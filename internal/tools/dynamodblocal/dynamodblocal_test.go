package dynamodblocal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable"
)

func start(t *testing.T, options Options) string {
	t.Helper()
	s, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	t.Cleanup(func() {
		listening.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return listening.URL
}

func client(url, key, region string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(url), Region: region, Credentials: credentials.NewStaticCredentialsProvider(key, "secret", ""),
		RetryMaxAttempts: 1,
	})
}

func create(t *testing.T, c *dynamodb.Client, name string) string {
	t.Helper()
	out, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: new("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: new("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.TableDescription.TableArn
}

func tables(ctx context.Context, t *testing.T, c *dynamodb.Client) string {
	t.Helper()
	out, err := c.ListTables(ctx, &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out.TableNames, " ")
}

// TestDatabases compares which database a request gets with DynamoDB Local's documentation of -sharedDb.
func TestDatabases(t *testing.T) {
	for _, test := range []struct {
		name          string
		options       Options
		otherKey, own string // what another access key and another Region see
	}{
		{"separate in memory", Options{}, "", ""},
		{"separate on disk", Options{Path: t.TempDir()}, "", ""},
		{"shared in memory", Options{SharedDB: true}, "Orders", "Orders"},
		{"shared on disk", Options{SharedDB: true, Path: t.TempDir(), Optimize: true}, "Orders", "Orders"},
	} {
		t.Run(test.name, func(t *testing.T) {
			url := start(t, test.options)
			if arn := create(t, client(url, "key1", "eu-west-1"), "Orders"); arn != "arn:aws:dynamodb:ddblocal:000000000000:table/Orders" {
				t.Errorf("ARN %s", arn)
			}
			if got := tables(t.Context(), t, client(url, "key1", "eu-west-1")); got != "Orders" {
				t.Errorf("the same access key and Region see %q", got)
			}
			if got := tables(t.Context(), t, client(url, "key2", "eu-west-1")); got != test.otherKey {
				t.Errorf("another access key sees %q", got)
			}
			if got := tables(t.Context(), t, client(url, "key1", "us-east-1")); got != test.own {
				t.Errorf("another Region sees %q", got)
			}
		})
	}
}

// TestRefusals has the responses of DynamoDB Local 3.3.1.
func TestRefusals(t *testing.T) {
	url := start(t, Options{Database: monotable.Options{CORSOrigins: []string{"*"}}})
	for _, test := range []struct {
		method, path string
		header       map[string]string
		status       int
		body         string
	}{
		{"GET", "/", nil, 400, "MissingAuthenticationToken"}, // Testcontainers' module for .NET waits for this status
		{"POST", "/", map[string]string{"X-Amz-Target": "DynamoDB_20120810.ListTables"}, 400, "MissingAuthenticationToken"},
		{"POST", "/", map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=my-key/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host"}, 400, "UnrecognizedClientException"},
		{"POST", "/", map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/../dynamodb/aws4_request"}, 400, "UnrecognizedClientException"},
		{"OPTIONS", "/", map[string]string{"Origin": "https://a.example.com", "Access-Control-Request-Method": "POST"}, 204, ""},
		{"GET", "/-/ready", nil, 200, "ready"},
		{"GET", "/-/healthy", nil, 200, "healthy"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, url+test.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range test.header {
			r.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != test.status || !strings.Contains(string(body), test.body) {
			t.Errorf("%s %s %v: %d %s, want %d %s", test.method, test.path, test.header, response.StatusCode, body, test.status, test.body)
		}
	}
}

// TestMaxDatabases opens the maximum number of databases; another one is rejected, and the open ones keep working.
func TestMaxDatabases(t *testing.T) {
	url := start(t, Options{})
	for i := range databasesMax {
		tables(t.Context(), t, client(url, fmt.Sprintf("key%d", i), "us-east-1"))
	}
	_, err := client(url, "another", "us-east-1").ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if failed, ok := errors.AsType[smithy.APIError](err); !ok || failed.ErrorCode() != "LimitExceededException" || !strings.Contains(failed.ErrorMessage(), fmt.Sprint(databasesMax)) {
		t.Errorf("one more: %v", err)
	}
	if got := tables(t.Context(), t, client(url, "key0", "us-east-1")); got != "" {
		t.Errorf("then %q", got)
	}
}

// TestLockedDirectory: a database that another process has open can be used as soon as that process is stopped, as the message says.
func TestLockedDirectory(t *testing.T) {
	dir := t.TempDir()
	other, err := monotable.Open(filepath.Join(dir, "key_us-east-1"+extension), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := client(start(t, Options{Path: dir}), "key", "us-east-1")
	if _, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil {
		t.Error("a database that is open elsewhere is served")
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if got := tables(t.Context(), t, c); got != "" {
		t.Errorf("then %q", got)
	}
}
