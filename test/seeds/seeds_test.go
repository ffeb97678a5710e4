// Package seeds sends the requests of five real design documents (single-table designs of services on DynamoDB) as a
// program would, and checks DynamoDB's responses.
//
// A document's tables are in testdata/<document>/tables.json, its sample items in items.json; the Go tests here and the
// JavaScript tests in js/ read both. Every subtest is named after the document's pattern or section and has its own
// database. If a document is wrong, because DynamoDB rejects the request or returns something else than the document
// expects, the test shows the actual response.
//
// The database is in-process. With MONOTABLE_TEST_ENDPOINT=URL the same tests run against that server (Region and
// credentials from AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY if set); they create the documents' tables and
// delete them. They read indexes directly after writes, which AWS serves with a delay.
package seeds

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/monotabletest"
)

// tableWait bounds how long a table may take to become active, or to be deleted.
const tableWait = time.Minute

// item is an item, a key, or the values of an expression.
type item = map[string]types.AttributeValue

// database is a client whose short methods fail the test when a request fails.
type database struct {
	*dynamodb.Client
	t *testing.T
}

// open returns a database that holds a document's tables and sample items.
func open(t *testing.T, document string) database {
	t.Helper()
	db := database{connect(t), t}
	for _, table := range tablesOf(t, document) {
		db.createTable(table)
	}
	for table, items := range itemsOf(t, document) {
		db.put(table, items...)
	}
	return db
}

func connect(t *testing.T) *dynamodb.Client {
	t.Helper()
	endpoint := os.Getenv("MONOTABLE_TEST_ENDPOINT")
	if endpoint == "" {
		return monotabletest.New(t).Client()
	}
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       cmp.Or(os.Getenv("AWS_REGION"), "us-east-1"),
		Credentials: credentials.NewStaticCredentialsProvider(
			cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), "local"),
			cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), "local"),
			os.Getenv("AWS_SESSION_TOKEN")),
	})
}

func tablesOf(t *testing.T, document string) []*dynamodb.CreateTableInput {
	t.Helper()
	var tables []*dynamodb.CreateTableInput
	readJSON(t, document, "tables.json", &tables)
	return tables
}

// itemsOf returns the document's sample items by table.
func itemsOf(t *testing.T, document string) map[string][]item {
	t.Helper()
	var plain map[string][]map[string]any
	readJSON(t, document, "items.json", &plain)
	items := make(map[string][]item, len(plain))
	for table, documents := range plain {
		for _, attributes := range documents {
			items[table] = append(items[table], toItem(t, attributes))
		}
	}
	return items
}

func readJSON(t *testing.T, document, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", document, file))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s/%s: %v", document, file, err)
	}
}

// createTable creates a table, waits until it is active, and deletes it when the test ends.
func (db database) createTable(in *dynamodb.CreateTableInput) {
	db.t.Helper()
	if _, err := db.CreateTable(db.t.Context(), in); err != nil {
		db.t.Fatal(err)
	}
	named := &dynamodb.DescribeTableInput{TableName: in.TableName}
	db.t.Cleanup(func() { db.dropTable(named) })
	waiter := dynamodb.NewTableExistsWaiter(db, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Millisecond, time.Second
	})
	if err := waiter.Wait(db.t.Context(), named, tableWait); err != nil {
		db.t.Fatal(err)
	}
}

// dropTable deletes a table. It runs after the test's context has ended.
func (db database) dropTable(named *dynamodb.DescribeTableInput) {
	db.t.Helper()
	ctx := context.WithoutCancel(db.t.Context())
	if _, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: named.TableName}); err != nil {
		db.t.Error(err)
	}
	waiter := dynamodb.NewTableNotExistsWaiter(db, func(o *dynamodb.TableNotExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, named, tableWait); err != nil {
		db.t.Error(err)
	}
}

func (db database) put(table string, items ...item) {
	db.t.Helper()
	for _, i := range items {
		if _, err := db.PutItem(db.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: i}); err != nil {
			db.t.Fatal(err)
		}
	}
}

// get reads an item with strong consistency; nil if there is none.
func (db database) get(table string, key item) item {
	db.t.Helper()
	out, err := db.GetItem(db.t.Context(), &dynamodb.GetItemInput{
		TableName: &table, Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		db.t.Fatal(err)
	}
	return out.Item
}

func (db database) query(in *dynamodb.QueryInput) *dynamodb.QueryOutput {
	db.t.Helper()
	out, err := db.Query(db.t.Context(), in)
	if err != nil {
		db.t.Fatal(err)
	}
	return out
}

// pages follows LastEvaluatedKey until there is none.
func (db database) pages(in *dynamodb.QueryInput) [][]item {
	db.t.Helper()
	var pages [][]item
	for paginator := dynamodb.NewQueryPaginator(db, in); paginator.HasMorePages(); {
		out, err := paginator.NextPage(db.t.Context())
		if err != nil {
			db.t.Fatal(err)
		}
		pages = append(pages, out.Items)
	}
	return pages
}

func (db database) scan(in *dynamodb.ScanInput) *dynamodb.ScanOutput {
	db.t.Helper()
	out, err := db.Scan(db.t.Context(), in)
	if err != nil {
		db.t.Fatal(err)
	}
	return out
}

func (db database) transact(in *dynamodb.TransactWriteItemsInput) *dynamodb.TransactWriteItemsOutput {
	db.t.Helper()
	out, err := db.TransactWriteItems(db.t.Context(), in)
	if err != nil {
		db.t.Fatal(err)
	}
	return out
}
