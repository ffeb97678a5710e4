package table

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"
	"github.com/segmentio/ksuid"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// thing is an entity with fields of many kinds, and no related items.
func (s shop) thing() *Entity {
	e := s.entity("Thing", "THING#{id}", "THING", "id:id n:int? m:int? d:decimal? price:money? note:text? at:time? day:date? due:ttl? "+
		"uuid:uuid? ulid:ulid? ksuid:ksuid? depth:int?=size.depth width:int?=size.width count:int+")
	city := Field{Name: "city", Path: []string{"town"}, Type: Type{Kind: schema.KindText}}
	zip := Field{Name: "zip", Path: []string{"zip"}, Type: Type{Kind: schema.KindText}, Optional: true}
	e.Fields = append(e.Fields,
		Field{Name: "home", Path: []string{"home"}, Type: Type{Kind: schema.KindStruct, Fields: &[]Field{city, zip}}, Optional: true},
		Field{Name: "names", Path: []string{"names"}, Type: Type{Kind: schema.KindMap, Elem: &Type{Kind: schema.KindText}}},
		Field{Name: "marks", Path: []string{"marks"}, Type: Type{Kind: schema.KindSet, Elem: &Type{Kind: schema.KindInt}}, Optional: true},
	)
	return e
}

// least is a thing with the required fields.
func least() Values {
	return Values{"id": AText("t1"), "count": ANumber("0"), "names": AMap(Item{})}
}

func with(v Values, more Values) Values {
	out := maps.Clone(v)
	maps.Copy(out, more)
	return out
}

