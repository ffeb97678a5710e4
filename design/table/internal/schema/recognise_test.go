package schema_test

import (
	"maps"
	"testing"

	. "github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestRecognize tests that all items of an entity are recognized, with their places and values.
func TestRecognize(t *testing.T) {
	e := Parcels()
	items, err := Items(e, AParcel())
	if err != nil {
		t.Fatal(err)
	}
	other := Parcels()
	other.Name, other.TypeValue = "Letter", "LETTER"
	for i := range other.Key {
		other.Key[i].Template = TemplateOf("LETTER#{parcelId}")
	}
	for i, want := range []struct {
		p Place
		v Values
	}{
		{Place{Kind: KeyPlace}, AParcel()},
		{Place{Kind: CopyPlace, Copy: "byUser"}, Omit(AParcel(), "ref", "city", "tags", "marks", "stops", "note")},
		{Place{Kind: MarkerPlace, Marker: "Ref"}, Values{"parcelId": AText("p-1"), "ref": AText("Ref 7"), "expiresAt": ANumber("1705312800")}},
	} {
		found, p, v := Recognize([]*Entity{other, e}, items[i])
		if want.p.Kind == MarkerPlace { // the other's marker has the same key
			found, p, v = Recognize([]*Entity{e}, items[i])
		}
		if found != e || p != want.p || !SameItem(Item(v), Item(want.v)) {
			t.Errorf("item %d is %v's at %+v with %v; want %+v with %v", i, found, p, Attributes(Item(v)), want.p, Attributes(Item(want.v)))
		}
	}
	for _, it := range []Item{nil, {}, {"PK": AText("PARCEL#p-1"), "SK": AText("METADATA")}} {
		if found, _, v := Recognize([]*Entity{e}, it); found != nil || v != nil {
			t.Errorf("%v is recognised as %s, %v", Attributes(it), found.Name, Attributes(Item(v)))
		}
	}
}

// TestItemMustMatchItsKeys tests that an item only belongs to an entity if its keys match its values.
func TestItemMustMatchItsKeys(t *testing.T) {
	e := Parcels()
	items, err := Items(e, AParcel())
	if err != nil {
		t.Fatal(err)
	}
	own, copied, marker := items[0], items[1], items[2]
	byUser := Place{Kind: CopyPlace, Copy: "byUser"}
	open, heavy := Place{Kind: EntryPlace, Index: "Open"}, Place{Kind: EntryPlace, Index: "Heavy", Copy: "byUser"}
	byNote, local := Place{Kind: EntryPlace, Index: "ByNote"}, Place{Kind: EntryPlace, Index: "Local"}
	keysOnly := Item{"PK": own["PK"], "SK": own["SK"], "GSI1PK": own["GSI1PK"], "GSI1SK": own["GSI1SK"]}
	changed := func(it Item, name string, to string) Item {
		out := maps.Clone(it)
		out[name] = AText(to)
		if to == "" {
			delete(out, name)
		}
		return out
	}
	for name, c := range map[string]struct {
		p    Place
		it   Item
		want bool
	}{
		"itself":                     {Place{}, own, true},
		"of no type":                 {Place{}, changed(own, "entity", ""), true},
		"of another type":            {Place{}, changed(own, "entity", "LETTER"), false},
		"of a type that is no text":  {Place{}, Item{"PK": own["PK"], "SK": own["SK"], "parcel_id": own["parcel_id"], "entity": ANumber("1")}, false},
		"another key":                {Place{}, changed(own, "PK", "PARCEL#p-2"), false},
		"another sort key":           {Place{}, changed(own, "SK", "METADATA2"), false},
		"no sort key":                {Place{}, changed(own, "SK", ""), false},
		"another id":                 {Place{}, changed(own, "parcel_id", "p-2"), false},
		"no id":                      {Place{}, changed(own, "parcel_id", ""), false},
		"an id of another language":  {Place{}, changed(changed(own, "parcel_id", "p#1"), "PK", "PARCEL#p#1"), false},
		"another value":              {Place{}, changed(own, "weight", "heavy"), true}, // not in any key
		"the copy":                   {Place{}, copied, false},
		"a copy":                     {byUser, copied, true},
		"of another time":            {byUser, changed(copied, "created_at", "2024-01-15T10:00:00.001Z"), false},
		"the item":                   {byUser, own, false},
		"of no copy":                 {Place{Kind: CopyPlace, Copy: "byOwner"}, copied, false},
		"a marker":                   {Place{Kind: MarkerPlace, Marker: "Ref"}, marker, true},
		"a marker of its own type":   {Place{Kind: MarkerPlace, Marker: "Ref"}, changed(marker, "entity", "UNIQUE"), true},
		"another value's":            {Place{Kind: MarkerPlace, Marker: "Ref"}, changed(marker, "ref", "Ref 8"), false},
		"the same key":               {Place{Kind: MarkerPlace, Marker: "Ref"}, changed(marker, "ref", "REF 7"), true},
		"of no marker":               {Place{Kind: MarkerPlace, Marker: "Name"}, marker, false},
		"an entry":                   {open, own, true},
		"another state":              {open, changed(own, "status", "sent"), false},
		"another item's":             {open, changed(own, "GSI1SK", "2024-01-15T10:00:00.000Z#p-2"), false},
		"of no index":                {Place{Kind: EntryPlace, Index: "Closed"}, own, false},
		"of no attributes":           {open, Item{"status": AText("open")}, false},
		"keys only":                  {open, keysOnly, true},
		"keys of another entity":     {open, changed(keysOnly, "PK", "LETTER#p-1"), false},
		"keys of another enum":       {open, changed(keysOnly, "GSI1PK", "STATUS#lost"), false},
		"keys of another time":       {open, changed(keysOnly, "GSI1SK", "yesterday#p-1"), false},
		"keys of another id":         {open, changed(keysOnly, "GSI1SK", "2024-01-15T10:00:00.000Z#p 1"), false},
		"keys and an id":             {open, changed(keysOnly, "parcel_id", "p-1"), true},
		"keys and another id":        {open, changed(keysOnly, "parcel_id", "p-2"), false},
		"fields":                     {byNote, Item{"PK": own["PK"], "SK": own["SK"], "note": own["note"], "weight": own["weight"]}, true},
		"a field of another type":    {byNote, Item{"PK": own["PK"], "SK": own["SK"], "note": own["note"], "weight": AText("x")}, false},
		"a local entry":              {local, Item{"PK": own["PK"], "SK": own["SK"], "LSI1SK": AText("0007")}, true},
		"a local entry of a count":   {local, Item{"PK": own["PK"], "SK": own["SK"], "LSI1SK": AText("0007"), "stops": ANumber("7")}, true},
		"a local entry of another":   {local, Item{"PK": own["PK"], "SK": own["SK"], "LSI1SK": AText("0007"), "stops": ANumber("8")}, false},
		"a local entry of no digits": {local, Item{"PK": own["PK"], "SK": own["SK"], "LSI1SK": AText("00x7")}, false},
		"a copy's entry":             {heavy, copied, true},
		"a copy's keys":              {heavy, Item{"PK": copied["PK"], "SK": copied["SK"], "GSI2PK": copied["GSI2PK"], "GSI2SK": copied["GSI2SK"]}, true},
		"an item's keys":             {heavy, Item{"PK": own["PK"], "SK": own["SK"], "GSI2PK": copied["GSI2PK"], "GSI2SK": copied["GSI2SK"]}, false},
	} {
		if v, is := e.Is(c.p, c.it); is != c.want {
			t.Errorf("%s: %v with %v; want %v", name, is, Attributes(Item(v)), c.want)
		}
	}
}

// TestMatches tests that a key with unknown parts is matched, wherever they end.
func TestMatches(t *testing.T) {
	id := func(text string) bool { return Type{Kind: KindID}.Contains(text) }
	anything := func(string) bool { return true }
	for _, c := range []struct {
		segments []Segment
		text     string
		want     bool
	}{
		{nil, "", true},
		{nil, "a", false},
		{[]Segment{{Text: "A#"}, {Text: "1"}}, "A#1", true},
		{[]Segment{{Text: "A#"}, {Text: "1"}}, "A#12", false},
		{[]Segment{{Open: id}, {Text: "#"}, {Open: id}}, "a#b", true},
		{[]Segment{{Open: id}, {Text: "#"}, {Open: id}}, "#b", false},
		{[]Segment{{Open: id}, {Text: "#"}, {Open: id}}, "a#b#c", false},
		{[]Segment{{Open: anything}, {Text: "#"}, {Open: id}}, "a#b#c", true},
		{[]Segment{{Open: anything}, {Text: "##"}, {Open: anything}}, "a#b###", true},
		{[]Segment{{Open: anything}, {Text: "x"}}, "ab", false},
	} {
		if got := Matches(c.segments, c.text); got != c.want {
			t.Errorf("%q matches %v: %v; want %v", c.text, c.segments, got, c.want)
		}
	}
}
