package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// randomParcel returns random values for some of a parcel's fields; optional ones are sometimes absent.
func randomParcel(r *rand.Rand) Values {
	one := func(of ...string) types.AttributeValue { return AText(of[r.IntN(len(of))]) }
	v := Values{
		"userId": one("u-1", "u-2"), "ref": one("Ref 1", "REF 1", "Ref 2", "Ref 3"), "status": one("open", "sent"),
		"weight": ANumber(strconv.Itoa(900 + r.IntN(3)*100)), "street": one("Jr. Unión 1", "Av. Sol 2"), "createdAt": one(noon, "2024-01-15T10:00:00.000Z"),
	}
	for name, value := range map[string]types.AttributeValue{
		"city": one("Bogotá", "Lima"), "tags": AList(AText("fragile")), "marks": ANumberSet("3", "1"), "note": one("ring", "wait"), "expiresAt": ANumber("4070908800"),
	} {
		if r.IntN(2) == 0 {
			v[name] = value
		}
	}
	return v
}

// TestParcelWrites tests updates, upserts and deletions of an entity with shared index attributes, a local index over a
// counter, keys that are plain fields, and fields inside a map.
func TestParcelWrites(t *testing.T) {
	r, seed := Seeded()
	t.Logf("seed %d", seed)
	s := newStore(t)
	e := Parcels()
	e.Table = s.table
	e.Fields = slices.Clone(e.Fields)
	e.Fields[slices.IndexFunc(e.Fields, func(f Field) bool { return f.Name == "expiresAt" })].Path = []string{"expiresAt"}
	parcel := map[string]Values{}
	// taken reports whether another parcel has the ref.
	taken := func(id string, ref types.AttributeValue) bool {
		for other, v := range parcel {
			a, _ := e.TextOf(TemplateOf("{ref|lower}")[0], v["ref"])
			b, _ := e.TextOf(TemplateOf("{ref|lower}")[0], ref)
			if other != id && a == b {
				return true
			}
		}
		return false
	}
	for n := range 600 {
		id := "p-" + strconv.Itoa(r.IntN(3))
		in := randomParcel(r)
		in["parcelId"] = AText(id)
		old := parcel[id]
		step := Step{Action: []Action{Create, Update, Update, Update, Upsert, Delete}[r.IntN(6)], Entity: e}
		next := maps.Clone(in)
		var want error
		switch step.Action {
		case Create:
			if old != nil {
				want = ErrExists
			}
			next["stops"] = ANumber("0")
		case Delete:
			next = nil
		default: // set some fields, and change a counter
			if old == nil && step.Action == Update {
				want = ErrNotFound
			}
			next = maps.Clone(old)
			if next == nil {
				next = Values{"parcelId": in["parcelId"], "stops": ANumber("0")}
			}
			for i := range e.Fields {
				name := e.Fields[i].Name
				switch {
				case name == "parcelId":
				case name == "stops":
					if r.IntN(3) == 0 {
						step.Add = append(step.Add, assign("stops", constantly(ANumber("1"))))
						next["stops"] = ANumber(strconv.Itoa(whole(next["stops"]) + 1))
					}
				case r.IntN(6) == 0:
					step.Set = append(step.Set, assign(name, given(name)))
					putValue(next, name, in[name])
				case step.Action == Upsert && in[name] != nil:
					next[name] = in[name] // the fields set by nothing else
				}
			}
		}
		if want == nil && next != nil && taken(id, next["ref"]) {
			want = ErrExists
		}
		what := fmt.Sprintf("write %d: %d, set %v, add %v, of %v", n, step.Action, step.Set, step.Add, schema.Attributes(Item(in)))
		_, err := s.db.Write(context.Background(), &Write{Pattern: "Do", Steps: []Step{step}}, Input{Values: in})
		if !errors.Is(err, want) {
			t.Fatalf("%s: %v; want %v", what, err, want)
		}
		if want == nil {
			parcel[id] = next
		}
		var records []record
		for _, v := range parcel {
			if v != nil {
				records = append(records, record{e, v})
			}
		}
		s.wantTable(what, records...)
	}
}

