package monotable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
)

// A database in memory, used through the AWS SDK without a socket.
func Example() {
	ctx := context.Background()
	db, err := monotable.OpenMemory(nil)
	check(err)
	defer db.Close()
	client := db.Client()

	createOrders(ctx, client)
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("orders"),
		Item: map[string]types.AttributeValue{
			"customer": &types.AttributeValueMemberS{Value: "ana"},
			"order":    &types.AttributeValueMemberS{Value: "2026-11-20#1"},
			"total":    &types.AttributeValueMemberN{Value: "12.50"},
		},
	})
	check(err)
	response, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName:              aws.String("orders"),
		KeyConditionExpression: aws.String("customer = :c AND begins_with(#o, :day)"),
		ExpressionAttributeNames: map[string]string{
			"#o": "order",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":c":   &types.AttributeValueMemberS{Value: "ana"},
			":day": &types.AttributeValueMemberS{Value: "2026-11-20"},
		},
	})
	check(err)
	for _, it := range response.Items {
		fmt.Println(it["order"].(*types.AttributeValueMemberS).Value, it["total"].(*types.AttributeValueMemberN).Value)
	}
	// Output: 2026-11-20#1 12.5
}

// A write to a directory exists when it is opened again, and only one process at a time can open a directory.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)

	db, err := monotable.Open(dir, nil)
	check(err)
	createOrders(ctx, db.Client())
	_, err = monotable.Open(dir, nil)
	fmt.Println("opened twice:", errors.Is(err, monotable.ErrLocked))
	check(db.Close())

	db, err = monotable.Open(dir, nil)
	check(err)
	defer db.Close()
	tables, err := db.Client().ListTables(ctx, nil)
	check(err)
	fmt.Println(tables.TableNames)
	// Output:
	// opened twice: true
	// [orders]
}

// The handler is the server: use it in your own server, or in a test's.
func ExampleDB_Handler() {
	db, err := monotable.OpenMemory(nil)
	check(err)
	defer db.Close()
	server := httptest.NewServer(db.Handler())
	defer server.Close()

	response, err := http.Get(server.URL) //nolint:noctx // an example
	check(err)
	defer response.Body.Close()
	health, err := io.ReadAll(response.Body)
	check(err)
	fmt.Println(string(health))
	// Output: healthy: dynamodb.us-east-1.amazonaws.com
}

// Verify verifies a directory: every index entry, expiry and count is compared with the items.
func ExampleVerify() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	db, err := monotable.Open(dir, nil)
	check(err)
	createOrders(ctx, db.Client())
	check(db.Close())

	done, err := monotable.Verify(ctx, dir, nil, func(f monotable.Finding) { fmt.Println(f.What) }, nil)
	check(err)
	fmt.Println(done.Tables, "table,", done.Findings, "findings")
	// Output: 1 table, 0 findings
}

func createOrders(ctx context.Context, client *dynamodb.Client) {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String("orders"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("customer"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("order"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("customer"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("order"), KeyType: types.KeyTypeRange},
		},
	})
	check(err)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
