package seeds

import (
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestCatFecitoOrder is the document's section 5: one transaction writes the order twice and, for every line, updates its item,
// the cart and the stock.
func TestCatFecitoOrder(t *testing.T) {
	premium := values("PK", "PRODUCT#product1", "SK", "METADATA")

	t.Run("5.1 creates the order, empties the cart, takes the stock", func(t *testing.T) {
		db := open(t, "catfecito")
		db.transact(createOrder("uuid", "order3", 2, "product1"))
		for _, want := range []struct{ pk, sk, attribute, value string }{
			{"ORDER#order3", "METADATA", "total", "3500"},
			{"USER#uuid", "ORDER#order3", "status", "pending"},
			{"ORDER#order3", "ITEM#product1", "product_name", "Café Premium"},
			{"PRODUCT#product1", "METADATA", "stock", "8"},
		} {
			stored := db.get(catFecito, values("PK", want.pk, "SK", want.sk))
			wantStrings(t, []item{stored}, want.attribute, want.value)
		}
		if line := db.get(catFecito, values("PK", "USER#uuid", "SK", "CART#product1")); line != nil {
			t.Errorf("the cart still holds %v", fromItem(line))
		}
	})

	t.Run("5.1 out of stock changes nothing", func(t *testing.T) {
		db := open(t, "catfecito")
		_, err := db.TransactWriteItems(t.Context(), createOrder("uuid", "order3", 11, "product1"))
		wantCanceled(t, err, "None", "None", "None", "None", "ConditionalCheckFailed")
		if order := db.get(catFecito, values("PK", "ORDER#order3", "SK", "METADATA")); order != nil {
			t.Error("the cancelled order exists")
		}
		if line := db.get(catFecito, values("PK", "USER#uuid", "SK", "CART#product1")); line == nil {
			t.Error("the cart lost its line")
		}
		wantStrings(t, []item{db.get(catFecito, premium)}, "stock", "10")
	})

	t.Run("5.1 every failed condition has its place among the reasons", func(t *testing.T) {
		db := open(t, "catfecito")
		_, err := db.TransactWriteItems(t.Context(), createOrder("uuid", "order3", 4, "product1", "product2", "product3"))
		wantCanceled(t, err, "None", "None", "None", "None", "None", // the order, its copy, and the three of product1
			"None", "None", "ConditionalCheckFailed", "None", "None", "ConditionalCheckFailed")
	})

	t.Run("5.1 a retry takes the stock twice", func(t *testing.T) {
		db := open(t, "catfecito")
		db.transact(createOrder("uuid", "order3", 2, "product1"))
		db.transact(createOrder("uuid", "order3", 2, "product1")) // the cart line is gone, and deleting a missing item succeeds
		wantStrings(t, []item{db.get(catFecito, premium)}, "stock", "6")
	})

	t.Run("5.1 a retry under a token takes it once", func(t *testing.T) {
		db := open(t, "catfecito")
		order := createOrder("uuid", "order3", 2, "product1")
		order.ClientRequestToken = aws.String(rand.Text())
		db.transact(order)
		db.transact(order)
		wantStrings(t, []item{db.get(catFecito, premium)}, "stock", "8")

		other := createOrder("uuid", "order4", 2, "product1")
		other.ClientRequestToken = order.ClientRequestToken
		_, err := db.TransactWriteItems(t.Context(), other)
		wantError(t, err, "IdempotentParameterMismatchException", "")
	})

	t.Run("5.1 holds at most 32 lines", func(t *testing.T) {
		db := open(t, "catfecito")
		var products []string
		for n := range 33 {
			id := fmt.Sprintf("bulk-%02d", n)
			products = append(products, id)
			db.put(catFecito, values("PK", "PRODUCT#"+id, "SK", "METADATA", "stock", 9))
		}
		_, err := db.TransactWriteItems(t.Context(), createOrder("uuid", "order3", 2, products...))
		wantError(t, err, "ValidationException", "Member must have length less than or equal to 100")
		db.transact(createOrder("uuid", "order3", 2, products[:32]...)) // 98 actions
		wantStrings(t, []item{db.get(catFecito, values("PK", "PRODUCT#bulk-31", "SK", "METADATA"))}, "stock", "7")
	})

	t.Run("5.1 one action an item", func(t *testing.T) {
		db := open(t, "catfecito")
		_, err := db.TransactWriteItems(t.Context(), createOrder("uuid", "order3", 1, "product1", "product1"))
		wantError(t, err, "ValidationException",
			"Transaction request cannot include multiple operations on one item")
	})

	t.Run("5.1 three lines cost 32 write units", func(t *testing.T) {
		db := open(t, "catfecito")
		db.put(catFecito, values("PK", "USER#uuid", "SK", "CART#product4",
			"GSI1PK", "PRODUCT#product4", "GSI1SK", "USER#uuid", "quantity", 2))
		order := createOrder("uuid", "order3", 2, "product1", "product2", "product4")
		order.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		out := db.transact(order)
		if len(out.ConsumedCapacity) != 1 {
			t.Fatalf("capacity of %d tables, want 1", len(out.ConsumedCapacity))
		}
		consumed := out.ConsumedCapacity[0]
		units := consumed.GlobalSecondaryIndexes
		wantEqual(t, "units of all", aws.ToFloat64(consumed.CapacityUnits), 32)
		wantEqual(t, "units of the table", aws.ToFloat64(consumed.Table.CapacityUnits), 22) // 11 actions, doubled
		wantEqual(t, "units of GSI1", aws.ToFloat64(units["GSI1"].CapacityUnits), 7)        // the copy; cart and stock of each line
		wantEqual(t, "units of GSI2", aws.ToFloat64(units["GSI2"].CapacityUnits), 3)        // stock is projected
	})

	t.Run("5.2 orders of a user come by id, not by time", func(t *testing.T) {
		db := open(t, "catfecito")
		for n, id := range []string{"f47ac10b", "0e02b2c3", "9b1deb4d"} { // in this order
			db.put(catFecito, values("PK", "USER#uuid3", "SK", "ORDER#"+id,
				"total", 100*n, "created_at", fmt.Sprintf("2026-02-1%dT00:00:00.000Z", n)))
		}
		orders := &dynamodb.QueryInput{
			TableName:                 aws.String(catFecito),
			KeyConditionExpression:    aws.String("PK = :pk AND begins_with(SK, :sk)"),
			ExpressionAttributeValues: values(":pk", "USER#uuid3", ":sk", "ORDER#"),
		}
		wantStrings(t, db.query(orders).Items, "SK", "ORDER#0e02b2c3", "ORDER#9b1deb4d", "ORDER#f47ac10b")

		orders.ExpressionAttributeValues = values(":pk", "USER#uuid", ":sk", "ORDER#")
		wantStrings(t, db.query(orders).Items, "status", "paid", "pending")
	})

	t.Run("5.3 order with its items, the header last", func(t *testing.T) {
		db := open(t, "catfecito")
		whole := &dynamodb.QueryInput{
			TableName:                 aws.String(catFecito),
			KeyConditionExpression:    aws.String("PK = :pk"),
			ExpressionAttributeValues: values(":pk", "ORDER#order1"),
		}
		wantStrings(t, db.query(whole).Items, "SK", "ITEM#product1", "ITEM#product2", "METADATA")
		whole.ScanIndexForward = aws.Bool(false)
		wantStrings(t, db.query(whole).Items, "SK", "METADATA", "ITEM#product2", "ITEM#product1")
	})

	t.Run("GSI1 metadata of an order", func(t *testing.T) {
		db := open(t, "catfecito")
		out := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(catFecito),
			IndexName:                 aws.String("GSI1"),
			KeyConditionExpression:    aws.String("GSI1PK = :order AND GSI1SK = :metadata"),
			ExpressionAttributeValues: values(":order", "ORDER#order1", ":metadata", "METADATA"),
		})
		wantStrings(t, out.Items, "PK", "USER#uuid") // the copy; the order itself has no index keys
	})
}

