package enforce_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/enforce"
	"github.com/monotable/monotable/internal/tools/designer/attach"
)

type item = map[string]types.AttributeValue

func s(text string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: text} }
func n(number string) types.AttributeValue { return &types.AttributeValueMemberN{Value: number} }

// order is a valid item of the design with some attributes changed; nil removes one.
func order(change item) item {
	it := item{
		"PK": s("USER#u1"), "SK": s("ORDER#o1"), "userId": s("u1"), "orderId": s("o1"), "status": s("open"), "total": n("500"),
		"placedAt": s("2026-01-15T10:00:00.000Z"), "GSI1PK": s("STATUS#open"), "GSI1SK": s("2026-01-15T10:00:00.000Z#o1"),
	}
	maps.Copy(it, change)
	maps.DeleteFunc(it, func(_ string, v types.AttributeValue) bool { return v == nil })
	return it
}

// shop is a database with a table, a copy of it for restores, and a table without a design.
func shop(t *testing.T) *dynamodb.Client {
	t.Helper()
	db, err := monotable.OpenMemory(&monotable.Options{ItemRules: enforce.Attached()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"PK", "SK", "GSI1PK", "GSI1SK"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	for _, name := range []string{"shop", "free"} {
		if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: key("PK", "SK"), AttributeDefinitions: attributes,
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
				IndexName: aws.String("GSI1"), KeySchema: key("GSI1PK", "GSI1SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	return client
}

func attachShop(t *testing.T, client *dynamodb.Client, tables ...string) {
	t.Helper()
	text, err := os.ReadFile("../../internal/tools/console/testdata/shop.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		if _, err := attach.Attach(t.Context(), client, attach.Design{
			File: "shop.design.yaml", Text: string(text), At: time.Unix(0, 0), Tables: map[string]string{"shop": name},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// writing is one of several ways to write the same item.
type writing struct {
	name string
	put  func(context.Context, *dynamodb.Client, item) error
}

func writings() []writing {
	table := aws.String("shop")
	return []writing{
		{"PutItem", func(ctx context.Context, c *dynamodb.Client, it item) error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: it})
			return err
		}},
		{"BatchWriteItem", func(ctx context.Context, c *dynamodb.Client, it item) error {
			_, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"shop": {{PutRequest: &types.PutRequest{Item: it}}}}})
			return err
		}},
		{"TransactWriteItems", func(ctx context.Context, c *dynamodb.Client, it item) error {
			_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: table, Item: it}}}})
			return err
		}},
		{"UpdateItem", func(ctx context.Context, c *dynamodb.Client, it item) error {
			set, names, values := []string(nil), map[string]string{}, item{}
			for name, v := range it {
				if name != "PK" && name != "SK" {
					set, names["#"+name], values[":"+name] = append(set, "#"+name+" = :"+name), name, v
				}
			}
			_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: table, Key: item{"PK": it["PK"], "SK": it["SK"]}, UpdateExpression: aws.String("SET " + strings.Join(set, ", ")),
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			})
			return err
		}},
		{"PartiQL", func(ctx context.Context, c *dynamodb.Client, it item) error {
			var members []string
			var values []types.AttributeValue
			for name, v := range it {
				members, values = append(members, "'"+name+"': ?"), append(values, v)
			}
			_, err := c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: aws.String("INSERT INTO shop VALUE {" + strings.Join(members, ", ") + "}"), Parameters: values})
			return err
		}},
	}
}

// refusal is the message that a client gets for a rejected item, directly or as the reason of a canceled transaction.
func refusal(t *testing.T, err error) string {
	t.Helper()
	if canceled, is := errors.AsType[*types.TransactionCanceledException](err); is {
		if got := aws.ToString(canceled.CancellationReasons[0].Code); got != "ValidationError" {
			t.Errorf("the transaction is canceled because of %s", got)
		}
		return aws.ToString(canceled.CancellationReasons[0].Message)
	}
	said, is := errors.AsType[smithy.APIError](err)
	if !is {
		return ""
	}
	if said.ErrorCode() != "ValidationException" || said.ErrorFault() == smithy.FaultServer {
		t.Errorf("the error is %s, of the %s", said.ErrorCode(), said.ErrorFault())
	}
	return said.ErrorMessage()
}

