package schema_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestKinds compares each kind with the table of types in docs/design-language.md.
func TestKinds(t *testing.T) {
	texts := func(list ...string) []types.AttributeValue {
		out := make([]types.AttributeValue, len(list))
		for i := range list {
			out[i] = AText(list[i])
		}
		return out
	}
	numbers := func(list ...string) []types.AttributeValue {
		out := make([]types.AttributeValue, len(list))
		for i := range list {
			out[i] = ANumber(list[i])
		}
		return out
	}
	for _, c := range []struct {
		of         Type
		are, arent []types.AttributeValue
	}{
		{
			Type{Kind: KindID},
			texts("a", "Z9", "user_1.x:y@z-0", strings.Repeat("x", 2000)),
			texts("", "a#b", "a b", "é", "a/b", "\x00"),
		},
		{
			Type{Kind: KindUUID},
			texts("3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c", "00000000-0000-0000-0000-000000000000"),
			texts("", "3F2B8C1E-7A4D-4B6F-9C2A-1D5E8F7A6B3C", "3f2b8c1e7a4d4b6f9c2a1d5e8f7a6b3c", "3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3g",
				"3f2b8c1e-7a4d-4b6f-9c2a01d5e8f7a6b3c", "{3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3}"),
		},
		{
			Type{Kind: KindULID},
			texts("01HQ3Z5K7N9PBRDTFVGXJ0M2WA", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "00000000000000000000000000"),
			texts("", "01hq3z5k7n9pbrdtfvgxj0m2wa", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01HQ3Z5K7N9PBRDTFVGXJ0M2W", "01HQ3Z5K7N9PBRDTFVGXJ0M2WI"),
		},
		{
			Type{Kind: KindKSUID},
			texts("2aDzhYWvXk5T1mR8cQ3nL7pB0sG", "000000000000000000000000000", "aWgEPTl1tmebfsQzFP4bxwgy80V"),
			texts("", "aWgEPTl1tmebfsQzFP4bxwgy80W", "b00000000000000000000000000", "2aDzhYWvXk5T1mR8cQ3nL7pB0s", "2aDzhYWvXk5T1mR8cQ3nL7pB0-G"),
		},
		{Type{Kind: KindSlug}, texts("a", "cafe-de-olla", "-", "0"), texts("", "Cafe", "a_b", "café", "a b")},
		{
			Type{Kind: KindEmail},
			texts("ana@example.com", "Ana.Garcia+x@Mail.example", "a@b", "o'neil#1@x-y.z", strings.Repeat("a", 242)+"@example.com"),
			texts("", "ana", "@example.com", "ana@", "ana@b@c", "ana lu@example.com", "ana@exa mple.com", "aña@example.com", "ana@exämple.com", "ana@x_y.com",
				"<ana@example.com>", strings.Repeat("a", 243)+"@example.com"),
		},
		{Type{Kind: KindText}, texts("", "a#b", "línea\nñ 😀", "\x00"), texts("\xff", "a\xc3", "\xed\xa0\x80")},
		{Type{Kind: KindSecret}, texts("", "x"), texts("\xff")},
		{
			Type{Kind: KindInt},
			numbers("0", "-1", "9223372036854775807", "-9223372036854775808", "1.0", "1E3"),
			append(numbers("9223372036854775808", "0.5", "1e-3", "x", ""), AText("1"), ANull(), ABool(true)),
		},
		{Type{Kind: KindMoney}, numbers("0", "-500"), numbers("9.99")},
		{
			Type{Kind: KindDecimal},
			numbers("0", "-1.5", "1E-130", "9.9999999999999999999999999999999999999E+125"),
			append(numbers("1E126", "1E-131", "NaN", "Infinity", "", "1,5", "123456789012345678901234567890123456789"), AText("1.5")),
		},
		{Type{Kind: KindBool}, []types.AttributeValue{ABool(true), ABool(false)}, []types.AttributeValue{AText("true"), ANumber("1"), ANull(), nil}},
		{
			Type{Kind: KindTime},
			texts("2024-01-15T10:00:00.000Z", "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2024-02-29T00:00:00.001Z"),
			texts("", "2024-01-15T10:00:00Z", "2024-01-15T10:00:00.0000Z", "2024-01-15T10:00:00.000+00:00", "2024-01-15T10:00:00,000Z", "2024-01-15T1:00:00.000Z",
				"2023-02-29T00:00:00.000Z", "2024-01-15T24:00:00.000Z", "2024-01-15 10:00:00.000Z", "2024-06-30T23:59:60.000Z", "2024-01-15t10:00:00.000z"),
		},
		{Type{Kind: KindDate}, texts("2024-01-15", "2024-02-29"), texts("", "2023-02-29", "2024-1-15", "15.01.2024", "2024-01-15T00:00:00.000Z", "2024-13-01")},
		{Type{Kind: KindTTL}, numbers("0", "1705312800"), append(numbers("-1", "1.5"), AText("2024-01-15T10:00:00.000Z"))},
		{Type{Kind: KindBytes}, []types.AttributeValue{ABinary(""), ABinary("\xff\x00")}, texts("x")},
		{Type{Kind: KindEnum, Enum: []string{"open", "In Transit"}}, texts("open", "In Transit"), texts("", "Open", "closed", "openIn Transit")},
		{Type{Kind: "color"}, nil, append(texts("red"), ANumber("1"))},
	} {
		for _, v := range c.are {
			if err := c.of.CheckValue("v", v, 0, 0); err != nil {
				t.Errorf("%s %s: %v; want that it is one", c.of.Kind, Printed(v), err)
			}
		}
		for _, v := range c.arent {
			WantValueError(t, c.of.CheckValue("v", v, 0, 0), "v", "", string(c.of.Kind)+" "+Printed(v))
		}
	}
}
