package derive_test

import (
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
)

// TestExpiry: an item expires at the first whole second that is not before its time, which is between 1970 and the
// limit of 64 bits.
func TestExpiry(t *testing.T) {
	table := &catalog.Table{TTLAttribute: "exp"}
	for _, c := range []struct {
		value   attr.Value
		seconds int64
		ok      bool
	}{
		{attr.Number("0"), 0, true},
		{attr.Number("0.001"), 1, true},
		{attr.Number("1700000000"), 1_700_000_000, true},
		{attr.Number("1700000000.5"), 1_700_000_001, true},
		{attr.Number("-1"), 0, false},
		{attr.Number("-0.5"), 0, false},
		{attr.Number("9223372036854775806"), 9223372036854775806, true},
		{attr.Number("9223372036854775806.5"), 0, false},
		{attr.Number("9223372036854775807"), 0, false},
		{attr.Number("9223372036854775808"), 0, false},
		{attr.String("1700000000"), 0, false},
		{attr.Null(), 0, false},
	} {
		stored := itemenc.Encode(nil, attr.Item{{Name: "exp", Value: c.value}})
		seconds, ok, err := derive.Expiry(table, stored)
		if err != nil || ok != c.ok || ok && seconds != c.seconds {
			t.Errorf("%v expires at %d, %v, %v, want %d, %v", c.value, seconds, ok, err, c.seconds, c.ok)
		}
	}
	if _, ok, err := derive.Expiry(table, itemenc.Encode(nil, attr.Item{})); ok || err != nil {
		t.Errorf("an item without the attribute expires: %v", err)
	}
}
