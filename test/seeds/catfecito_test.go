package seeds

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const catFecito = "catfecito-serverless-dev"

func TestCatFecito(t *testing.T) {
	t.Run("table with provisioned throughput and a stream", func(t *testing.T) {
		db := open(t, "catfecito")
		db.wantTables("catfecito")
	})

	t.Run("sample items come back equal", func(t *testing.T) {
		db := open(t, "catfecito")
		db.wantSampleItems("catfecito")
	})

	t.Run("1.1 user by id", func(t *testing.T) {
		db := open(t, "catfecito")
		user := db.get(catFecito, values("PK", "USER#uuid", "SK", "METADATA"))
		wantStrings(t, []item{user}, "email", "juan@mail.com")
	})

	t.Run("1.2 user by email", func(t *testing.T) {
		db := open(t, "catfecito")
		byEmail := func(email string) []item {
			return db.query(&dynamodb.QueryInput{
				TableName:                 aws.String(catFecito),
				IndexName:                 aws.String("GSI2"),
				KeyConditionExpression:    aws.String("GSI2PK = :email"),
				ExpressionAttributeValues: values(":email", "EMAIL#"+email),
			}).Items
		}
		found := byEmail("juan@mail.com")
		wantStrings(t, found, "PK", "USER#uuid")
		wantStrings(t, found, "password", "$2b$10$N9qo8uLOickgx2ZMRZoMye") // projection ALL copies the hash
		wantStrings(t, byEmail("Juan@mail.com"), "PK")                     // keys are compared as bytes, so case matters
		wantStrings(t, byEmail("ana@mail.com"), "PK")                      // stored as in the schema table
	})

	t.Run("2.1 all active products reads the whole table", func(t *testing.T) {
		db := open(t, "catfecito")
		out := db.scan(&dynamodb.ScanInput{
			TableName:                 aws.String(catFecito),
			FilterExpression:          aws.String("begins_with(PK, :pk) AND SK = :sk AND is_active = :active"),
			ExpressionAttributeValues: values(":pk", "PRODUCT#", ":sk", "METADATA", ":active", true),
		})
		ids := column(out.Items, "id")
		slices.Sort(ids)
		wantEqual(t, "active products", ids, []string{"product1", "product2", "product4"})
		wantEqual(t, "items read", int(out.ScannedCount), len(itemsOf(t, "catfecito")[catFecito]))
	})

	t.Run("2.2 active products of a category", func(t *testing.T) {
		db := open(t, "catfecito")
		out := db.query(activeOf("cafes"))
		wantStrings(t, out.Items, "id", "product1", "product2")
		wantEqual(t, "items read", out.ScannedCount, 3)
	})

	t.Run("2.2 limit counts before the filter", func(t *testing.T) {
		db := open(t, "catfecito")
		db.put(catFecito, values("PK", "PRODUCT#product5", "SK", "METADATA", "id", "product5", "is_active", true,
			"GSI1PK", "CATEGORY#cafes", "GSI1SK", "PRODUCT#product5"))
		byCategory := activeOf("cafes")
		byCategory.Limit = aws.Int32(1)
		pages := db.pages(byCategory)
		wantEqual(t, "sizes of the pages", pageSizes(pages)[:4], []int{1, 1, 0, 1})
		wantStrings(t, slices.Concat(pages...), "id", "product1", "product2", "product5")
	})

	t.Run("2.3 products by name prefix", func(t *testing.T) {
		db := open(t, "catfecito")
		byName := &dynamodb.QueryInput{
			TableName:                 aws.String(catFecito),
			IndexName:                 aws.String("GSI2"),
			KeyConditionExpression:    aws.String("begins_with(GSI2PK, :prefix)"),
			ExpressionAttributeValues: values(":prefix", "PRODUCT#café"),
		}
		_, err := db.Query(t.Context(), byName)
		wantError(t, err, "ValidationException", "Query key condition not supported")

		byName.KeyConditionExpression = aws.String("GSI2PK = :prefix")
		byName.ExpressionAttributeValues = values(":prefix", "PRODUCT#café premium")
		wantStrings(t, db.query(byName).Items, "id") // the stored key is a slug
		byName.ExpressionAttributeValues = values(":prefix", "PRODUCT#cafe-premium")
		wantStrings(t, db.query(byName).Items, "id", "product1")
	})

	t.Run("3.1 all categories", func(t *testing.T) {
		db := open(t, "catfecito")
		out := db.scan(&dynamodb.ScanInput{
			TableName:                 aws.String(catFecito),
			FilterExpression:          aws.String("begins_with(PK, :pk) AND SK = :sk"),
			ExpressionAttributeValues: values(":pk", "CATEGORY#", ":sk", "METADATA"),
		})
		names := column(out.Items, "name")
		slices.Sort(names)
		wantEqual(t, "categories", names, []string{"Cafés", "Tazas"})
	})

	t.Run("3.2 category by slug", func(t *testing.T) {
		db := open(t, "catfecito")
		category := db.get(catFecito, values("PK", "CATEGORY#cafes", "SK", "METADATA"))
		wantStrings(t, []item{category}, "description", "Granos y molidos")
	})

	t.Run("projection: id, #name, price", func(t *testing.T) {
		db := open(t, "catfecito")
		in := &dynamodb.GetItemInput{
			TableName:                aws.String(catFecito),
			Key:                      values("PK", "PRODUCT#product4", "SK", "METADATA"),
			ProjectionExpression:     aws.String("id, #name, price"),
			ExpressionAttributeNames: map[string]string{"#name": "name"},
			ReturnConsumedCapacity:   types.ReturnConsumedCapacityTotal,
		}
		out, err := db.GetItem(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, out.Item, with(values("id", "product4", "name", "Taza Gato"),
			"price", &types.AttributeValueMemberN{Value: "2250.5"}))
		wantEqual(t, "units, as for the whole item", aws.ToFloat64(out.ConsumedCapacity.CapacityUnits), 0.5)

		in.ProjectionExpression, in.ExpressionAttributeNames = aws.String("id, name, price"), nil
		_, err = db.GetItem(t.Context(), in)
		wantError(t, err, "ValidationException",
			"Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: name")
	})

	t.Run("put of an item that must not exist", func(t *testing.T) {
		db := open(t, "catfecito")
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName:                           aws.String(catFecito),
			Item:                                values("PK", "PRODUCT#product1", "SK", "METADATA", "name", "otro"),
			ConditionExpression:                 aws.String("attribute_not_exists(PK)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		wantError(t, err, "ConditionalCheckFailedException", "The conditional request failed")
		wantStrings(t, []item{conflictingItem(t, err)}, "name", "Café Premium")
		unharmed := db.get(catFecito, values("PK", "PRODUCT#product1", "SK", "METADATA"))
		wantStrings(t, []item{unharmed}, "name", "Café Premium")
	})
}

func TestCatFecitoCart(t *testing.T) {
	line := values("PK", "USER#uuid", "SK", "CART#product1")

	t.Run("4.1 cart of a user", func(t *testing.T) {
		db := open(t, "catfecito")
		out := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(catFecito),
			KeyConditionExpression:    aws.String("PK = :pk AND begins_with(SK, :sk)"),
			ExpressionAttributeValues: values(":pk", "USER#uuid", ":sk", "CART#"),
		})
		wantStrings(t, out.Items, "SK", "CART#product1", "CART#product2")
		wantStrings(t, out.Items, "quantity", "2", "1")
	})

	t.Run("4.2 adding the same product again overwrites its line", func(t *testing.T) {
		db := open(t, "catfecito")
		again := with(line, "GSI1PK", "PRODUCT#product1", "GSI1SK", "USER#uuid", "quantity", 1,
			"created_at", "2026-02-12T08:00:00.000Z")
		out, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(catFecito), Item: again, ReturnValues: types.ReturnValueAllOld,
		})
		if err != nil {
			t.Fatal(err)
		}
		wantStrings(t, []item{out.Attributes}, "quantity", "2")
		wantItem(t, db.get(catFecito, line), again) // replaced instead of 3, and the first created_at is lost
	})

	t.Run("4.3 removing a line, even one that is not there", func(t *testing.T) {
		db := open(t, "catfecito")
		remove := &dynamodb.DeleteItemInput{
			TableName: aws.String(catFecito), Key: line, ReturnValues: types.ReturnValueAllOld,
		}
		out, err := db.DeleteItem(t.Context(), remove)
		if err != nil {
			t.Fatal(err)
		}
		wantStrings(t, []item{out.Attributes}, "quantity", "2")
		out, err = db.DeleteItem(t.Context(), remove)
		if err != nil || out.Attributes != nil {
			t.Errorf("second removal: %v, %v; want no attributes, no error", out, err)
		}
	})

	t.Run("GSI1 users with a product in the cart", func(t *testing.T) {
		db := open(t, "catfecito")
		db.put(catFecito, values("PK", "USER#other", "SK", "CART#product1",
			"GSI1PK", "PRODUCT#product1", "GSI1SK", "USER#other", "quantity", 5))
		out := db.query(&dynamodb.QueryInput{
			TableName:                 aws.String(catFecito),
			IndexName:                 aws.String("GSI1"),
			KeyConditionExpression:    aws.String("GSI1PK = :product AND begins_with(GSI1SK, :user)"),
			ExpressionAttributeValues: values(":product", "PRODUCT#product1", ":user", "USER#"),
		})
		wantStrings(t, out.Items, "GSI1SK", "USER#other", "USER#uuid")
		wantStrings(t, out.Items, "quantity", "5", "2")
	})
}

// activeOf is the document's query for the active products of a category.
func activeOf(category string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 aws.String(catFecito),
		IndexName:                 aws.String("GSI1"),
		KeyConditionExpression:    aws.String("GSI1PK = :category"),
		FilterExpression:          aws.String("is_active = :active"),
		ExpressionAttributeValues: values(":category", "CATEGORY#"+category, ":active", true),
	}
}
