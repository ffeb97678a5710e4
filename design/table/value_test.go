package table

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestNestedValues: what is wrong inside a value is named by the way to it.
func TestNestedValues(t *testing.T) {
	address := Type{Kind: kindStruct, Fields: &[]Field{
		{Name: "street", Type: Type{Kind: kindText}, Path: []string{"street"}, MaxBytes: 8},
		{Name: "city", Type: Type{Kind: kindSlug}, Path: []string{"place", "city"}},
		{Name: "zip", Type: Type{Kind: kindInt}, Path: []string{"zip"}, Optional: true},
		{Name: "lines", Type: Type{Kind: kindList, Elem: &Type{Kind: kindText}}, Path: []string{"lines"}},
	}}
	node := Type{Kind: kindStruct, Fields: &[]Field{{Name: "name", Type: Type{Kind: kindText}, Path: []string{"n"}}}}
	*node.Fields = append(*node.Fields, Field{Name: "next", Type: node, Path: []string{"next"}, Optional: true}) // holds itself
	texts, counts := Type{Kind: kindText}, Type{Kind: kindInt}
	sets := Type{Kind: kindSet, Elem: &texts}
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
		"a list":    {Type{Kind: kindList, Elem: &counts}, aList(aNumber("1"), aNumber("1")), "", ""},
		"in a list": {Type{Kind: kindList, Elem: &counts}, aList(aNumber("1"), aNumber("2"), aNumber("2.5")), "v[2]", "is not a whole number of 64 bits"},
		"nothing":   {Type{Kind: kindList, Elem: &counts}, aList(nil), "v[0]", "of type none"},
		"no list":   {Type{Kind: kindList, Elem: &counts}, aNumberSet("1"), "v", "of type NS, not a list"},
		"a map":     {Type{Kind: kindMap, Elem: &counts}, aMap(Item{"a b": aNumber("1")}), "", ""},
		"in a map":  {Type{Kind: kindMap, Elem: &address}, aMap(Item{"home": aMap(Item{})}), "v.home.street", "is missing"},
		"no value":  {Type{Kind: kindMap, Elem: &counts}, aMap(Item{"a": aNumber("1"), "b": aText("2"), "c": aText("3")}), "v.b", "of type S"},
		"a set":     {sets, aTextSet("a", "A", ""), "", ""},
		"empty":     {sets, aTextSet(), "", ""},
		"numbers":   {sets, aNumberSet("1"), "v[0]", "of type N, not a text"},
		"twice":     {sets, aTextSet("a", "b", "a"), "v[2]", "is in the set already"},
		"by value":  {Type{Kind: kindSet, Elem: &counts}, aNumberSet("1", "1.0"), "v[1]", "is in the set already"},
		"bytes":     {Type{Kind: kindSet, Elem: &Type{Kind: kindBytes}}, aBinarySet([]byte("a"), []byte("b")), "", ""},
		"no set":    {sets, aList(aText("a")), "v", "of type L, not a set"},
		"inside":    {Type{Kind: kindList, Elem: &sets}, aList(aTextSet("a"), aTextSet()), "v[1]", "is an empty set"},
	} {
		wantValueError(t, c.of.checkValue("v", c.v, 0), c.field, c.reason, name)
	}
}

// TestMaxBytes: a bound is on the text that a value has in keys.
func TestMaxBytes(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		v    types.AttributeValue
		fits bool
	}{
		{kindText, aText("éé"), true},
		{kindText, aText("ééa"), false},
		{kindInt, aNumber("9999"), true},
		{kindInt, aNumber("-9999"), false},
		{kindInt, aNumber("9999.0"), true},
		{kindDecimal, aNumber("1E4"), false},
		{kindBytes, aBinary("12345"), false},
	} {
		reason, field := "more than the 4", "v"
		if c.fits {
			field = ""
		}
		wantValueError(t, Type{Kind: c.kind}.checkValue("v", c.v, 4), field, reason, printed(c.v))
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
		wantValueError(t, e.check(c.v), c.field, c.reason, name)
	}
}
