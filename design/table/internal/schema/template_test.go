package schema_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestTextOf has functions once each; package keytext has the rest of what they do.
func TestTextOf(t *testing.T) {
	for _, c := range []struct {
		part         string
		kind         Kind
		v            types.AttributeValue
		text, reason string
	}{
		{"{v}", KindID, AText("u-1"), "u-1", ""},
		{"{v}", KindInt, ANumber("42.0"), "42", ""},
		{"{v}", KindDecimal, ANumber("1.50"), "1.5", ""},
		{"{v}", KindBool, ABool(true), "true", ""},
		{"{v}", KindBytes, ABinary("\xff"), "\xff", ""},
		{"{v}", KindTime, AText("2024-01"), "2024-01", ""}, // the beginning of one
		{"{v}", KindText, AText(""), "", ""},
		{"{v|lower}", KindEmail, AText("Ana@X.com"), "ana@x.com", ""},
		{"{v|fold|first(3)}", KindText, AText("  Ñandú "), "nan", ""},
		{"{v|slug}", KindText, AText("Café, té"), "cafe-te", ""},
		{"{v|pad(6)}", KindMoney, ANumber("42"), "000042", ""},
		{"{v|desc(6)}", KindTTL, ANumber("42"), "999957", ""},
		{"{v|ts(ms)}", KindTime, AText("2024-01-15T10:00:00.250Z"), "1705312800250", ""},
		{"{v|ts(s)}", KindTime, AText("2024-01-15T10:00:00.250Z"), "1705312800", ""},
		{"{v|date(yyyy-MM)}", KindDate, AText("2024-01-15"), "2024-01", ""},
		{"{v|shard(10000)}", KindID, AText("foobar"), "5720", ""},
		{"{v|hash(12)}", KindBytes, ABinary("abc"), "ba7816bf8f01", ""},
		{"{v}", KindInt, AText("42"), "", "of type S, not a whole number"},
		{"{v}", KindText, ANumber("42"), "", "of type N, not a UTF-8 text"},
		{"{v}", KindText, AText("\xff"), "", "is not a UTF-8 text"},
		{"{v}", KindText, AText("12345678901"), "", "has 11 bytes: the maximum is 10"},
		{"{v|lower}", KindText, AText("ȺȺȺȺ"), "", "12 bytes in a key"}, // Ⱥ has 2 bytes, ⱥ 3
		{"{v|pad(2)}", KindInt, ANumber("100"), "", "does not fit into 2 digits"},
		{"{v|pad(2)}", KindInt, ANumber("-1"), "", "at least 0"},
		{"{v|ts(ms)}", KindTime, AText("2024-01"), "", "is not a time"},
	} {
		f := Field{Name: "v", Type: Type{Kind: c.kind}, Path: []string{"v"}}
		if c.kind == KindText {
			f.MaxBytes = 10
		}
		e := &Entity{Name: "E", Fields: []Field{f}}
		text, err := e.TextOf(TemplateOf(c.part)[0], c.v)
		field := ""
		if c.reason != "" {
			field = "v"
		}
		WantValueError(t, err, field, c.reason, c.part+" of "+Printed(c.v))
		if text != c.text {
			t.Errorf("%s of %s is %q; want %q", c.part, Printed(c.v), text, c.text)
		}
	}
	_, err := (&Entity{Name: "E"}).TextOf(TemplateOf("{v}")[0], AText("x"))
	WantValueError(t, err, "v", "is not a field of E", "an unknown field")
}

// TestMinBytes tests that the limit applies to a whole value, and to the result of lower, fold and slug, but not to a
// prefix.
func TestMinBytes(t *testing.T) {
	e := &Entity{Name: "E", Fields: []Field{{Name: "v", Type: Type{Kind: KindText}, Path: []string{"v"}, MinBytes: 2}}}
	for _, c := range []struct{ part, v, text, reason string }{
		{"{v}", "ab", "ab", ""},
		{"{v}", "a", "", "has 1 byte: the minimum is 2"},
		{"{v}", "", "", "has 0 bytes: the minimum is 2"},
		{"{v}", "é", "é", ""},
		{"{v|fold}", "   a", "", "has 1 byte in a key: the minimum is 2"},
		{"{v|fold|first(1)}", " Ab", "a", ""},
		{"{v|hash(4)}", "", "", "has 0 bytes"},
	} {
		text, err := e.Render(TemplateOf(c.part), Values{"v": AText(c.v)})
		field := ""
		if c.reason != "" {
			field = "v"
		}
		WantValueError(t, err, field, c.reason, c.part+" of "+c.v)
		if text != c.text {
			t.Errorf("%s of %q is %q; want %q", c.part, c.v, text, c.text)
		}
	}
	if _, err := e.TextOf(TemplateOf("{v}")[0], AText("a")); err != nil {
		t.Errorf("the beginning of a value: %v", err)
	}
}

