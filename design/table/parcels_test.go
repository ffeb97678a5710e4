package table

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
)

// Values as they are stored, in short.

func aText(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func aNumber(number string) types.AttributeValue { return &types.AttributeValueMemberN{Value: number} }

func aBinary(bytes string) types.AttributeValue {
	return &types.AttributeValueMemberB{Value: []byte(bytes)}
}
func aBool(is bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: is} }
func aNull() types.AttributeValue        { return &types.AttributeValueMemberNULL{Value: true} }

func aList(elems ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: elems}
}

func aMap(members Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: members} }

func aTextSet(texts ...string) types.AttributeValue {
	return &types.AttributeValueMemberSS{Value: texts}
}

func aNumberSet(numbers ...string) types.AttributeValue {
	return &types.AttributeValueMemberNS{Value: numbers}
}

func aBinarySet(members ...[]byte) types.AttributeValue {
	return &types.AttributeValueMemberBS{Value: members}
}

// printed is a value for messages.
func printed(v types.AttributeValue) string {
	if v == nil {
		return "nothing"
	}
	return sdk.Value(v).String()
}

// sameItem compares items as DynamoDB does: numbers by value, sets without order.
func sameItem(a, b Item) bool { return schema.Attributes(a).Equal(schema.Attributes(b)) }

// wantValueError wants a *ValueError of a field that says so; without a field, none.
func wantValueError(t *testing.T, err error, field, reason, of string) {
	t.Helper()
	fault, is := errors.AsType[*ValueError](err)
	switch {
	case field == "" && err != nil:
		t.Errorf("%s: %v; want no error", of, err)
	case field != "" && (!is || fault.Field != field || !strings.Contains(fault.Reason, reason)):
		t.Errorf("%s: %v; want an error of %s with %q", of, err, field, reason)
	}
}

// templateOf reads a template as a design writes it: "ORDER#{createdAt}#{orderId|lower}".
func templateOf(text string) Template {
	var out Template
	for text != "" {
		literal, rest, field := strings.Cut(text, "{")
		if literal != "" {
			out = append(out, Part{Literal: literal})
		}
		if !field {
			break
		}
		inner, after, _ := strings.Cut(rest, "}")
		name, calls, _ := strings.Cut(inner, "|")
		p := Part{Field: name}
		for call := range strings.SplitSeq(calls, "|") {
			if fn, arg, _ := strings.Cut(strings.TrimSuffix(call, ")"), "("); fn != "" {
				p.Funcs = append(p.Funcs, Func{Name: fn, Arg: arg})
			}
		}
		out = append(out, p)
		text = after
	}
	return out
}

// keyAttribute is a key attribute of type S that exists for the key.
func keyAttribute(name, template string) KeyAttribute {
	return KeyAttribute{Attribute: Attribute{Name: name, Type: types.ScalarAttributeTypeS}, Template: templateOf(template)}
}

// fieldAttribute is a key attribute that is a field.
func fieldAttribute(name string, of types.ScalarAttributeType, field string) KeyAttribute {
	return KeyAttribute{Attribute: Attribute{Name: name, Type: of}, Template: templateOf("{" + field + "}"), Field: field}
}

