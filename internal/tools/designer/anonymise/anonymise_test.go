package anonymise_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/anonymise"
)

const shop = `
design: 1
name: Shop
tables:
  shop: { name: "shop-{stage}", key: { pk: PK, sk: SK } }
  audit: { name: "shop-audit-{stage}", key: { pk: PK, sk: SK } }
entities:
  User:
    table: shop
    key: { pk: "USER#{userId}", sk: PROFILE }
    fields: { userId: id, email: email }
  Entry:
    table: audit
    key: { pk: "ENTRY#{entryId}", sk: ENTRY }
    fields: { entryId: id, email: email }
`

// TestSimilarTables: an item is of the table whose name fits best, although the stage of the other could be audit-prod.
func TestSimilarTables(t *testing.T) {
	d, err := design.Parse("shop.design.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	for name, item := range map[string]table.Item{
		"shop-prod":       {"PK": s("USER#1"), "SK": s("PROFILE"), "userId": s("1"), "email": s("ana@shop.mx")},
		"shop-audit-prod": {"PK": s("ENTRY#1"), "SK": s("ENTRY"), "entryId": s("1"), "email": s("ana@shop.mx")},
		"audit":           {"PK": s("ENTRY#1"), "SK": s("ENTRY"), "entryId": s("1"), "email": s("ana@shop.mx")},
	} {
		if _, err := anonymise.New(d).Item([]byte("seed"), name, item); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
