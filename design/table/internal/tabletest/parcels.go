// Package tabletest has helpers for tests of the packages below design/table: short forms for values, an entity that uses
// every feature, and comparisons.
package tabletest

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Parcels is a table with an entity that has something of everything.
func Parcels() *schema.Entity {
	text := types.ScalarAttributeTypeS
	t := &schema.Table{
		Name: "Parcels", Physical: "parcels", PK: schema.Attribute{Name: "PK", Type: text}, SK: schema.Attribute{Name: "SK", Type: text}, TypeAttr: "entity", TTLAttr: "expires_at",
	}
	field := func(name string, kind schema.Kind, path ...string) schema.Field {
		return schema.Field{Name: name, Type: schema.Type{Kind: kind}, Path: path}
	}
	optional := func(f schema.Field) schema.Field {
		f.Optional = true
		return f
	}
	status := field("status", schema.KindEnum, "status")
	status.Type.Enum = []string{"open", "sent"}
	tags := schema.Field{Name: "tags", Type: schema.Type{Kind: schema.KindList, Elem: &schema.Type{Kind: schema.KindText}}, Path: []string{"tags"}}
	marks := schema.Field{Name: "marks", Type: schema.Type{Kind: schema.KindSet, Elem: &schema.Type{Kind: schema.KindInt}}, Path: []string{"marks"}}
	stops := schema.Field{Name: "stops", Type: schema.Type{Kind: schema.KindInt}, Path: []string{"stops"}, Counter: true}
	return &schema.Entity{
		Name: "Parcel", Table: t, TypeValue: "PARCEL",
		Fields: []schema.Field{
			field("parcelId", schema.KindID, "parcel_id"), field("userId", schema.KindID, "user_id"), field("ref", schema.KindText, "ref"), status,
			field("weight", schema.KindInt, "weight"), field("street", schema.KindText, "address", "street"), optional(field("city", schema.KindText, "address", "city")),
			tags, marks, stops, optional(field("note", schema.KindText, "note")), field("createdAt", schema.KindTime, "created_at"),
			optional(field("expiresAt", schema.KindTTL, "expires_at")),
		},
		Key: []schema.KeyAttribute{schema.TextKey("PK", "PARCEL#{parcelId}"), schema.TextKey("SK", "METADATA")},
		Entries: []schema.Entry{
			{
				Index: "Open", PK: []schema.KeyAttribute{schema.TextKey("GSI1PK", "STATUS#{status}")}, SK: []schema.KeyAttribute{schema.TextKey("GSI1SK", "{createdAt}#{parcelId}")},
				Where: &schema.Condition{
					Expression: "#status = :open", Names: map[string]string{"#status": "status"},
					Constants: map[string]types.AttributeValue{":open": AText("open")},
				},
			},
			{
				Index: "ByNote", PK: []schema.KeyAttribute{schema.FieldKey("note", text, "note")},
				SK: []schema.KeyAttribute{schema.FieldKey("weight", types.ScalarAttributeTypeN, "weight")},
			},
			{Index: "ByCity", PK: []schema.KeyAttribute{schema.TextKey("GSI1PK", "STATUS#{status}")}, SK: []schema.KeyAttribute{schema.TextKey("CITY", "{city|fold}")}},
			{Index: "Local", PK: []schema.KeyAttribute{schema.TextKey("PK", "PARCEL#{parcelId}")}, SK: []schema.KeyAttribute{schema.TextKey("LSI1SK", "{stops|pad(4)}")}},
		},
		Copies: []schema.Copy{{
			Name: "byUser", Key: []schema.KeyAttribute{schema.TextKey("PK", "USER#{userId}"), schema.TextKey("SK", "PARCEL#{createdAt}#{parcelId}")},
			Fields: []string{"street"},
			Entries: []schema.Entry{{
				Index: "Heavy", PK: []schema.KeyAttribute{schema.TextKey("GSI2PK", "HEAVY#{status}")}, SK: []schema.KeyAttribute{schema.TextKey("GSI2SK", "{weight|desc(6)}")},
				Where: &schema.Condition{
					Expression: "#weight > :p0 AND size(#tags) > :p1", Names: map[string]string{"#weight": "weight", "#tags": "tags"},
					Constants: map[string]types.AttributeValue{":p0": ANumber("1000"), ":p1": ANumber("0")},
				},
			}},
		}},
		Markers: []schema.Marker{{Name: "Ref", Key: []schema.KeyAttribute{schema.TextKey("PK", "REF#{ref|lower}"), schema.TextKey("SK", "UNIQUE")}, Taken: schema.ErrExists}},
		TTL:     &schema.TTL{Field: "expiresAt"},
	}
}

// AParcel returns values for all fields of the parcel entity.
func AParcel() schema.Values {
	return schema.Values{
		"parcelId": AText("p-1"), "userId": AText("u-1"), "ref": AText("Ref 7"), "status": AText("open"), "weight": ANumber("1500"),
		"street": AText("Jr. Unión 1"), "city": AText("Bogotá"), "tags": AList(AText("fragile")), "marks": ANumberSet("3", "1"), "stops": ANumber("2"),
		"note": AText("ring twice"), "createdAt": AText("2024-01-15T10:00:00.000Z"), "expiresAt": ANumber("1705312800"),
	}
}