// parcels is a table with an entity that has something of everything.
func parcels() *Entity {
	text := types.ScalarAttributeTypeS
	t := &Table{
		Name: "Parcels", Physical: "parcels", PK: Attribute{Name: "PK", Type: text}, SK: Attribute{Name: "SK", Type: text}, TypeAttr: "entity", TTLAttr: "expires_at",
	}
	field := func(name string, kind Kind, path ...string) Field {
		return Field{Name: name, Type: Type{Kind: kind}, Path: path}
	}
	optional := func(f Field) Field {
		f.Optional = true
		return f
	}
	status := field("status", schema.KindEnum, "status")
	status.Type.Enum = []string{"open", "sent"}
	tags := Field{Name: "tags", Type: Type{Kind: schema.KindList, Elem: &Type{Kind: schema.KindText}}, Path: []string{"tags"}}
	marks := Field{Name: "marks", Type: Type{Kind: schema.KindSet, Elem: &Type{Kind: schema.KindInt}}, Path: []string{"marks"}}
	stops := Field{Name: "stops", Type: Type{Kind: schema.KindInt}, Path: []string{"stops"}, Counter: true}
	return &Entity{
		Name: "Parcel", Table: t, TypeValue: "PARCEL",
		Fields: []Field{
			field("parcelId", schema.KindID, "parcel_id"), field("userId", schema.KindID, "user_id"), field("ref", schema.KindText, "ref"), status,
			field("weight", schema.KindInt, "weight"), field("street", schema.KindText, "address", "street"), optional(field("city", schema.KindText, "address", "city")),
			tags, marks, stops, optional(field("note", schema.KindText, "note")), field("createdAt", schema.KindTime, "created_at"),
			optional(field("expiresAt", schema.KindTTL, "expires_at")),
		},
		Key: []KeyAttribute{keyAttribute("PK", "PARCEL#{parcelId}"), keyAttribute("SK", "METADATA")},
		Entries: []Entry{
			{
				Index: "Open", PK: []KeyAttribute{keyAttribute("GSI1PK", "STATUS#{status}")}, SK: []KeyAttribute{keyAttribute("GSI1SK", "{createdAt}#{parcelId}")},
				Where: &Condition{
					Expression: "#status = :open", Names: map[string]string{"#status": "status"},
					Constants: map[string]types.AttributeValue{":open": aText("open")},
				},
			},
			{
				Index: "ByNote", PK: []KeyAttribute{fieldAttribute("note", text, "note")},
				SK: []KeyAttribute{fieldAttribute("weight", types.ScalarAttributeTypeN, "weight")},
			},
			{Index: "ByCity", PK: []KeyAttribute{keyAttribute("GSI1PK", "STATUS#{status}")}, SK: []KeyAttribute{keyAttribute("CITY", "{city|fold}")}},
			{Index: "Local", PK: []KeyAttribute{keyAttribute("PK", "PARCEL#{parcelId}")}, SK: []KeyAttribute{keyAttribute("LSI1SK", "{stops|pad(4)}")}},
		},
		Copies: []Copy{{
			Name: "byUser", Key: []KeyAttribute{keyAttribute("PK", "USER#{userId}"), keyAttribute("SK", "PARCEL#{createdAt}#{parcelId}")},
			Fields: []string{"street"},
			Entries: []Entry{{
				Index: "Heavy", PK: []KeyAttribute{keyAttribute("GSI2PK", "HEAVY#{status}")}, SK: []KeyAttribute{keyAttribute("GSI2SK", "{weight|desc(6)}")},
				Where: &Condition{
					Expression: "#weight > :p0 AND size(#tags) > :p1", Names: map[string]string{"#weight": "weight", "#tags": "tags"},
					Constants: map[string]types.AttributeValue{":p0": aNumber("1000"), ":p1": aNumber("0")},
				},
			}},
		}},
		Markers: []Marker{{Name: "Ref", Key: []KeyAttribute{keyAttribute("PK", "REF#{ref|lower}"), keyAttribute("SK", "UNIQUE")}, Taken: ErrExists}},
		TTL:     &TTL{Field: "expiresAt"},
	}
}

// aParcel are values of the entity of parcels, all of them.
func aParcel() Values {
	return Values{
		"parcelId": aText("p-1"), "userId": aText("u-1"), "ref": aText("Ref 7"), "status": aText("open"), "weight": aNumber("1500"),
		"street": aText("Jr. Unión 1"), "city": aText("Bogotá"), "tags": aList(aText("fragile")), "marks": aNumberSet("3", "1"), "stops": aNumber("2"),
		"note": aText("ring twice"), "createdAt": aText("2024-01-15T10:00:00.000Z"), "expiresAt": aNumber("1705312800"),
	}
}
