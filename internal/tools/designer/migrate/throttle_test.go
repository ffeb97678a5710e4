package migrate

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// TestMeter: what several spend at once takes the time that the units are worth, parts of units included.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, begun := newMeter(500), time.Now()
		var spenders sync.WaitGroup
		for range 4 {
			spenders.Go(func() {
				for range 1000 {
					if err := m.spend(t.Context(), true, types.ConsumedCapacity{CapacityUnits: aws.Float64(2.5)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		spenders.Wait()
		if took := time.Since(begun); took < 18*time.Second || took > 20*time.Second {
			t.Errorf("10,000 units at 500 a second took %s, want 19 s after the first second's", took)
		}
		if read, write := m.spent(); read != 10000 || write != 0 {
			t.Errorf("it has counted %g and %g", read, write)
		}
	})
}

// TestLeftover: what goes of an item is what only the old design has, inside of maps too.
func TestLeftover(t *testing.T) {
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
