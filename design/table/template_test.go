package table

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// TestTextOf has functions once each; package keytext has the rest of what they do.
func TestTextOf(t *testing.T) {
	for _, c := range []struct {
		part         string
		kind         Kind
		v            types.AttributeValue
		text, reason string
	}{
		{"{v}", schema.KindID, aText("u-1"), "u-1", ""},
		{"{v}", schema.KindInt, aNumber("42.0"), "42", ""},
		{"{v}", schema.KindDecimal, aNumber("1.50"), "1.5", ""},
		{"{v}", schema.KindBool, aBool(true), "true", ""},
		{"{v}", schema.KindBytes, aBinary("\xff"), "\xff", ""},
		{"{v}", schema.KindTime, aText("2024-01"), "2024-01", ""}, // the beginning of one
		{"{v}", schema.KindText, aText(""), "", ""},
		{"{v|lower}", schema.KindEmail, aText("Ana@X.com"), "ana@x.com", ""},
		{"{v|fold|first(3)}", schema.KindText, aText("  Ñandú "), "nan", ""},
		{"{v|slug}", schema.KindText, aText("Café, té"), "cafe-te", ""},
		{"{v|pad(6)}", schema.KindMoney, aNumber("42"), "000042", ""},
		{"{v|desc(6)}", schema.KindTTL, aNumber("42"), "999957", ""},
		{"{v|ts(ms)}", schema.KindTime, aText("2024-01-15T10:00:00.250Z"), "1705312800250", ""},
		{"{v|ts(s)}", schema.KindTime, aText("2024-01-15T10:00:00.250Z"), "1705312800", ""},
		{"{v|date(yyyy-MM)}", schema.KindDate, aText("2024-01-15"), "2024-01", ""},
		{"{v|shard(10000)}", schema.KindID, aText("foobar"), "5720", ""},
		{"{v|hash(12)}", schema.KindBytes, aBinary("abc"), "ba7816bf8f01", ""},
		{"{v}", schema.KindInt, aText("42"), "", "of type S, not a whole number"},
		{"{v}", schema.KindText, aNumber("42"), "", "of type N, not a text"},
		{"{v}", schema.KindText, aText("\xff"), "", "is not a text of UTF-8"},
		{"{v}", schema.KindText, aText("12345678901"), "", "11 bytes in a key, more than the 10"},
		{"{v|lower}", schema.KindText, aText("ȺȺȺȺ"), "", "12 bytes in a key"}, // Ⱥ has 2 bytes, ⱥ 3
		{"{v|pad(2)}", schema.KindInt, aNumber("100"), "", "does not fit into 2 digits"},
		{"{v|pad(2)}", schema.KindInt, aNumber("-1"), "", "at least 0"},
		{"{v|ts(ms)}", schema.KindTime, aText("2024-01"), "", "is not a time"},
	} {
		f := Field{Name: "v", Type: Type{Kind: c.kind}, Path: []string{"v"}}
		if c.kind == schema.KindText {
			f.MaxBytes = 10
		}
		e := &Entity{Name: "E", Fields: []Field{f}}
		text, err := e.TextOf(templateOf(c.part)[0], c.v)
		field := ""
		if c.reason != "" {
			field = "v"
		}
		wantValueError(t, err, field, c.reason, c.part+" of "+printed(c.v))
		if text != c.text {
			t.Errorf("%s of %s is %q; want %q", c.part, printed(c.v), text, c.text)
		}
	}
	_, err := (&Entity{Name: "E"}).TextOf(templateOf("{v}")[0], aText("x"))
	wantValueError(t, err, "v", "is no field of E", "a field that is none")
}

// TestMinBytes: a whole value is held to it, and so is what lower, fold and slug make of it; the beginning of one is not.
func TestMinBytes(t *testing.T) {
	e := &Entity{Name: "E", Fields: []Field{{Name: "v", Type: Type{Kind: schema.KindText}, Path: []string{"v"}, MinBytes: 2}}}
	for _, c := range []struct{ part, v, text, reason string }{
		{"{v}", "ab", "ab", ""},
		{"{v}", "a", "", "has 1 bytes, fewer than the 2"},
		{"{v}", "", "", "has 0 bytes, fewer than the 2"},
		{"{v}", "é", "é", ""},
		{"{v|fold}", "   a", "", "has 1 bytes, fewer than the 2"},
		{"{v|fold|first(1)}", " Ab", "a", ""},
		{"{v|hash(4)}", "", "", "has 0 bytes"},
	} {
		text, err := e.Render(templateOf(c.part), Values{"v": aText(c.v)})
		field := ""
		if c.reason != "" {
			field = "v"
		}
		wantValueError(t, err, field, c.reason, c.part+" of "+c.v)
		if text != c.text {
			t.Errorf("%s of %q is %q; want %q", c.part, c.v, text, c.text)
		}
	}
	if _, err := e.TextOf(templateOf("{v}")[0], aText("a")); err != nil {
		t.Errorf("the beginning of a value: %v", err)
	}
}

