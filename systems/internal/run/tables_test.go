package run_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

// orders is a table that has everything that can differ.
func orders(change func(*system.Table)) []system.Table {
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	t := system.Table{TTL: "expires", Create: &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("pk", types.ScalarAttributeTypeS), attribute("sk", types.ScalarAttributeTypeS), attribute("day", types.ScalarAttributeTypeS),
		},
		KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byDay"), KeySchema: []types.KeySchemaElement{key("day", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}, {
			IndexName: aws.String("byDayKeys"), KeySchema: []types.KeySchemaElement{key("day", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"total"}},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}}
	if change != nil {
		change(&t)
	}
	return []system.Table{t}
}

func TestEnsureTables(t *testing.T) {
	t.Parallel()
	client := monotabletest.NewWith(t, &monotable.Options{TableDelay: 50 * time.Millisecond}).Client()
	for range 2 { // created, then found
		if err := run.EnsureTables(t.Context(), client, orders(nil)); err != nil {
			t.Fatal(err)
		}
		described, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
		if err != nil || described.Table.TableStatus != types.TableStatusActive {
			t.Fatalf("%v, want an active table", err)
		}
		ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("orders")})
		if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != "expires" {
			t.Fatalf("%v, want that items expire by expires", err)
		}
	}
	for name, test := range map[string]struct {
		change func(*system.Table)
		want   string
	}{
		"another key": {func(t *system.Table) { t.Create.KeySchema = t.Create.KeySchema[:1] }, "key is pk S, sk S, want pk S"},
		"another type": {func(t *system.Table) {
			t.Create.AttributeDefinitions[1].AttributeType = types.ScalarAttributeTypeN
		}, "key is pk S, sk S, want pk S, sk N"},
		"another index": {func(t *system.Table) { t.Create.GlobalSecondaryIndexes[0].IndexName = aws.String("byNight") }, "index byNight is none, want day S, sk S"},
		"less in an index": {func(t *system.Table) {
			t.Create.GlobalSecondaryIndexes[1].Projection.NonKeyAttributes = []string{"total", "note"}
		}, "index byDayKeys does not project note"},
		"no stream":   {func(t *system.Table) { t.Create.StreamSpecification = nil }, "stream is NEW_AND_OLD_IMAGES, want none"},
		"another TTL": {func(t *system.Table) { t.TTL = "until" }, "expires by attribute expires, want until"},
	} {
		err := run.EnsureTables(t.Context(), client, orders(test.change))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "orders") {
			t.Errorf("%s: %v, want an error with %q", name, err, test.want)
		}
	}
}

// order is an item of the table in generated code.
type order struct{}

// TestItemsOfAnotherDesign: a table is not opened if all items of a kind are unreadable; a single damaged item does not prevent it.
func TestItemsOfAnotherDesign(t *testing.T) {
	t.Parallel()
	client := monotabletest.New(t).Client()
	open := func() error {
		return run.EnsureTables(t.Context(), client, orders(func(t *system.Table) {
			t.Decode = func(it table.Item) (any, table.Place, error) {
				if it["total"] == nil {
					return nil, table.Place{}, &table.DecodeError{Entity: "Order", Field: "total", Reason: "is missing"}
				}
				return order{}, table.Place{}, nil
			}
		}))
	}
	put := func(id string, total types.AttributeValue) {
		t.Helper()
		item := table.Item{"pk": &types.AttributeValueMemberS{Value: id}, "sk": &types.AttributeValueMemberS{Value: id}}
		if total != nil {
			item["total"] = total
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	put("1", nil)
	put("2", nil)
	if err := open(); err == nil || !strings.Contains(err.Error(), "stored Order.total is missing") || !strings.Contains(err.Error(), "monotable migrate") {
		t.Errorf("orders without a total: %v", err)
	}
	put("1", &types.AttributeValueMemberN{Value: "7"})
	if err := open(); err != nil {
		t.Errorf("one of two orders is damaged: %v", err)
	}
}