// TestAttached: every kind of write rejects items that do not match the design and says why; matching items are written.
func TestAttached(t *testing.T) {
	t.Parallel()
	client := shop(t)
	attachShop(t, client, "shop")
	for _, w := range writings() {
		for _, c := range []struct {
			name string
			it   item
			want string // "": written
		}{
			{"no entity has the key", order(item{"PK": s("CART#1"), "SK": s("OPEN")}), "PK=CART#1 SK=OPEN: no entity has such a key"},
			{"the key is not that of the fields", order(item{"SK": s("ORDER#o2")}), "Order: SK is ORDER#o2, but by its fields it should be ORDER#o1"},
			{"a required field is missing", order(item{"total": nil}), "Order: total is missing"},
			{"a field has another type", order(item{"total": s("500")}), "Order: total is a value of type S, not a whole number"},
			{"a value is not of the enumeration", order(item{"status": s("lost"), "GSI1PK": s("STATUS#lost")}), "Order: status is no"},
			{"the key of an index is stale", order(item{"GSI1PK": s("STATUS#paid")}), "Order: GSI1PK is STATUS#paid, but should be STATUS#open"},
			{"a marker", item{"PK": s("EMAIL#ana@x.org"), "SK": s("UNIQUE"), "userId": s("u1"), "email": s("Ana@x.org")}, ""},
			{"an order", order(nil), ""},
		} {
			t.Run(w.name+"/"+c.name, func(t *testing.T) {
				err := w.put(t.Context(), client, c.it)
				switch got := refusal(t, err); {
				case c.want == "" && err != nil:
					t.Error(err)
				case !strings.Contains(got, c.want):
					t.Errorf("it says %q, want %q; %v", got, c.want, err)
				case c.want != "" && !strings.Contains(got, "the design of table shop (shop.design.yaml, version 1) does not allow this item"):
					t.Errorf("it says %q", got)
				}
			})
		}
		for _, key := range []item{{"PK": s("USER#u1"), "SK": s("ORDER#o1")}, {"PK": s("EMAIL#ana@x.org"), "SK": s("UNIQUE")}} {
			if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("shop"), Key: key}); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("free"), Item: item{"PK": s("any"), "SK": s("thing")}}); err != nil {
		t.Errorf("a table without a design: %v", err)
	}
}

// TestUpdateIsJudgedByItsResult: an update is rejected because of its result, and nothing is written.
func TestUpdateIsJudgedByItsResult(t *testing.T) {
	t.Parallel()
	client := shop(t)
	attachShop(t, client, "shop")
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("shop"), Item: order(nil)}); err != nil {
		t.Fatal(err)
	}
	key := item{"PK": s("USER#u1"), "SK": s("ORDER#o1")}
	for expression, want := range map[string]string{
		"REMOVE #t":                            "Order: total is missing",
		"SET #t = :v":                          "Order: total is a value of type S",
		"ADD #t :one":                          "",
		"SET note = :v":                        "",
		"SET placedAt = :v":                    "Order: placedAt is no",
		"SET GSI1SK = :v":                      "Order: GSI1SK is",
		"SET userId = :v":                      "by its fields it should be USER#text",
		"REMOVE GSI1PK, GSI1SK, note, userId ": "userId is missing",
	} {
		values := item{}
		for name, v := range (item{":v": s("text"), ":one": n("1")}) {
			if strings.Contains(expression, name) {
				values[name] = v
			}
		}
		if len(values) == 0 {
			values = nil
		}
		in := &dynamodb.UpdateItemInput{TableName: aws.String("shop"), Key: key, UpdateExpression: &expression, ExpressionAttributeValues: values}
		if strings.Contains(expression, "#t") {
			in.ExpressionAttributeNames = map[string]string{"#t": "total"}
		}
		_, err := client.UpdateItem(t.Context(), in)
		if got := refusal(t, err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q; %v", expression, got, want, err)
		}
	}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("shop"), Key: key})
	if err != nil || out.Item["total"].(*types.AttributeValueMemberN).Value != "501" || out.Item["GSI1PK"] == nil {
		t.Errorf("the order is %v; %v", out.Item, err)
	}
}

// TestRestoresAreFree: items from before a design was attached can be restored to a table with a design, and deleted.
func TestRestoresAreFree(t *testing.T) {
	t.Parallel()
	client := shop(t)
	odd := item{"PK": s("any"), "SK": s("thing")}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("free"), Item: odd}); err != nil {
		t.Fatal(err)
	}
	backup, err := client.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String("free"), BackupName: aws.String("odd")})
	if err != nil {
		t.Fatal(err)
	}
	attachShop(t, client, "free", "restored")
	if _, err := client.RestoreTableFromBackup(t.Context(), &dynamodb.RestoreTableFromBackupInput{BackupArn: backup.BackupDetails.BackupArn, TargetTableName: aws.String("restored")}); err != nil {
		t.Fatal(err)
	}
	if err := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 10*time.Millisecond, 100*time.Millisecond
	}).
		Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("restored")}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("restored"), Item: odd}); refusal(t, err) == "" {
		t.Errorf("writing the item a second time: %v", err)
	}
	deleted, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("restored"), Key: odd, ReturnValues: types.ReturnValueAllOld})
	if err != nil || len(deleted.Attributes) == 0 {
		t.Errorf("the restored item: %v, %v", deleted, err)
	}
}