func TestKeyOf(t *testing.T) {
	e := &Entity{Name: "E", Fields: []Field{
		{Name: "id", Type: Type{Kind: KindID}},
		{Name: "name", Type: Type{Kind: KindText}},
		{Name: "size", Type: Type{Kind: KindDecimal}},
		{Name: "sum", Type: Type{Kind: KindBytes}},
		{Name: "at", Type: Type{Kind: KindTime}},
	}}
	number := Attribute{Name: "N", Type: types.ScalarAttributeTypeN}
	for name, c := range map[string]struct {
		key           []KeyAttribute
		v             Values
		want          Item
		field, reason string
	}{
		"of fields": {
			[]KeyAttribute{TextKey("PK", "E#{id}#{name|lower}"), TextKey("SK", "{at}")},
			Values{"id": AText("a"), "name": AText("B#C"), "at": AText("2024-01-15T10:00:00.000Z")},
			Item{"PK": AText("E#a#b#c"), "SK": AText("2024-01-15T10:00:00.000Z")},
			"", "",
		},
		"of nothing": {[]KeyAttribute{TextKey("PK", "CONFIG")}, nil, Item{"PK": AText("CONFIG")}, "", ""},
		"of a field": {
			[]KeyAttribute{FieldKey("id", types.ScalarAttributeTypeS, "id"), FieldKey("size", types.ScalarAttributeTypeN, "size"), FieldKey("sum", types.ScalarAttributeTypeB, "sum")},
			Values{"id": AText("a"), "size": ANumber("1.50"), "sum": ABinary("\xff")},
			Item{"id": AText("a"), "size": ANumber("1.5"), "sum": ABinary("\xff")},
			"", "",
		},
		"of a number with zeros": {
			[]KeyAttribute{{Attribute: number, Template: TemplateOf("{at|ts(s)}")}},
			Values{"at": AText("1970-01-01T00:00:07.000Z")},
			Item{"N": ANumber("7")},
			"", "",
		},
		"missing":     {[]KeyAttribute{TextKey("PK", "{id}")}, Values{"name": AText("x")}, nil, "id", "is missing"},
		"nothing":     {[]KeyAttribute{TextKey("PK", "{id}")}, Values{"id": nil}, nil, "id", "is missing"},
		"wrong":       {[]KeyAttribute{TextKey("PK", "{id}")}, Values{"id": AText("a#b")}, nil, "id", "is not an id"},
		"empty":       {[]KeyAttribute{TextKey("PK", "{name|fold}")}, Values{"name": AText(" ")}, nil, "name", "makes the key PK empty"},
		"no template": {[]KeyAttribute{{Attribute: Attribute{Name: "PK"}}}, nil, nil, "PK", "makes the key PK empty"},
		"no number":   {[]KeyAttribute{{Attribute: number, Template: TemplateOf("{name}")}}, Values{"name": AText("x")}, nil, "N", "not a number"},
		"no text":     {[]KeyAttribute{TextKey("PK", "{sum}")}, Values{"sum": ABinary("\xff")}, nil, "PK", "not valid UTF-8"},
	} {
		got, err := e.KeyOf(c.key, c.v)
		WantValueError(t, err, c.field, c.reason, name)
		if !SameItem(got, c.want) {
			t.Errorf("%s: %v; want %v", name, Attributes(got), Attributes(c.want))
		}
	}
}

// TestRoom: DynamoDB accepts 2,048 bytes in a partition key and 1,024 in a sort key; an attribute that is both in
// different indexes has the smaller limit.
func TestRoom(t *testing.T) {
	long := func(n int) Values {
		return Values{"id": AText(strings.Repeat("i", n)), "name": AText("a"), "count": ANumber("1")}
	}
	e := &Entity{
		Name: "E", Fields: []Field{
			{Name: "id", Path: []string{"id"}, Type: Type{Kind: KindText}},
			{Name: "name", Path: []string{"name"}, Type: Type{Kind: KindText}},
			{Name: "count", Path: []string{"count"}, Type: Type{Kind: KindInt}},
		},
		Key:     []KeyAttribute{TextKey("PK", "E#{id}"), TextKey("SK", "{name}#{id}")},
		Entries: []Entry{{Index: "G", PK: []KeyAttribute{TextKey("SK", "{id}")}, SK: []KeyAttribute{TextKey("GSK", "{id}{name}")}}},
		Copies: []Copy{{
			Name: "C", Key: []KeyAttribute{TextKey("PK", "{id}")},
			Entries: []Entry{{Index: "H", PK: []KeyAttribute{TextKey("HPK", "{id}")}, SK: []KeyAttribute{TextKey("HSK", "{name}")}}},
		}},
	}
	for name, c := range map[string]struct {
		attribute, template string
		v                   Values
		field, reason       string
	}{
		"partition key":               {"PK", "E#{id}", long(2046), "", ""},
		"long partition key":          {"PK", "E#{id}", long(2047), "id", "makes the key PK 2049 bytes long: DynamoDB's maximum is 2048"},
		"sort key":                    {"SK", "{name}#{id}", long(1022), "", ""},
		"long sort key":               {"SK", "{name}#{id}", long(1023), "id", "makes the key SK 1025 bytes long: DynamoDB's maximum is 1024"},
		"index's partition key":       {"HPK", "{id}", long(2048), "", ""},
		"long index's partition key":  {"HPK", "{id}", long(2049), "id", "maximum is 2048"},
		"sort key of an index":        {"GSK", "{id}{name}", long(1023), "", ""},
		"long sort key of an index":   {"GSK", "{id}{name}", long(1024), "id", "maximum is 1024"},
		"long sort key of the copy's": {"HSK", "{name}{id}", long(1024), "id", "maximum is 1024"},
	} {
		got, err := e.KeyOf([]KeyAttribute{TextKey(c.attribute, c.template)}, c.v)
		WantValueError(t, err, c.field, c.reason, name)
		if (got == nil) != (c.reason != "") {
			t.Errorf("%s: %v", name, Attributes(got))
		}
	}
}