// TestAssignedValues tests what a creation stores, and how an update changes it, for the values in a step.
func TestAssignedValues(t *testing.T) {
	one, now := constantly(ANumber("1")), Term{Kind: NowTerm}
	home := AMap(Item{"town": AText("Lima"), "zip": AText("15001")})
	before := with(least(), Values{"n": ANumber("5"), "m": ANumber("3"), "home": home, "note": AText("x"), "depth": ANumber("2")})
	for name, c := range map[string]struct {
		action         Action
		set, add, init []Assignment
		in             Values
		want           Values // changes relative to before, or to least for a creation; nil values are removed
	}{
		"a constant, an input, a sum of them": {
			action: Create, set: []Assignment{assign("n", one, given("a"), minus(given("b"))), assign("note", given("a text"))},
			in: Values{"a": ANumber("10"), "b": ANumber("2.50e1"), "a text": AText("hello")}, want: Values{"n": ANumber("-14"), "note": AText("hello")},
		},
		"exact decimals": {
			action: Create, set: []Assignment{assign("d", constantly(ANumber("0.1")), constantly(ANumber("0.2")))}, want: Values{"d": ANumber("0.3")},
		},
		"one that is subtracted": {action: Create, set: []Assignment{assign("n", minus(given("a")))}, in: Values{"a": ANumber("10")}, want: Values{"n": ANumber("-10")}},
		"one that is not given":  {action: Update, add: []Assignment{assign("n", minus(given("perhaps")))}},
		"times": {
			action: Create, set: []Assignment{assign("at", now), assign("day", now), assign("due", now), assign("n", now), assign("price", now)},
			want: Values{
				"at": AText("2024-05-01T12:00:00.000Z"), "day": AText("2024-05-01"), "due": ANumber("1714564800"),
				"n": ANumber("1714564800000"), "price": ANumber("1714564800000"),
			},
		},
		"a time and more": {action: Create, set: []Assignment{assign("due", now, constantly(ANumber("60")))}, want: Values{"due": ANumber("1714564860")}},
		"inputs of the fields' names": {
			action: Create, in: Values{"n": ANumber("7"), "marks": ANumberSet("2", "1"), "count": ANumber("9"), "unknown": AText("x")},
			want: Values{"n": ANumber("7"), "marks": ANumberSet("1", "2")},
		},
		"an empty set":                     {action: Create, in: Values{"marks": ANumberSet()}},
		"an optional input that is absent": {action: Create, set: []Assignment{assign("note", given("perhaps"))}, in: Values{"note": AText("no")}},
		"inside a structure that is given": {
			action: Create, set: []Assignment{assign("home.zip", constantly(AText("1")))}, in: Values{"home": AMap(Item{"town": AText("Lima"), "other": AText("o")})},
			want: Values{"home": AMap(Item{"town": AText("Lima"), "zip": AText("1"), "other": AText("o")})},
		},
		"inside a structure that is not": {
			action: Create, set: []Assignment{assign("home.city", constantly(AText("Quito"))), assign("names.es", constantly(AText("uno")))},
			want: Values{"home": AMap(Item{"town": AText("Quito")}), "names": AMap(Item{"es": AText("uno")})},
		},

		"setting and removing": {
			action: Update, set: []Assignment{assign("n", given("a")), assign("note", given("perhaps")), assign("marks", given("none"))},
			in: Values{"a": ANumber("8"), "none": ANumberSet()}, want: Values{"n": ANumber("8"), "note": nil},
		},
		"a field":                       {action: Update, set: []Assignment{assign("n", theField("m"))}, want: Values{"n": ANumber("3")}},
		"a field and more":              {action: Update, set: []Assignment{assign("n", theField("m"), one, one)}, want: Values{"n": ANumber("5")}},
		"something less a field":        {action: Update, set: []Assignment{assign("n", one, minus(theField("m")))}, want: Values{"n": ANumber("-2")}},
		"a field less another":          {action: Update, set: []Assignment{assign("n", minus(theField("m")), theField("n"))}, want: Values{"n": ANumber("2")}},
		"a field and another":           {action: Update, set: []Assignment{assign("n", theField("m"), theField("n"))}, want: Values{"n": ANumber("8")}},
		"less a field":                  {action: Update, set: []Assignment{assign("n", minus(theField("m")))}, want: Values{"n": ANumber("-3")}},
		"less two fields":               {action: Update, set: []Assignment{assign("n", minus(theField("m")), minus(theField("n")))}, want: Values{"n": ANumber("-8")}},
		"two fields and more":           {action: Update, set: []Assignment{assign("n", theField("m"), one, theField("n"))}, want: Values{"n": ANumber("9")}},
		"two that take each other's":    {action: Update, set: []Assignment{assign("n", theField("m")), assign("m", theField("n"))}, want: Values{"n": ANumber("3"), "m": ANumber("5")}},
		"adding":                        {action: Update, add: []Assignment{assign("n", one, minus(given("a")))}, in: Values{"a": ANumber("3")}, want: Values{"n": ANumber("3")}},
		"adding to nothing":             {action: Update, add: []Assignment{assign("d", one)}, want: Values{"d": ANumber("1")}},
		"adding a field":                {action: Update, add: []Assignment{assign("n", theField("m"))}, want: Values{"n": ANumber("8")}},
		"adding a field to nothing":     {action: Update, add: []Assignment{assign("d", theField("m"), one)}, want: Values{"d": ANumber("4")}},
		"adding nothing":                {action: Update, add: []Assignment{assign("n", given("perhaps"))}},
		"adding inside a map":           {action: Update, add: []Assignment{assign("depth", one)}, want: Values{"depth": ANumber("3")}},
		"adding to nothing in a map":    {action: Update, add: []Assignment{assign("width", one)}, want: Values{"width": ANumber("1")}},
		"inside a structure":            {action: Update, set: []Assignment{assign("home.city", given("a text"))}, in: Values{"a text": AText("Quito")}, want: Values{"home": AMap(Item{"town": AText("Quito"), "zip": AText("15001")})}},
		"removing inside a structure":   {action: Update, set: []Assignment{assign("home.zip", given("perhaps"))}, want: Values{"home": AMap(Item{"town": AText("Lima")})}},
		"an element of a map":           {action: Update, set: []Assignment{assign("names.es", constantly(AText("uno")))}, want: Values{"names": AMap(Item{"es": AText("uno")})}},
		"a field that is a structure's": {action: Update, set: []Assignment{assign("note", theField("home.city"))}, want: Values{"note": AText("Lima")}},
		"beginning what is there":       {action: Upsert, init: []Assignment{assign("n", one), assign("m", given("perhaps"))}},
		"beginning what is not":         {action: Upsert, init: []Assignment{assign("d", one)}, want: Values{"d": ANumber("1")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			e, want := s.thing(), least()
			if c.action != Create {
				s.load(e, before)
				want = maps.Clone(before)
			}
			for field, v := range c.want {
				putValue(want, field, v)
			}
			w := &Write{Pattern: "Do", Steps: []Step{{Action: c.action, Entity: e, Set: c.set, Add: c.add, Init: c.init}}, Params: []Param{
				{Name: "a", Type: Type{Kind: schema.KindDecimal}, Optional: true},
				{Name: "b", Type: Type{Kind: schema.KindDecimal}, Optional: true},
				optionalParam(textParam("a text")), optionalParam(textParam("perhaps")),
			}}
			in := with(Values{"id": AText("t1")}, c.in)
			out := s.write(w, Input{Values: in})
			s.wantTable("the write", record{e, want})
			if got := out.Items[0][0]; !SameItem(Item(got), Item(want)) {
				t.Errorf("the outcome is %v; want %v", schema.Attributes(Item(got)), schema.Attributes(Item(want)))
			}
		})
	}
}

