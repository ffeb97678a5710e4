package itemenc_test

import (
	"bytes"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// Replacing attributes in the encoded form gives the encoding of the item with the attributes replaced.
func TestReplace(t *testing.T) {
	number := attr.Number
	old := attr.Item{
		{Name: "b", Value: attr.String("text")},
		{Name: "d", Value: attr.List([]attr.Value{number("1"), attr.Null()})},
		{Name: "f", Value: number("42")},
	}
	for _, tt := range []struct {
		name  string
		names []string
		with  attr.Item
		want  attr.Item
	}{
		{"nothing", nil, nil, old},
		{"another value", []string{"d"}, attr.Item{{Name: "d", Value: number("7")}}, old.With("d", number("7"))},
		{"a removal", []string{"b"}, nil, old.Without("b")},
		{
			"additions around",
			[]string{"a", "c", "g"},
			attr.Item{{Name: "a", Value: number("1")}, {Name: "c", Value: number("2")}, {Name: "g", Value: number("3")}},
			old.With("a", number("1")).With("c", number("2")).With("g", number("3")),
		},
		{"removal of what is not there", []string{"c", "z"}, attr.Item{}, old},
		{"not named", []string{"f"}, attr.Item{{Name: "b", Value: number("1")}, {Name: "f", Value: number("2")}}, old.With("f", number("2"))},
		{"all", []string{"b", "d", "f"}, attr.Item{}, attr.Item{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := itemenc.Encode(nil, old).Replace([]byte("before"), tt.names, tt.with)
			if err != nil {
				t.Fatal(err)
			}
			if want := itemenc.Encode([]byte("before"), tt.want); !bytes.Equal(got, want) {
				t.Errorf("got %x\nwant %x", got, want)
			}
		})
	}
}
