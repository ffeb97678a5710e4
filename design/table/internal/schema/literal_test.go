package schema_test

import (
	"reflect"
	"testing"

	. "github.com/monotable/monotable/design/table/internal/schema"
)

// TestTemplateOf tests that a template's text parses to the same template.
func TestTemplateOf(t *testing.T) {
	for text, want := range map[string]Template{
		"":         nil,
		"METADATA": {{Literal: "METADATA"}},
		"ORDER#{createdAt}#{orderId|lower|first(3)}": {
			{Literal: "ORDER#"}, {Field: "createdAt"}, {Literal: "#"}, {Field: "orderId", Funcs: []Func{{Name: "lower"}, {Name: "first", Arg: "3"}}},
		},
		"{{{id|shard(auto)}}}é": {{Literal: "{"}, {Field: "id", Funcs: []Func{{Name: "shard", Arg: "auto"}}}, {Literal: "}é"}},
	} {
		if got := TemplateOf(text); !reflect.DeepEqual(got, want) || got.String() != text {
			t.Errorf("%q is %+v, whose text is %q; want %+v", text, got, got.String(), want)
		}
	}
}