func TestKeyOf(t *testing.T) {
	e := &Entity{Name: "E", Fields: []Field{
		{Name: "id", Type: Type{Kind: schema.KindID}},
		{Name: "name", Type: Type{Kind: schema.KindText}},
		{Name: "size", Type: Type{Kind: schema.KindDecimal}},
		{Name: "sum", Type: Type{Kind: schema.KindBytes}},
		{Name: "at", Type: Type{Kind: schema.KindTime}},
	}}
	number := Attribute{Name: "N", Type: types.ScalarAttributeTypeN}
	for name, c := range map[string]struct {
		key           []KeyAttribute
		v             Values
		want          Item
		field, reason string
	}{
		"of fields": {
			[]KeyAttribute{keyAttribute("PK", "E#{id}#{name|lower}"), keyAttribute("SK", "{at}")},
			Values{"id": aText("a"), "name": aText("B#C"), "at": aText("2024-01-15T10:00:00.000Z")},
			Item{"PK": aText("E#a#b#c"), "SK": aText("2024-01-15T10:00:00.000Z")},
			"", "",
		},
		"of nothing": {[]KeyAttribute{keyAttribute("PK", "CONFIG")}, nil, Item{"PK": aText("CONFIG")}, "", ""},
		"of a field": {
			[]KeyAttribute{fieldAttribute("id", types.ScalarAttributeTypeS, "id"), fieldAttribute("size", types.ScalarAttributeTypeN, "size"), fieldAttribute("sum", types.ScalarAttributeTypeB, "sum")},
			Values{"id": aText("a"), "size": aNumber("1.50"), "sum": aBinary("\xff")},
			Item{"id": aText("a"), "size": aNumber("1.5"), "sum": aBinary("\xff")},
			"", "",
		},
		"of a number with zeros": {
			[]KeyAttribute{{Attribute: number, Template: templateOf("{at|ts(s)}")}},
			Values{"at": aText("1970-01-01T00:00:07.000Z")},
			Item{"N": aNumber("7")},
			"", "",
		},
		"missing":     {[]KeyAttribute{keyAttribute("PK", "{id}")}, Values{"name": aText("x")}, nil, "id", "is missing"},
		"nothing":     {[]KeyAttribute{keyAttribute("PK", "{id}")}, Values{"id": nil}, nil, "id", "is missing"},
		"wrong":       {[]KeyAttribute{keyAttribute("PK", "{id}")}, Values{"id": aText("a#b")}, nil, "id", "is not an id"},
		"empty":       {[]KeyAttribute{keyAttribute("PK", "{name|fold}")}, Values{"name": aText(" ")}, nil, "name", "makes the key PK empty"},
		"no template": {[]KeyAttribute{{Attribute: Attribute{Name: "PK"}}}, nil, nil, "PK", "makes the key PK empty"},
		"no number":   {[]KeyAttribute{{Attribute: number, Template: templateOf("{name}")}}, Values{"name": aText("x")}, nil, "N", "not a number"},
		"no text":     {[]KeyAttribute{keyAttribute("PK", "{sum}")}, Values{"sum": aBinary("\xff")}, nil, "PK", "no text"},
	} {
		got, err := e.KeyOf(c.key, c.v)
		wantValueError(t, err, c.field, c.reason, name)
		if !sameItem(got, c.want) {
			t.Errorf("%s: %v; want %v", name, schema.Attributes(got), schema.Attributes(c.want))
		}
	}
}

// TestRoom: DynamoDB takes 2,048 bytes of a partition key and 1,024 of a sort key; an attribute that is both in different
// indexes has the smaller room.
func TestRoom(t *testing.T) {
	long := func(n int) Values {
		return Values{"id": aText(strings.Repeat("i", n)), "name": aText("a"), "count": aNumber("1")}
	}
	e := &Entity{
		Name: "E", Fields: []Field{
			{Name: "id", Path: []string{"id"}, Type: Type{Kind: schema.KindText}},
			{Name: "name", Path: []string{"name"}, Type: Type{Kind: schema.KindText}},
			{Name: "count", Path: []string{"count"}, Type: Type{Kind: schema.KindInt}},
		},
		Key:     []KeyAttribute{keyAttribute("PK", "E#{id}"), keyAttribute("SK", "{name}#{id}")},
		Entries: []Entry{{Index: "G", PK: []KeyAttribute{keyAttribute("SK", "{id}")}, SK: []KeyAttribute{keyAttribute("GSK", "{id}{name}")}}},
		Copies: []Copy{{
			Name: "C", Key: []KeyAttribute{keyAttribute("PK", "{id}")},
			Entries: []Entry{{Index: "H", PK: []KeyAttribute{keyAttribute("HPK", "{id}")}, SK: []KeyAttribute{keyAttribute("HSK", "{name}")}}},
		}},
	}
	for name, c := range map[string]struct {
		attribute, template string
		v                   Values
		field, reason       string
	}{
		"partition key":               {"PK", "E#{id}", long(2046), "", ""},
		"long partition key":          {"PK", "E#{id}", long(2047), "id", "makes the key PK 2049 bytes long, more than the 2048 that DynamoDB takes"},
		"sort key":                    {"SK", "{name}#{id}", long(1022), "", ""},
		"long sort key":               {"SK", "{name}#{id}", long(1023), "id", "makes the key SK 1025 bytes long, more than the 1024 that DynamoDB takes"},
		"index's partition key":       {"HPK", "{id}", long(2048), "", ""},
		"long index's partition key":  {"HPK", "{id}", long(2049), "id", "more than the 2048"},
		"sort key of an index":        {"GSK", "{id}{name}", long(1023), "", ""},
		"long sort key of an index":   {"GSK", "{id}{name}", long(1024), "id", "more than the 1024"},
		"long sort key of the copy's": {"HSK", "{name}{id}", long(1024), "id", "more than the 1024"},
	} {
		got, err := e.KeyOf([]KeyAttribute{keyAttribute(c.attribute, c.template)}, c.v)
		wantValueError(t, err, c.field, c.reason, name)
		if (got == nil) != (c.reason != "") {
			t.Errorf("%s: %v", name, schema.Attributes(got))
		}
	}
}
