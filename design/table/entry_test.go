package table

import (
	"maps"
	"slices"
	"testing"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// TestEntries: what an item has in indexes follows its fields; what it has no longer is told.
func TestEntries(t *testing.T) {
	const at = "2024-01-15T10:00:00.000Z#p-1"
	copyPlace := Place{Kind: CopyPlace, Copy: "byUser"}
	light := aParcel()
	light["weight"] = aNumber("1000")
	untagged := aParcel()
	untagged["tags"] = aList()
	for name, c := range map[string]struct {
		p      Place
		v      Values
		set    Item
		remove []string
	}{
		"all": {
			Place{},
			aParcel(),
			Item{"GSI1PK": aText("STATUS#open"), "GSI1SK": aText(at), "CITY": aText("bogota"), "LSI1SK": aText("0002")},
			nil,
		},
		"the condition does not hold": { // GSI1PK is another index's too, whose entry is there
			Place{},
			extend(aParcel(), "status", "sent"),
			Item{"GSI1PK": aText("STATUS#sent"), "CITY": aText("bogota"), "LSI1SK": aText("0002")},
			[]string{"GSI1SK"},
		},
		"a field is absent": {
			Place{},
			omit(aParcel(), "city"),
			Item{"GSI1PK": aText("STATUS#open"), "GSI1SK": aText(at), "LSI1SK": aText("0002")},
			[]string{"CITY"},
		},
		"both": {
			Place{},
			omit(extend(aParcel(), "status", "sent"), "city", "note"),
			Item{"LSI1SK": aText("0002")},
			[]string{"CITY", "GSI1PK", "GSI1SK"},
		},
		"a counter begins": {
			Place{},
			omit(aParcel(), "stops"),
			Item{"GSI1PK": aText("STATUS#open"), "GSI1SK": aText(at), "CITY": aText("bogota"), "LSI1SK": aText("0000")},
			nil,
		},
		"a copy":       {copyPlace, aParcel(), Item{"GSI2PK": aText("HEAVY#open"), "GSI2SK": aText("998499")}, nil},
		"a light one":  {copyPlace, light, Item{}, []string{"GSI2PK", "GSI2SK"}},
		"a bare one":   {copyPlace, untagged, Item{}, []string{"GSI2PK", "GSI2SK"}}, // by a field that the copy does not hold
		"another copy": {Place{Kind: CopyPlace, Copy: "byOwner"}, aParcel(), Item{}, nil},
	} {
		e := parcels()
		it, err := e.FieldsAndKey(nil, e.Key, e.Counted(c.v))
		if err != nil {
			t.Fatal(err)
		}
		for what, it := range map[string]Item{"the item": it, "no item": nil, "the copy's": {"status": it["status"]}} {
			before := maps.Clone(it)
			set, remove, err := e.IndexKeys(c.p, c.v, it)
			slices.Sort(remove)
			if err != nil || !sameItem(set, c.set) || !slices.Equal(remove, c.remove) {
				t.Errorf("%s, with %s: sets %v, removes %v, %v; want %v, %v", name, what, schema.Attributes(set), remove, err, schema.Attributes(c.set), c.remove)
			}
			if !maps.Equal(it, before) {
				t.Errorf("%s, with %s: the item has been changed", name, what)
			}
		}
	}
}

// TestEntryRefusals: a key that DynamoDB would refuse is refused.
func TestEntryRefusals(t *testing.T) {
	e := parcels()
	_, _, err := e.IndexKeys(Place{}, extend(aParcel(), "note", ""), nil)
	wantValueError(t, err, "note", "makes the key note empty", "a field in an index")
	v := aParcel()
	v["stops"] = aNumber("12345")
	_, _, err = e.IndexKeys(Place{}, v, nil)
	wantValueError(t, err, "stops", "does not fit into 4 digits", "a key of an entry")
	e.Entries[0].Where.Constants = nil
	if _, _, err = e.IndexKeys(Place{}, aParcel(), nil); err == nil {
		t.Error("a condition without its constant decides nothing")
	}
}