// TestUpsertCreatesItem tests that an upsert creates an item with all required fields, and keeps existing values.
func TestUpsertCreatesItem(t *testing.T) {
	s := newStore(t)
	w := &Write{Pattern: "AddToCart", Steps: []Step{{
		Action: Upsert, Entity: s.cart, Add: []Assignment{assign("quantity", given("quantity"))}, Init: []Assignment{assign("createdAt", Term{Kind: NowTerm})},
	}}}
	in := Input{Values: Values{"customerId": AText("c1"), "productId": AText("p1"), "quantity": ANumber("2")}}
	want := with(in.Values, Values{"createdAt": s.now(), "expiresAt": s.seconds(time.Hour)})
	s.write(w, in)
	s.wantTable("the first", record{s.cart, want})
	s.pass(time.Minute)
	s.write(w, in)
	s.wantTable("the second", record{s.cart, with(want, Values{"quantity": ANumber("4")})})

	thing := &Write{Pattern: "Do", Steps: []Step{{Action: Upsert, Entity: s.thing()}, {Action: Delete, Entity: s.cart}}}
	s.write(thing, Input{Values: with(in.Values, Values{"id": AText("t1")})})
	s.wantTable("an upsert of no field", record{s.thing(), least()})
}

// TestUpsertReads tests that an upsert of an entity with a marker and counters reads the item, and then creates or
// changes it.
func TestUpsertReads(t *testing.T) {
	s := newStore(t)
	s.load(s.region, s.aRegion("r1"))
	w := &Write{Pattern: "Save", Steps: []Step{{Action: Upsert, Entity: s.customer}}}
	customer := s.aCustomer("c1", "r1")
	s.write(w, Input{Values: Omit(customer, "orders", "spent")})
	s.wantTable("the first", record{s.region, s.aRegion("r1")}, record{s.customer, customer})
	customer = Extend(Extend(Extend(customer, "email", "Other@x.org"), "tier", "gold"), "name", "Zoë")
	out := s.write(w, Input{Values: Omit(customer, "orders", "spent")})
	s.wantTable("the second", record{s.region, s.aRegion("r1")}, record{s.customer, customer})
	if got := out.Items[0][0]; !SameItem(Item(got), Item(customer)) {
		t.Errorf("the outcome is %v; want %v", schema.Attributes(Item(got)), schema.Attributes(Item(customer)))
	}
}

// TestNewIDs tests that new IDs have their field's type, contain the call's time if the kind has one, and ascend
// within a write.
func TestNewIDs(t *testing.T) {
	s := newStore(t)
	e := s.thing()
	e.Fields[slices.IndexFunc(e.Fields, func(f Field) bool { return f.Name == "note" })].Type.Kind = schema.KindText
	fresh := Term{Kind: NewIDTerm}
	step := Step{Action: Create, Entity: e, Each: true, Set: []Assignment{
		assign("id", fresh), assign("uuid", fresh), assign("ulid", fresh), assign("ksuid", fresh), assign("note", fresh),
	}}
	out := s.write(&Write{Pattern: "Do", Lines: true, Steps: []Step{step}}, Input{Lines: make([]Values, 20)})
	text := func(v types.AttributeValue) string { return v.(*types.AttributeValueMemberS).Value }
	last := ""
	seen := map[string]bool{}
	for _, v := range out.Items[0] {
		for _, name := range []string{"id", "uuid", "ulid", "ksuid", "note"} {
			f := e.Field(name)
			if err := f.Type.CheckValue(name, v[name], 0, 0); err != nil || seen[text(v[name])] {
				t.Errorf("%v, or %s has been given before", err, text(v[name]))
			}
			seen[text(v[name])] = true
		}
		id, err := ulid.Parse(text(v["ulid"]))
		if err != nil || int64(id.Time()) != s.clock.Load() { //nolint:gosec // a time of this century
			t.Errorf("ulid %s is of %d (%v); want the time of the call", id, id.Time(), err)
		}
		k, err := ksuid.Parse(text(v["ksuid"]))
		if err != nil || k.Time().UnixMilli() != s.clock.Load() {
			t.Errorf("ksuid %s is of %v (%v); want the time of the call", k, k.Time(), err)
		}
		if text(v["ulid"]) <= last {
			t.Errorf("ulid %s does not follow %s", text(v["ulid"]), last)
		}
		last = text(v["note"])
	}
}

