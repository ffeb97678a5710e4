package migrate

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// TestLeftoverHasOnlyOldAttributes tests that exactly what only the old design has is removed from an item, inside maps
// too.
func TestLeftoverHasOnlyOldAttributes(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	item := table.Item{"PK": text("a"), "old": text("b"), "address": &types.AttributeValueMemberM{Value: table.Item{"street": text("c"), "city": text("d")}}}
	a := content{"PK": nil, "old": nil, "address": {{"address", "street"}, {"address", "city"}}}
	b := content{"PK": nil, "address": {{"address", "city"}}}
	var l leftover
	for _, path := range append(beyond(a, b), []string{"address", "zip"}) {
		if within(item, path) {
			l.parts = append(l.parts, path)
		}
	}
	if got := paths(l.parts); got != "address.street, old" {
		t.Errorf("%s goes", got)
	}
	want := table.Item{"PK": text("a"), "address": &types.AttributeValueMemberM{Value: table.Item{"city": text("d")}}}
	if got := l.without(item); !same(got, want) {
		t.Errorf("what is left is %v", got)
	}
	if item["old"] == nil {
		t.Error("the item itself has changed")
	}
	if (leftover{whole: true}).without(item) != nil {
		t.Error("an item that goes is left")
	}
}
