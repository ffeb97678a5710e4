package table

import (
	"maps"
	"testing"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// without are values without some.
func omit(v Values, names ...string) Values {
	out := maps.Clone(v)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// with are values with one of them changed.
func extend(v Values, name, text string) Values {
	out := maps.Clone(v)
	out[name] = aText(text)
	return out
}

func TestItems(t *testing.T) {
	own := Item{
		"PK": aText("PARCEL#p-1"), "SK": aText("METADATA"), "entity": aText("PARCEL"),
		"parcel_id": aText("p-1"), "user_id": aText("u-1"), "ref": aText("Ref 7"), "status": aText("open"), "weight": aNumber("1500"),
		"address": aMap(Item{"street": aText("Jr. Unión 1"), "city": aText("Bogotá")}), "tags": aList(aText("fragile")), "marks": aNumberSet("1", "3"),
		"stops": aNumber("2"), "note": aText("ring twice"), "created_at": aText("2024-01-15T10:00:00.000Z"), "expires_at": aNumber("1705312800"),
		"GSI1PK": aText("STATUS#open"), "GSI1SK": aText("2024-01-15T10:00:00.000Z#p-1"), "CITY": aText("bogota"), "LSI1SK": aText("0002"),
	}
	copied := Item{
		"PK": aText("USER#u-1"), "SK": aText("PARCEL#2024-01-15T10:00:00.000Z#p-1"), "entity": aText("PARCEL"),
		"parcel_id": aText("p-1"), "user_id": aText("u-1"), "created_at": aText("2024-01-15T10:00:00.000Z"), // of its key
		"address": aMap(Item{"street": aText("Jr. Unión 1")}),
		"status":  aText("open"), "weight": aNumber("1500"), // of its entry's
		"expires_at": aNumber("1705312800"),
		"GSI2PK":     aText("HEAVY#open"), "GSI2SK": aText("998499"),
	}
	marker := Item{
		"PK": aText("REF#ref 7"), "SK": aText("UNIQUE"), "parcel_id": aText("p-1"), "ref": aText("Ref 7"), "expires_at": aNumber("1705312800"),
	}
	got, err := Items(parcels(), aParcel())
	if err != nil {
		t.Fatal(err)
	}
	want := []Item{own, copied, marker}
	if len(got) != len(want) {
		t.Fatalf("%d items; want the item, its copy and its marker", len(got))
	}
	for i := range want {
		if !sameItem(got[i], want[i]) {
			t.Errorf("item %d is\n%v; want\n%v", i, schema.Attributes(got[i]), schema.Attributes(want[i]))
		}
	}
}

// TestLeastItem: what is optional is not stored, counters are 0, lists are empty, sets are absent.
func TestLeastItem(t *testing.T) {
	e := parcels()
	v := omit(aParcel(), "city", "tags", "marks", "stops", "note", "expiresAt")
	v["marks"] = aNumberSet()
	v["city"] = nil
	got, err := e.ItemAt(Place{}, v)
	want := Item{
		"PK": aText("PARCEL#p-1"), "SK": aText("METADATA"), "entity": aText("PARCEL"),
		"parcel_id": aText("p-1"), "user_id": aText("u-1"), "ref": aText("Ref 7"), "status": aText("open"), "weight": aNumber("1500"),
		"address": aMap(Item{"street": aText("Jr. Unión 1")}), "tags": aList(), "stops": aNumber("0"), "created_at": aText("2024-01-15T10:00:00.000Z"),
		"GSI1PK": aText("STATUS#open"), "GSI1SK": aText("2024-01-15T10:00:00.000Z#p-1"), "LSI1SK": aText("0000"),
	}
	if err != nil || !sameItem(got, want) {
		t.Errorf("the item is\n%v, %v; want\n%v", schema.Attributes(got), err, schema.Attributes(want))
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
		"of another type": {extend(aParcel(), "weight", "1500"), "weight", "of type S"},
		"absent":          {omit(aParcel(), "street"), "street", "is missing"},
		"in no key":       {extend(aParcel(), "createdAt", "2024-01-15"), "createdAt", "is not a time"},
		"an empty key":    {extend(aParcel(), "note", ""), "note", "makes the key note empty"}, // an attribute of an index
		"an entry's":      {extend(aParcel(), "city", "  "), "city", "makes the key CITY empty"},
		"a field's key":   {omit(aParcel(), "parcelId"), "parcelId", "is missing"},
	} {
		_, err := Items(parcels(), c.v)
		wantValueError(t, err, c.field, c.reason, name)
	}
	e := parcels()
	_, err := e.ItemAt(Place{Kind: CopyPlace, Copy: "byOwner"}, aParcel())
	wantValueError(t, err, "byOwner", "is no copy of Parcel", "a copy that is none")
	_, err = e.MarkerItem(&e.Markers[0], omit(aParcel(), "ref"))
	wantValueError(t, err, "ref", "is missing", "a marker")
}

// TestValuesOf: what is stored is read back; NULL is as good as absent.
func TestValuesOf(t *testing.T) {
	e := parcels()
	it, err := e.ItemAt(Place{}, aParcel())
	if err != nil {
		t.Fatal(err)
	}
	it["note"] = aNull()
	it["color"] = aText("red")
	got := e.ValuesOf(it)
	if want := omit(aParcel(), "note"); !sameItem(Item(got), Item(want)) {
		t.Errorf("the values are\n%v; want\n%v", schema.Attributes(Item(got)), schema.Attributes(Item(want)))
	}
	if got := e.ValuesOf(Item{"address": aText("no map")}); len(got) != 0 {
		t.Errorf("the values of an item with another address are %v; want none", schema.Attributes(Item(got)))
	}
}