// TestPlainFieldsAsKeys tests keys that are plain fields: no other attributes are written, neither for the primary key, which
// updates do not touch, nor for an index.
func TestPlainFieldsAsKeys(t *testing.T) {
	s := newStore(t)
	logs := &Table{Name: "Logs", Physical: "logs", PK: Attribute{Name: "tenant", Type: types.ScalarAttributeTypeS}, SK: Attribute{Name: "at", Type: types.ScalarAttributeTypeN}}
	if _, err := s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("logs"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("tenant"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("at"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("tenant"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("at"), AttributeType: types.ScalarAttributeTypeN},
		},
	}); err != nil {
		t.Fatal(err)
	}
	e := s.entity("Log", "", "", "tenant:id at:int size:int? level:text?")
	e.Table = logs
	e.Key = []KeyAttribute{FieldKey("tenant", types.ScalarAttributeTypeS, "tenant"), FieldKey("at", types.ScalarAttributeTypeN, "at")}
	e.Entries = []Entry{{Index: "Level", PK: []KeyAttribute{FieldKey("level", types.ScalarAttributeTypeS, "level")}}}
	db, err := Open(s.client, Config{}, logs)
	if err != nil {
		t.Fatal(err)
	}
	key := Values{"tenant": AText("t1"), "at": ANumber("7")}
	item := func() Item {
		response, err := s.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("logs"), Key: Item(key)})
		if err != nil {
			t.Fatal(err)
		}
		return response.Item
	}
	size := []Assignment{assign("size", given("size"))}
	for _, c := range []struct {
		step Step
		in   Values
		want Item
	}{
		{Step{Action: Upsert, Entity: e}, key, Item(key)},
		{Step{Action: Update, Entity: e, Set: append(size, assign("level", constantly(AText("high"))))}, with(key, Values{"size": ANumber("5")}), Item(with(key, Values{"size": ANumber("5"), "level": AText("high")}))},
		{Step{Action: Delete, Entity: e}, key, nil},
		{Step{Action: Create, Entity: e}, with(key, Values{"size": ANumber("6")}), Item(with(key, Values{"size": ANumber("6")}))},
	} {
		if _, err := db.Write(t.Context(), &Write{Pattern: "Do", Steps: []Step{c.step}}, Input{Values: c.in}); err != nil {
			t.Fatal(err)
		}
		if got := item(); !SameItem(got, c.want) {
			t.Errorf("there is %v; want %v", schema.Attributes(got), schema.Attributes(c.want))
		}
	}
	_, err = db.Write(t.Context(), &Write{Pattern: "Do", Steps: []Step{{Action: Update, Entity: e, Set: []Assignment{assign("level", constantly(AText("")))}}}}, Input{Values: key})
	WantValueError(t, err, "level", "makes the key level empty", "an empty key of an index")

	// An item that is only its key is also created in a transaction.
	other := with(key, Values{"at": ANumber("8")})
	both := &Write{Pattern: "Both", Steps: []Step{{Action: Upsert, Entity: e}, {Action: Upsert, Entity: e, By: []Assignment{assign("at", constantly(ANumber("9")))}}, {
		Action: Update, Entity: e, By: []Assignment{assign("at", constantly(ANumber("7")))}, Add: []Assignment{assign("size", given("more"))},
	}}, Params: []Param{optionalParam(Param{Name: "more", Type: Type{Kind: schema.KindInt}})}}
	if _, err := db.Write(t.Context(), both, Input{Values: other}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"8", "9"} {
		key["at"] = ANumber(at)
		if got := item(); !SameItem(got, Item(key)) {
			t.Errorf("there is %v; want %v", schema.Attributes(got), schema.Attributes(Item(key)))
		}
	}
}

// TestUpsertedEntries tests that the index attributes are correct, whichever fields an upsert sets, initializes or adds to,
// and whether it creates the item or finds it.
func TestUpsertedEntries(t *testing.T) {
	r, seed := Seeded()
	t.Logf("seed %d", seed)
	s := newStore(t)
	e := s.entity("Visit", "VISIT#{id}", "VISIT", "id:id kind:text state:text at:time score:int label:text?")
	sparse := index("D", "NEW", "{at}")
	sparse.Where = cond("#state = :new AND #kind <> :odd", Item{":new": AText("new"), ":odd": AText("odd")})
	ofKey := index("E", "FIRST", "{at}#{kind}")
	ofKey.Where = cond("begins_with(#id, :v1)", Item{":v1": AText("v1")})
	e.Entries = []Entry{index("A", "KIND#{kind}", "{at}#{id}"), index("B", "STATE#{state}", "{kind}#{at}"), index("C", "LABEL#{label}", "{at}"), sparse, ofKey}
	e.Copies = []Copy{{Name: "all", Key: keyOfBoth("COPY#{id}", "VISIT"), Entries: []Entry{index("A", "AT", "{at}"), sparse}}}
	visits := map[string]Values{}
	requests := map[string]int{}
	for n := range 400 {
		id := "v" + strconv.Itoa(r.IntN(3))
		in := Values{"id": AText(id)}
		next := maps.Clone(visits[id])
		if next == nil {
			next = Values{"id": AText(id), "score": ANumber("0")}
		}
		step := Step{Action: Upsert, Entity: e, Add: []Assignment{assign("score", constantly(ANumber("2")))}}
		next["score"] = ANumber(strconv.Itoa(whole(next["score"]) + 2))
		for name, of := range map[string][]string{"kind": {"odd", "even"}, "state": {"new", "old"}, "at": {noon, "2024-01-15T10:00:00.000Z"}, "label": {"a", "b"}} {
			v := AText(of[r.IntN(2)])
			if name == "label" && r.IntN(2) == 0 {
				v = nil
			}
			putValue(in, name, v)
			switch r.IntN(3) {
			case 0: // it is only passed
				if v != nil {
					next[name] = v
				}
			case 1:
				step.Set = append(step.Set, assign(name, given(name)))
				putValue(next, name, v)
			default:
				step.Init = append(step.Init, assign(name, given(name)))
				if next[name] == nil {
					putValue(next, name, v)
				}
			}
		}
		visits[id] = next
		l := &listening{Client: s.client}
		if _, err := s.open(l).Write(t.Context(), &Write{Pattern: "Do", Steps: []Step{step}}, Input{Values: in}); err != nil {
			t.Fatalf("write %d, set %v, init %v, of %v: %v", n, step.Set, step.Init, schema.Attributes(Item(in)), err)
		}
		requests[fmt.Sprint(len(l.requests))]++
		var records []record
		for _, v := range visits {
			records = append(records, record{e, v})
		}
		s.wantTable(fmt.Sprintf("write %d, set %v, init %v, of %v", n, step.Set, step.Init, schema.Attributes(Item(in))), records...)
		if r.IntN(4) == 0 {
			s.write(&Write{Pattern: "Forget", Steps: []Step{{Action: Delete, Entity: e}}}, Input{Values: Values{"id": AText(id)}})
			delete(visits, id)
		}
	}
	if requests["1"] == 0 || requests["2"] == 0 {
		t.Errorf("requests for each write: %v; want some with a read and some without", requests)
	}
}