// TestLineValues tests that a repeated step prefers the line's values to the write's, and that conditions and sums use
// the lines'.
func TestLineValues(t *testing.T) {
	s := newStore(t)
	e := s.thing()
	w := &Write{
		Pattern: "Do", Lines: true, LineParams: []Param{{Name: "pieces", Type: Type{Kind: schema.KindInt}, Optional: true}},
		Steps: []Step{
			{Action: Create, Entity: e, Each: true, Set: []Assignment{assign("m", ofLine("pieces"))}},
			{Action: Create, Entity: e, By: []Assignment{assign("id", constantly(AText("all")))}, Set: []Assignment{
				assign("n", Term{Kind: SumTerm, Name: "pieces"}, Term{Kind: CountTerm}), assign("price", Term{Kind: CountTerm}),
			}},
		},
	}
	s.write(w, Input{Values: Values{"id": AText("none"), "note": AText("all")}, Lines: []Values{
		{"id": AText("l1"), "pieces": ANumber("3")}, {"id": AText("l2"), "note": AText("own")},
	}})
	s.wantTable(
		"the write",
		record{e, with(least(), Values{"id": AText("l1"), "m": ANumber("3"), "note": AText("all")})},
		record{e, with(least(), Values{"id": AText("l2"), "note": AText("own")})},
		record{e, with(least(), Values{"id": AText("all"), "n": ANumber("5"), "price": ANumber("2"), "note": AText("all")})},
	)
}

