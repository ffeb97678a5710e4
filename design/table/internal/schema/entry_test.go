package schema_test

import (
	"testing"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestEntries tests that an item's index entries follow its fields.
func TestEntries(t *testing.T) {
	const at = "2024-01-15T10:00:00.000Z#p-1"
	copyPlace := Place{Kind: CopyPlace, Copy: "byUser"}
	light := AParcel()
	light["weight"] = ANumber("1000")
	untagged := AParcel()
	untagged["tags"] = AList()
	for name, c := range map[string]struct {
		p    Place
		v    Values
		want Item
	}{
		"all": {
			Place{},
			AParcel(),
			Item{"GSI1PK": AText("STATUS#open"), "GSI1SK": AText(at), "CITY": AText("bogota"), "LSI1SK": AText("0002")},
		},
		"the condition does not hold": { // GSI1PK is shared with another index, whose entry exists
			Place{},
			Extend(AParcel(), "status", "sent"),
			Item{"GSI1PK": AText("STATUS#sent"), "CITY": AText("bogota"), "LSI1SK": AText("0002")},
		},
		"a field is absent": {
			Place{},
			Omit(AParcel(), "city"),
			Item{"GSI1PK": AText("STATUS#open"), "GSI1SK": AText(at), "LSI1SK": AText("0002")},
		},
		"both": {
			Place{},
			Omit(Extend(AParcel(), "status", "sent"), "city", "note"),
			Item{"LSI1SK": AText("0002")},
		},
		"a counter begins": {
			Place{},
			Omit(AParcel(), "stops"),
			Item{"GSI1PK": AText("STATUS#open"), "GSI1SK": AText(at), "CITY": AText("bogota"), "LSI1SK": AText("0000")},
		},
		"a copy":      {copyPlace, AParcel(), Item{"GSI2PK": AText("HEAVY#open"), "GSI2SK": AText("998499")}},
		"a light one": {copyPlace, light, Item{}},
		"a bare one":  {copyPlace, untagged, Item{}}, // by a field that the copy does not hold
	} {
		it, err := Parcels().ItemAt(c.p, c.v)
		got := Item{}
		for _, name := range []string{"GSI1PK", "GSI1SK", "CITY", "LSI1SK", "GSI2PK", "GSI2SK"} {
			if it[name] != nil {
				got[name] = it[name]
			}
		}
		if err != nil || !SameItem(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, Attributes(got), err, Attributes(c.want))
		}
	}
}

// TestEntryRefusals tests that keys that DynamoDB would reject are rejected.
func TestEntryRefusals(t *testing.T) {
	e := Parcels()
	_, err := e.ItemAt(Place{}, Extend(AParcel(), "note", ""))
	WantValueError(t, err, "note", "makes the key note empty", "a field in an index")
	v := AParcel()
	v["stops"] = ANumber("12345")
	_, err = e.ItemAt(Place{}, v)
	WantValueError(t, err, "stops", "does not fit into 4 digits", "a key of an entry")
	e.Entries[0].Where.Constants = nil
	if _, err = e.ItemAt(Place{}, AParcel()); err == nil {
		t.Error("a condition without its constant decides nothing")
	}
}
