package schema_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestNestedValues tests that an error inside a value names the path to it.
func TestNestedValues(t *testing.T) {
	address := Type{Kind: KindStruct, Fields: &[]Field{
		{Name: "street", Type: Type{Kind: KindText}, Path: []string{"street"}, MaxBytes: 8},
		{Name: "city", Type: Type{Kind: KindSlug}, Path: []string{"place", "city"}},
		{Name: "zip", Type: Type{Kind: KindInt}, Path: []string{"zip"}, Optional: true},
		{Name: "lines", Type: Type{Kind: KindList, Elem: &Type{Kind: KindText}}, Path: []string{"lines"}},
	}}
	node := Type{Kind: KindStruct, Fields: &[]Field{{Name: "name", Type: Type{Kind: KindText}, Path: []string{"n"}}}}
	*node.Fields = append(*node.Fields, Field{Name: "next", Type: node, Path: []string{"next"}, Optional: true}) // holds itself
	texts, counts := Type{Kind: KindText}, Type{Kind: KindInt}
	sets := Type{Kind: KindSet, Elem: &texts}
	for name, c := range map[string]struct {
		of            Type
		v             types.AttributeValue
		field, reason string
	}{
		"a structure": {
			address,
			AMap(Item{"street": AText("Main 1"), "place": AMap(Item{"city": AText("lima")}), "another's": ANull()}), "", "",
		},
		"with all": {
			address,
			AMap(Item{"street": AText(""), "place": AMap(Item{"city": AText("lima")}), "zip": ANumber("1"), "lines": AList()}), "", "",
		},
		"absent":    {address, AMap(Item{"street": AText("Main 1"), "city": AText("lima")}), "v.city", "is missing"},
		"null":      {address, AMap(Item{"street": ANull(), "place": AMap(Item{"city": AText("lima")})}), "v.street", "is missing"},
		"wrong":     {address, AMap(Item{"street": AText("Main 1"), "place": AMap(Item{"city": AText("Lima")})}), "v.city", "a slug"},
		"long":      {address, AMap(Item{"street": AText("Main 1234"), "place": AMap(Item{"city": AText("lima")})}), "v.street", "has 9 bytes: the maximum is 8"},
		"no map":    {address, AText("Main 1, Lima"), "v", "of type S, not a structure"},
		"itself":    {node, AMap(Item{"n": AText("a"), "next": AMap(Item{"n": AText("b")})}), "", ""},
		"in itself": {node, AMap(Item{"n": AText("a"), "next": AMap(Item{"n": ANumber("1")})}), "v.next.name", "of type N, not a UTF-8 text"},
		"a list":    {Type{Kind: KindList, Elem: &counts}, AList(ANumber("1"), ANumber("1")), "", ""},
		"in a list": {Type{Kind: KindList, Elem: &counts}, AList(ANumber("1"), ANumber("2"), ANumber("2.5")), "v[2]", "is not a whole number of 64 bits"},
		"nothing":   {Type{Kind: KindList, Elem: &counts}, AList(nil), "v[0]", "of type none"},
		"no list":   {Type{Kind: KindList, Elem: &counts}, ANumberSet("1"), "v", "of type NS, not a list"},
		"a map":     {Type{Kind: KindMap, Elem: &counts}, AMap(Item{"a b": ANumber("1")}), "", ""},
		"empty key": {Type{Kind: KindMap, Elem: &counts}, AMap(Item{"": ANumber("1")}), "v", "has an empty key"},
		"in a map":  {Type{Kind: KindMap, Elem: &address}, AMap(Item{"home": AMap(Item{})}), "v.home.street", "is missing"},
		"no value":  {Type{Kind: KindMap, Elem: &counts}, AMap(Item{"a": ANumber("1"), "b": AText("2"), "c": AText("3")}), "v.b", "of type S"},
		"a set":     {sets, ATextSet("a", "A", ""), "", ""},
		"empty":     {sets, ATextSet(), "", ""},
		"numbers":   {sets, ANumberSet("1"), "v[0]", "of type N, not a UTF-8 text"},
		"twice":     {sets, ATextSet("a", "b", "a"), "v[2]", "is already in the set"},
		"by value":  {Type{Kind: KindSet, Elem: &counts}, ANumberSet("1", "1.0"), "v[1]", "is already in the set"},
		"bytes":     {Type{Kind: KindSet, Elem: &Type{Kind: KindBytes}}, ABinarySet([]byte("a"), []byte("b")), "", ""},
		"no set":    {sets, AList(AText("a")), "v", "of type L, not a set"},
		"inside":    {Type{Kind: KindList, Elem: &sets}, AList(ATextSet("a"), ATextSet()), "v[1]", "is an empty set"},
		"encoded":   {Type{Kind: KindList, Elem: &sets}, AList(ATextSet("a"), nil), "v[1]", "is an empty set"}, // as SetOf encodes it
	} {
		WantValueError(t, c.of.CheckValue("v", c.v, 0, 0), c.field, c.reason, name)
	}
}

// TestMaxBytes tests that the limit applies to a value's text in keys.
func TestMaxBytes(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		v    types.AttributeValue
		fits bool
	}{
		{KindText, AText("éé"), true},
		{KindText, AText("ééa"), false},
		{KindInt, ANumber("9999"), true},
		{KindInt, ANumber("-9999"), false},
		{KindInt, ANumber("9999.0"), true},
		{KindDecimal, ANumber("1E4"), false},
		{KindBytes, ABinary("12345"), false},
	} {
		reason, field := "the maximum is 4", "v"
		if c.fits {
			field = ""
		}
		WantValueError(t, Type{Kind: c.kind}.CheckValue("v", c.v, 0, 4), field, reason, Printed(c.v))
	}
}

// TestCheck tests that an entity's values are checked as far as they are present.
func TestCheck(t *testing.T) {
	e := Parcels()
	for name, c := range map[string]struct {
		v             Values
		field, reason string
	}{
		"all":     {AParcel(), "", ""},
		"some":    {Values{"city": AText("Lima")}, "", ""},
		"none":    {nil, "", ""},
		"nothing": {Values{"city": nil}, "", ""},
		"others":  {Values{"color": ANumber("x")}, "", ""},
		"wrong":   {Values{"status": AText("lost")}, "status", "is not one of open, sent"},
	} {
		WantValueError(t, e.Check(c.v), c.field, c.reason, name)
	}
}
