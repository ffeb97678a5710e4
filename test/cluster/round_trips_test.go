package cluster

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv/postgrestest"
	"github.com/monotable/monotable/test/internal/link"
)

const orders = "orders"

func orderKey(n int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "customer"}, "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}}
}

// order returns an item of a kilobyte that is in both indexes.
func order(n int) map[string]types.AttributeValue {
	item := orderKey(n)
	item["status"] = &types.AttributeValueMemberS{Value: "open"}
	item["day"] = &types.AttributeValueMemberS{Value: "2026-11-24"}
	item["text"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 900) + rand.Text()} // puts differ
	return item
}

// createOrders creates a table with two indexes and a stream.
func createOrders(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(orders), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}
	for _, by := range []string{"status", "day"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(by), AttributeType: types.ScalarAttributeTypeS})
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String("by" + by), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(by), KeyType: types.KeyTypeHash}},
		})
	}
	if _, err := c.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// TestRoundTrips: a request needs at most as many round trips to PostgreSQL as docs/postgresql.md says.
func TestRoundTrips(t *testing.T) {
	server, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Remove)
	way := link.New(t, "unix", server.Socket())
	db, err := monotable.OpenStore(t.Context(), "postgres://postgres@"+way.Address()+"/postgres", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := db.Client()
	createOrders(t, c)
	next := 0
	put := func() error {
		next++
		_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(orders), Item: order(next % 100), ConditionExpression: aws.String("attribute_not_exists(pk) OR #s = :open"),
			ExpressionAttributeNames:  map[string]string{"#s": "status"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":open": &types.AttributeValueMemberS{Value: "open"}},
		})
		return err
	}
	for range 100 {
		if err := put(); err != nil {
			t.Fatal(err)
		}
	}
	var ten types.KeysAndAttributes
	var reads []types.TransactGetItem
	for n := range 10 {
		if ten.Keys = append(ten.Keys, orderKey(n)); n < 5 {
			reads = append(reads, types.TransactGetItem{Get: &types.Get{TableName: aws.String(orders), Key: orderKey(n)}})
		}
	}
	query := func(index *string, condition, value string) func() error {
		return func() error {
			out, err := c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: aws.String(orders), IndexName: index, KeyConditionExpression: &condition, Limit: aws.Int32(20), ExpressionAttributeNames: names(condition),
				ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: value}},
			})
			if err == nil && out.Count != 20 {
				err = fmt.Errorf("%d items", out.Count)
			}
			return err
		}
	}
	for _, request := range []struct {
		name  string
		trips int
		do    func() error
	}{
		{"GetItem", 1, func() error {
			_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(orders), Key: orderKey(1)})
			return err
		}},
		{"GetItem, strongly consistent", 1, func() error {
			_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(orders), Key: orderKey(1), ConsistentRead: aws.Bool(true)})
			return err
		}},
		{"Query of 20 items", 1, query(nil, "pk = :v", "customer")},
		{"Query of an index, 20 items", 1, query(aws.String("bystatus"), "#s = :v", "open")},
		{"BatchGetItem of 10 items", 10, func() error {
			_, err := c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{orders: ten}})
			return err
		}},
		{"PutItem with a condition", 2, put},
		{"DeleteItem of a missing item", 2, func() error {
			_, err := c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(orders), Key: orderKey(1000)})
			return err
		}},
		{"BatchWriteItem of 20 items", 2, func() error {
			var twenty []types.WriteRequest
			for n := range 20 {
				twenty = append(twenty, types.WriteRequest{PutRequest: &types.PutRequest{Item: order(n)}})
			}
			_, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{orders: twenty}})
			return err
		}},
		{"TransactWriteItems of 5 items", 2, func() error {
			var writes []types.TransactWriteItem
			for n := range 5 {
				writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(orders), Item: order(n)}})
			}
			_, err := c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: writes})
			return err
		}},
		// The end of a snapshot is asynchronous, so it may or may not be counted here.
		{"TransactGetItems of 5 items", 6 + 1, func() error {
			_, err := c.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: reads})
			return err
		}},
	} {
		trips, up, down := 0, 0, 0
		for n := range 30 { // the server also sends queries of its own
			before := way.Traffic()
			if err := request.do(); err != nil {
				t.Fatalf("%s: %v", request.name, err)
			}
			after := way.Traffic()
			if took := after.Flights[link.Up] - before.Flights[link.Up]; n == 0 || took < trips {
				trips, up, down = took, after.Bytes[link.Up]-before.Bytes[link.Up], after.Bytes[link.Down]-before.Bytes[link.Down]
			}
		}
		t.Logf("%-30s %d round trips, %6d bytes to PostgreSQL, %6d back", request.name, trips, up, down)
		if trips > request.trips {
			t.Errorf("%s takes %d round trips, want %d", request.name, trips, request.trips)
		}
	}
}

func names(condition string) map[string]string {
	if strings.Contains(condition, "#s") {
		return map[string]string{"#s": "status"}
	}
	return nil
}
