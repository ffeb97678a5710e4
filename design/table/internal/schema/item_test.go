package schema_test

import (
	"testing"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

func TestItems(t *testing.T) {
	own := Item{
		"PK": AText("PARCEL#p-1"), "SK": AText("METADATA"), "entity": AText("PARCEL"),
		"parcel_id": AText("p-1"), "user_id": AText("u-1"), "ref": AText("Ref 7"), "status": AText("open"), "weight": ANumber("1500"),
		"address": AMap(Item{"street": AText("Jr. Unión 1"), "city": AText("Bogotá")}), "tags": AList(AText("fragile")), "marks": ANumberSet("1", "3"),
		"stops": ANumber("2"), "note": AText("ring twice"), "created_at": AText("2024-01-15T10:00:00.000Z"), "expires_at": ANumber("1705312800"),
		"GSI1PK": AText("STATUS#open"), "GSI1SK": AText("2024-01-15T10:00:00.000Z#p-1"), "CITY": AText("bogota"), "LSI1SK": AText("0002"),
	}
	copied := Item{
		"PK": AText("USER#u-1"), "SK": AText("PARCEL#2024-01-15T10:00:00.000Z#p-1"), "entity": AText("PARCEL"),
		"parcel_id": AText("p-1"), "user_id": AText("u-1"), "created_at": AText("2024-01-15T10:00:00.000Z"), // of its key
		"address": AMap(Item{"street": AText("Jr. Unión 1")}),
		"status":  AText("open"), "weight": ANumber("1500"), // of its entry
		"expires_at": ANumber("1705312800"),
		"GSI2PK":     AText("HEAVY#open"), "GSI2SK": AText("998499"),
	}
	marker := Item{
		"PK": AText("REF#ref 7"), "SK": AText("UNIQUE"), "parcel_id": AText("p-1"), "ref": AText("Ref 7"), "expires_at": ANumber("1705312800"),
	}
	got, err := Items(Parcels(), AParcel())
	if err != nil {
		t.Fatal(err)
	}
	want := []Item{own, copied, marker}
	if len(got) != len(want) {
		t.Fatalf("%d items; want the item, its copy and its marker", len(got))
	}
	for i := range want {
		if !SameItem(got[i], want[i]) {
			t.Errorf("item %d is\n%v; want\n%v", i, Attributes(got[i]), Attributes(want[i]))
		}
	}
}

// TestOptionalFieldsAreNotStored tests that optional fields are not stored, counters are 0, lists are empty, and
// sets are absent.
func TestOptionalFieldsAreNotStored(t *testing.T) {
	e := Parcels()
	v := Omit(AParcel(), "city", "tags", "marks", "stops", "note", "expiresAt")
	v["marks"] = ANumberSet()
	v["city"] = nil
	got, err := e.ItemAt(Place{}, v)
	want := Item{
		"PK": AText("PARCEL#p-1"), "SK": AText("METADATA"), "entity": AText("PARCEL"),
		"parcel_id": AText("p-1"), "user_id": AText("u-1"), "ref": AText("Ref 7"), "status": AText("open"), "weight": ANumber("1500"),
		"address": AMap(Item{"street": AText("Jr. Unión 1")}), "tags": AList(), "stops": ANumber("0"), "created_at": AText("2024-01-15T10:00:00.000Z"),
		"GSI1PK": AText("STATUS#open"), "GSI1SK": AText("2024-01-15T10:00:00.000Z#p-1"), "LSI1SK": AText("0000"),
	}
	if err != nil || !SameItem(got, want) {
		t.Errorf("the item is\n%v, %v; want\n%v", Attributes(got), err, Attributes(want))
	}
	if _, counted := v["stops"]; counted {
		t.Error("the caller's values have been changed")
	}
}

func TestItemRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		v             Values
		field, reason string
	}{
		"of another type": {Extend(AParcel(), "weight", "1500"), "weight", "of type S"},
		"absent":          {Omit(AParcel(), "street"), "street", "is missing"},
		"in no key":       {Extend(AParcel(), "createdAt", "2024-01-15"), "createdAt", "is not a time"},
		"an empty key":    {Extend(AParcel(), "note", ""), "note", "makes the key note empty"}, // an attribute of an index
		"an entry's":      {Extend(AParcel(), "city", "  "), "city", "makes the key CITY empty"},
		"a field's key":   {Omit(AParcel(), "parcelId"), "parcelId", "is missing"},
	} {
		_, err := Items(Parcels(), c.v)
		WantValueError(t, err, c.field, c.reason, name)
	}
	e := Parcels()
	_, err := e.ItemAt(Place{Kind: CopyPlace, Copy: "byOwner"}, AParcel())
	WantValueError(t, err, "byOwner", "is not a copy of Parcel", "a text that is not a copy")
	_, err = e.MarkerItem(&e.Markers[0], Omit(AParcel(), "ref"))
	WantValueError(t, err, "ref", "is missing", "a marker")
}

// TestValuesOf tests that stored values are read back, and that NULL counts as absent.
func TestValuesOf(t *testing.T) {
	e := Parcels()
	it, err := e.ItemAt(Place{}, AParcel())
	if err != nil {
		t.Fatal(err)
	}
	it["note"] = ANull()
	it["color"] = AText("red")
	got := e.ValuesOf(it)
	if want := Omit(AParcel(), "note"); !SameItem(Item(got), Item(want)) {
		t.Errorf("the values are\n%v; want\n%v", Attributes(Item(got)), Attributes(Item(want)))
	}
	if got := e.ValuesOf(Item{"address": AText("no map")}); len(got) != 0 {
		t.Errorf("the values of an item with another address are %v; want none", Attributes(Item(got)))
	}
}