// createOrder is the document's transaction, with three actions per product.
func createOrder(userID, orderID string, quantity int, products ...string) *dynamodb.TransactWriteItemsInput {
	table := aws.String(catFecito)
	actions := []types.TransactWriteItem{
		{Put: &types.Put{TableName: table, Item: values("PK", "ORDER#"+orderID, "SK", "METADATA",
			"user_id", userID, "total", 3500, "status", "pending", "created_at", "2026-02-11T10:30:00.000Z")}},
		{Put: &types.Put{TableName: table, Item: values("PK", "USER#"+userID, "SK", "ORDER#"+orderID,
			"GSI1PK", "ORDER#"+orderID, "GSI1SK", "METADATA", "total", 3500, "status", "pending")}},
	}
	for _, id := range products {
		actions = append(actions,
			types.TransactWriteItem{Put: &types.Put{TableName: table, Item: values("PK", "ORDER#"+orderID, "SK", "ITEM#"+id,
				"product_name", "Café Premium", "quantity", quantity, "price", 1500, "subtotal", 1500*quantity)}},
			types.TransactWriteItem{Delete: &types.Delete{
				TableName: table, Key: values("PK", "USER#"+userID, "SK", "CART#"+id),
			}},
			types.TransactWriteItem{Update: &types.Update{
				TableName:                 table,
				Key:                       values("PK", "PRODUCT#"+id, "SK", "METADATA"),
				UpdateExpression:          aws.String("SET stock = stock - :qty"),
				ConditionExpression:       aws.String("stock >= :qty"),
				ExpressionAttributeValues: values(":qty", quantity),
			}})
	}
	return &dynamodb.TransactWriteItemsInput{TransactItems: actions}
}
