package itemenc_test

import (
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// Equality is that of the decoded items: sets have no order, wherever they stand; lists have one.
func TestEqual(t *testing.T) {
	set := func(members ...string) attr.Value {
		values := make([]attr.Value, len(members))
		for i, m := range members {
			values[i] = attr.String(m)
		}
		return attr.Set(attr.KindStringSet, values)
	}
	item := func(v attr.Value) itemenc.Item {
		return itemenc.Encode(nil, attr.Item{{Name: "k", Value: attr.String("1")}, {Name: "v", Value: v}})
	}
	list := func(values ...attr.Value) attr.Value { return attr.List(values) }
	for _, tt := range []struct {
		name string
		a, b itemenc.Item
		want bool
	}{
		{"absent", nil, nil, true},
		{"absent and present", nil, item(attr.Null()), false},
		{"same", item(attr.String("x")), item(attr.String("x")), true},
		{"other text of the same length", item(attr.String("x")), item(attr.String("y")), false},
		{"other type", item(attr.String("1")), item(attr.Number("1")), false},
		{"other length", item(attr.String("x")), item(attr.String("xx")), false},
		{"set in another order", item(set("a", "b")), item(set("b", "a")), true},
		{"other set", item(set("a", "b")), item(set("a", "c")), false},
		{"set inside a list", item(list(set("a", "b"))), item(list(set("b", "a"))), true},
		{"list in another order", item(list(attr.String("a"), attr.String("b"))), item(list(attr.String("b"), attr.String("a"))), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.a.Equal(tt.b)
			if err != nil || got != tt.want {
				t.Errorf("Equal = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}