// TestWriteValueErrors tests that values of the wrong type and missing values are rejected before any request.
func TestWriteValueErrors(t *testing.T) {
	s := newStore(t)
	e := s.thing()
	create := Step{Action: Create, Entity: e, Set: []Assignment{assign("n", given("a"))}}
	each := Step{Action: Update, Entity: e, Each: true, Add: []Assignment{assign("n", ofLine("pieces"))}, When: cond("#n > :line_least", nil)}
	number := Param{Name: "a", Type: Type{Kind: schema.KindInt}}
	pieces := Param{Name: "pieces", Type: Type{Kind: schema.KindInt}}
	ok := Values{"id": AText("t1"), "a": ANumber("1")}
	line := Values{"id": AText("t1"), "pieces": ANumber("1"), "least": ANumber("0")}
	for name, c := range map[string]struct {
		step          Step
		in            Input
		field, reason string
	}{
		"a param that is missing":           {create, Input{Values: Omit(ok, "a")}, "a", "is missing"},
		"a param of another type":           {create, Input{Values: Extend(ok, "a", "x")}, "a", "is a value of type S, not a whole number"},
		"a key field that is missing":       {create, Input{Values: Omit(ok, "id")}, "id", "is missing"},
		"a field of another language":       {create, Input{Values: Extend(ok, "id", "a#b")}, "id", "is not an id"},
		"an input of a field":               {create, Input{Values: Extend(ok, "price", "1")}, "price", "is a value of type S"},
		"a line's param that is missing":    {each, Input{Lines: []Values{line, Omit(line, "pieces")}}, "lines[1].pieces", "is missing"},
		"a line's key":                      {each, Input{Lines: []Values{Omit(line, "id")}}, "lines[0].id", "is missing"},
		"a line's key of another language":  {each, Input{Lines: []Values{Extend(line, "id", "a/b")}}, "lines[0].id", "is not an id"},
		"what a condition asks of the line": {each, Input{Lines: []Values{line, Extend(Omit(line, "least"), "id", "t2")}}, "lines[1].least", "is missing"},
		"what a condition asks":             {Step{Action: Check, Entity: e, When: cond("#n > :limit", nil)}, Input{Values: ok}, "limit", "is missing"},
		"what an error's condition asks": {
			Step{Action: Check, Entity: e, When: cond("attribute_exists(#n)", nil), Else: []Else{{Err: errOutOfStock, When: cond("#n > :limit", nil)}}}, Input{Values: ok}, "limit", "is missing",
		},
		"a sum of what is no number": {
			Step{Action: Create, Entity: e, Set: []Assignment{assign("n", given("a"), given("note"))}}, Input{Values: Extend(ok, "note", "x")}, "note", "",
		},
		"a sum with something absent": {Step{Action: Create, Entity: e, Set: []Assignment{assign("n", given("a"), given("m"))}}, Input{Values: ok}, "m", "is missing"},
		"a sum beyond what numbers hold": {
			Step{Action: Create, Entity: e, Set: []Assignment{assign("d", constantly(ANumber("1e37")), constantly(ANumber("0.01")))}}, Input{Values: ok}, "d", "is a sum that DynamoDB cannot store",
		},
		"a part of a whole number":          {Step{Action: Update, Entity: e, Add: []Assignment{assign("n", constantly(ANumber("0.5")))}}, Input{Values: ok}, "n", "is a whole number"},
		"a whole number beyond 64 bits":     {Step{Action: Create, Entity: e, Set: []Assignment{assign("n", constantly(ANumber("9223372036854775807")), given("a"))}}, Input{Values: ok}, "n", "is not a whole number"},
		"a required field of an upsert":     {Step{Action: Upsert, Entity: s.product}, Input{Values: with(ok, Values{"productId": AText("p1"), "name": AText("x")})}, "price", "is missing"},
		"a required field of a structure":   {Step{Action: Update, Entity: e, Set: []Assignment{assign("home.city", given("perhaps"))}}, Input{Values: ok}, "perhaps", "is missing"},
		"a structure without what it needs": {Step{Action: Create, Entity: e, Set: []Assignment{assign("home.zip", constantly(AText("1")))}}, Input{Values: ok}, "home.city", "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Write{Pattern: "Do", Steps: []Step{c.step}, Params: []Param{number}, Lines: c.step.Each, LineParams: []Param{pieces}}
			if c.step.Each {
				w.Params, c.in.Values = nil, nil
			}
			l := &listening{Client: s.client}
			_, err := s.open(l).Write(t.Context(), w, c.in)
			if c.reason == "" {
				c.reason = "is a value of type S" // of the field that gets the sum
			}
			WantValueError(t, err, c.field, c.reason, name)
			if len(l.requests) > 0 {
				t.Errorf("the requests are %v; want none", l.requests)
			}
		})
	}
	if n := len(s.all()); n > 0 {
		t.Errorf("%d items have been written", n)
	}
}

// TestDescriptorFaults tests that an invalid descriptor is rejected with the faulty step.
func TestDescriptorFaults(t *testing.T) {
	s := newStore(t)
	for want, step := range map[string]Step{
		"Do: step 1: entity Thing has no field nothing":                             {Action: Update, Entity: s.thing(), Set: []Assignment{assign("nothing", given("a"))}},
		"Do: step 1: entity Thing has no field home.street":                         {Action: Update, Entity: s.thing(), Set: []Assignment{assign("home.street", given("a"))}},
		"Do: step 1: n is computed from a field of Thing, but there is no item yet": {Action: Create, Entity: s.thing(), Set: []Assignment{assign("n", theField("m"))}},
		"Do: step 1: a belongs to a line, but the step is not repeated for lines":   {Action: Update, Entity: s.thing(), Set: []Assignment{assign("n", ofLine("a"))}},
		"Do: step 1: unknown action kind 0":                                         {Entity: s.thing()},
		"Do: step 1: unknown term kind 99":                                          {Action: Update, Entity: s.thing(), Set: []Assignment{assign("n", Term{Kind: 99})}},
	} {
		_, err := s.db.Write(t.Context(), &Write{Pattern: "Do", Steps: []Step{step}}, Input{Values: Values{"id": AText("t1")}})
		if err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
