package table

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// TestNestedValues: what is wrong inside a value is named by the way to it.
func TestNestedValues(t *testing.T) {
	address := Type{Kind: schema.KindStruct, Fields: &[]Field{
		{Name: "street", Type: Type{Kind: schema.KindText}, Path: []string{"street"}, MaxBytes: 8},
		{Name: "city", Type: Type{Kind: schema.KindSlug}, Path: []string{"place", "city"}},
		{Name: "zip", Type: Type{Kind: schema.KindInt}, Path: []string{"zip"}, Optional: true},
		{Name: "lines", Type: Type{Kind: schema.KindList, Elem: &Type{Kind: schema.KindText}}, Path: []string{"lines"}},
	}}
	node := Type{Kind: schema.KindStruct, Fields: &[]Field{{Name: "name", Type: Type{Kind: schema.KindText}, Path: []string{"n"}}}}
	*node.Fields = append(*node.Fields, Field{Name: "next", Type: node, Path: []string{"next"}, Optional: true}) // holds itself
	texts, counts := Type{Kind: schema.KindText}, Type{Kind: schema.KindInt}
	sets := Type{Kind: schema.KindSet, Elem: &texts}
	for name, c := range map[string]struct {
		of            Type
		v             types.AttributeValue
		field, reason string
	}{
		"a structure": {
			address,
			aMap(Item{"street": aText("Main 1"), "place": aMap(Item{"city": aText("lima")}), "another's": aNull()}), "", "",
		},
		"with all": {
			address,
			aMap(Item{"street": aText(""), "place": aMap(Item{"city": aText("lima")}), "zip": aNumber("1"), "lines": aList()}), "", "",
		},
		"absent":    {address, aMap(Item{"street": aText("Main 1"), "city": aText("lima")}), "v.city", "is missing"},
		"null":      {address, aMap(Item{"street": aNull(), "place": aMap(Item{"city": aText("lima")})}), "v.street", "is missing"},
		"wrong":     {address, aMap(Item{"street": aText("Main 1"), "place": aMap(Item{"city": aText("Lima")})}), "v.city", "a slug"},
		"long":      {address, aMap(Item{"street": aText("Main 1234"), "place": aMap(Item{"city": aText("lima")})}), "v.street", "9 bytes in a key, more than the 8"},
		"no map":    {address, aText("Main 1, Lima"), "v", "of type S, not a structure"},
		"itself":    {node, aMap(Item{"n": aText("a"), "next": aMap(Item{"n": aText("b")})}), "", ""},
		"in itself": {node, aMap(Item{"n": aText("a"), "next": aMap(Item{"n": aNumber("1")})}), "v.next.name", "of type N, not a text"},
		"a list":    {Type{Kind: schema.KindList, Elem: &counts}, aList(aNumber("1"), aNumber("1")), "", ""},
		"in a list": {Type{Kind: schema.KindList, Elem: &counts}, aList(aNumber("1"), aNumber("2"), aNumber("2.5")), "v[2]", "is not a whole number of 64 bits"},
		"nothing":   {Type{Kind: schema.KindList, Elem: &counts}, aList(nil), "v[0]", "of type none"},
		"no list":   {Type{Kind: schema.KindList, Elem: &counts}, aNumberSet("1"), "v", "of type NS, not a list"},
		"a map":     {Type{Kind: schema.KindMap, Elem: &counts}, aMap(Item{"a b": aNumber("1")}), "", ""},
		"in a map":  {Type{Kind: schema.KindMap, Elem: &address}, aMap(Item{"home": aMap(Item{})}), "v.home.street", "is missing"},
		"no value":  {Type{Kind: schema.KindMap, Elem: &counts}, aMap(Item{"a": aNumber("1"), "b": aText("2"), "c": aText("3")}), "v.b", "of type S"},
		"a set":     {sets, aTextSet("a", "A", ""), "", ""},
		"empty":     {sets, aTextSet(), "", ""},
		"numbers":   {sets, aNumberSet("1"), "v[0]", "of type N, not a text"},
		"twice":     {sets, aTextSet("a", "b", "a"), "v[2]", "is in the set already"},
		"by value":  {Type{Kind: schema.KindSet, Elem: &counts}, aNumberSet("1", "1.0"), "v[1]", "is in the set already"},
		"bytes":     {Type{Kind: schema.KindSet, Elem: &Type{Kind: schema.KindBytes}}, aBinarySet([]byte("a"), []byte("b")), "", ""},
		"no set":    {sets, aList(aText("a")), "v", "of type L, not a set"},
		"inside":    {Type{Kind: schema.KindList, Elem: &sets}, aList(aTextSet("a"), aTextSet()), "v[1]", "is an empty set"},
	} {
		wantValueError(t, c.of.CheckValue("v", c.v, 0, 0), c.field, c.reason, name)
	}
}

// TestMaxBytes: a bound is on the text that a value has in keys.
func TestMaxBytes(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		v    types.AttributeValue
		fits bool
	}{
		{schema.KindText, aText("éé"), true},
		{schema.KindText, aText("ééa"), false},
		{schema.KindInt, aNumber("9999"), true},
		{schema.KindInt, aNumber("-9999"), false},
		{schema.KindInt, aNumber("9999.0"), true},
		{schema.KindDecimal, aNumber("1E4"), false},
		{schema.KindBytes, aBinary("12345"), false},
	} {
		reason, field := "more than the 4", "v"
		if c.fits {
			field = ""
		}
		wantValueError(t, Type{Kind: c.kind}.CheckValue("v", c.v, 0, 4), field, reason, printed(c.v))
	}
}

// TestCheck: an entity's values are checked as far as they are there.
func TestCheck(t *testing.T) {
	e := parcels()
	for name, c := range map[string]struct {
		v             Values
		field, reason string
	}{
		"all":     {aParcel(), "", ""},
		"some":    {Values{"city": aText("Lima")}, "", ""},
		"none":    {nil, "", ""},
		"nothing": {Values{"city": nil}, "", ""},
		"others":  {Values{"color": aNumber("x")}, "", ""},
		"wrong":   {Values{"status": aText("lost")}, "status", "is not one of open, sent"},
	} {
		wantValueError(t, e.Check(c.v), c.field, c.reason, name)
	}
}
