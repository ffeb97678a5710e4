package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// listening is a client that records requests in short form: Get, Update, Transact(5).
type listening struct {
	Client
	requests []string
}

func (l *listening) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	l.requests = append(l.requests, "Get")
	return l.Client.GetItem(ctx, in, o...)
}

func (l *listening) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for _, keys := range in.RequestItems {
		l.requests = append(l.requests, fmt.Sprintf("BatchGet(%d)", len(keys.Keys)))
	}
	return l.Client.BatchGetItem(ctx, in, o...)
}

func (l *listening) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	l.requests = append(l.requests, "Put")
	return l.Client.PutItem(ctx, in, o...)
}

func (l *listening) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	l.requests = append(l.requests, "Update")
	return l.Client.UpdateItem(ctx, in, o...)
}

func (l *listening) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	l.requests = append(l.requests, "Delete")
	return l.Client.DeleteItem(ctx, in, o...)
}

func (l *listening) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	l.requests = append(l.requests, fmt.Sprintf("Transact(%d)", len(in.TransactItems)))
	return l.Client.TransactWriteItems(ctx, in, o...)
}

// stocked is a store with a region, two customers, an order of the first and a product, and its content.
func stocked(tb testing.TB) (*store, []record) {
	tb.Helper()
	s := newStore(tb)
	records := counted([]record{
		{s.region, s.aRegion("r1")},
		{s.customer, s.aCustomer("c1", "r1")},
		{s.customer, s.aCustomer("c2", "r1")},
		{s.order, s.anOrder("o1", "c1", 7)},
		{s.product, s.aProduct("p1", 4)},
	})
	for _, r := range records {
		s.load(r.of, r.Values)
	}
	return s, records
}

// TestRequests tests that an item is read only if the input does not determine its related items, and that there is a
// transaction only for more than one item.
func TestRequests(t *testing.T) {
	order, customer, product := Values{"orderId": AText("o1")}, Values{"customerId": AText("c1")}, Values{"productId": AText("p1")}
	set := func(path string, v types.AttributeValue) []Assignment {
		return []Assignment{assign(path, constantly(v))}
	}
	for name, c := range map[string]struct {
		step func(s *store) Step
		in   Values
		want string
	}{
		"an index key of the key alone": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.product, Add: []Assignment{assign("stock", given("stock"))}}
			},
			with(product, Values{"stock": ANumber("1")}), "Update",
		},
		"an index key of other fields": {
			func(s *store) Step { return Step{Action: Update, Entity: s.product, Set: set("name", AText("Té"))} },
			product, "Get>Update",
		},
		"an index key whose other fields the condition tells": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.product, Set: set("name", AText("Té")), When: cond("#active = :yes", Item{":yes": ABool(true)})}
			},
			product, "Update",
		},
		"a sparse index that is left by a constant": {
			func(s *store) Step { return Step{Action: Update, Entity: s.product, Set: set("active", ABool(false))} },
			product, "Update",
		},
		"a sparse index that is entered": {
			func(s *store) Step { return Step{Action: Update, Entity: s.product, Set: set("active", ABool(true))} },
			product, "Get>Update",
		},
		"a sparse index that is entered with all its fields": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.product, Set: append(set("active", ABool(true)), set("name", AText("Té"))...)}
			},
			product, "Update",
		},
		"a field that nothing has": {
			func(s *store) Step { return Step{Action: Update, Entity: s.customer, Set: set("note", AText("vip"))} },
			customer, "Update",
		},
		"a field of a copy whose key is not known": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.customer, Set: set("tier", AText("gold"))}
			},
			customer, "Get>Transact(2)",
		},
		"a field of a copy whose key the condition tells": {
			func(s *store) Step {
				return Step{
					Action: Update, Entity: s.order, Set: set("city", AText("Lima")),
					When: cond("#createdAt = :at AND #customerId = :by AND #status = :open", Item{":at": AText(noon), ":by": AText("c1"), ":open": AText("open")}),
				}
			},
			order, "Transact(2)",
		},
		"a marker": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.customer, Set: set("email", AText("new@x.org"))}
			},
			customer, "Get>Transact(3)",
		},
		"a marker that stays": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.customer, Set: set("email", AText("C1@Example.COM"))}
			},
			customer, "Get>Transact(2)",
		},
		"a sum of what is counted, and of what counts that": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.order, Add: []Assignment{assign("total", constantly(ANumber("3")))}}
			},
			// The customer's region, whose sum is in an index key, is only known once the customer is. The order and its
			// copy, the customer and its copy, and the region are written.
			order, "Get>Get>Get>Transact(5)",
		},
		"what does not change a sum": {
			func(s *store) Step { return Step{Action: Update, Entity: s.order, Set: set("street", AText("there"))} },
			order, "Update",
		},
		"a creation that is counted": {
			func(s *store) Step { return Step{Action: Create, Entity: s.order} },
			s0().anOrder("o2", "c1", 9), "Get>Get>Transact(5)",
		},
		"an upsert with a copy whose key is known": {
			func(s *store) Step {
				return Step{Action: Upsert, Entity: s.cart, Add: []Assignment{assign("quantity", given("quantity"))}, Init: []Assignment{assign("createdAt", Term{Kind: NowTerm})}}
			},
			with(customer, with(product, Values{"quantity": ANumber("2")})), "Transact(2)",
		},
		"two that must be read": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.customer, Each: true, Set: set("tier", AText("gold"))}
			},
			nil, "BatchGet(2)>Transact(4)",
		},
		"a deletion with a copy whose key is known": {
			func(s *store) Step { return Step{Action: Delete, Entity: s.cart} }, with(customer, product), "Transact(2)",
		},
		"a deletion of what nothing belongs to": {
			func(s *store) Step { return Step{Action: Delete, Entity: s.product} }, product, "Delete",
		},
		"a deletion of what is not there": {
			func(s *store) Step { return Step{Action: Delete, Entity: s.order} }, Values{"orderId": AText("none")}, "Get",
		},
		"a put": {func(s *store) Step { return Step{Action: Put, Entity: s.product} }, s0().aProduct("p2", 3), "Put"},
		"a check": {
			func(s *store) Step {
				return Step{Action: Check, Entity: s.product, When: cond("#stock > :least", Item{":least": ANumber("3")})}
			},
			product, "Transact(1)",
		},
		"an update of nothing": {
			func(s *store) Step {
				return Step{Action: Update, Entity: s.product, Add: []Assignment{assign("stock", given("perhaps"))}}
			},
			product, "Update",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := stocked(t)
			l := &listening{Client: s.client}
			w := &Write{Pattern: "Do", Steps: []Step{c.step(s)}, Params: []Param{optionalParam(Param{Name: "perhaps", Type: Type{Kind: schema.KindInt}})}}
			in := Input{Values: c.in}
			if w.Lines = w.Steps[0].Each; w.Lines {
				in.Lines = []Values{{"customerId": AText("c1")}, {"customerId": AText("c2")}}
			}
			if _, err := s.open(l).Write(t.Context(), w, in); err != nil {
				t.Fatal(err)
			}
			if requests := strings.Join(l.requests, ">"); requests != c.want {
				t.Errorf("the requests are %s; want %s", requests, c.want)
			}
			s.wantTable("the write", counted(s.primaries())...)
		})
	}
}

// s0 makes values without a database.
func s0() *store { return &store{shop: newShop()} }

// TestOutcome tests that a write returns its items if they are known.
func TestOutcome(t *testing.T) {
	s, _ := stocked(t)
	s.load(s.product, s.aProduct("p2", 9))
	w := &Write{
		Pattern: "Do", Lines: true,
		Steps: []Step{
			{Action: Create, Entity: s.customer},
			{Action: Update, Entity: s.product, Each: true, Set: []Assignment{assign("name", ofLine("name"))}},
			{Action: Delete, Entity: s.order},
			{Action: Upsert, Entity: s.cart, Add: []Assignment{assign("quantity", constantly(ANumber("2")))}, Init: []Assignment{assign("createdAt", Term{Kind: NowTerm})}},
		},
		LineParams: []Param{textParam("name")},
	}
	in := Omit(s.aCustomer("c9", "r1"), "orders", "spent")
	in["orderId"], in["productId"] = AText("o1"), AText("p0")
	out := s.write(w, Input{Values: in, Lines: []Values{{"productId": AText("p1"), "name": AText("Té")}, {"productId": AText("p2"), "name": AText("Maté")}}})
	if len(out.Items) != 4 || len(out.Items[0]) != 1 || len(out.Items[1]) != 2 || out.Replayed {
		t.Fatalf("the outcome is %+v", out)
	}
	created := Omit(in, "orderId", "productId")
	created["orders"], created["spent"] = ANumber("0"), ANumber("0")
	for _, c := range []struct {
		name      string
		got, want Values
	}{
		{"the created customer", out.Items[0][0], created},
		{"the second product", out.Items[1][1], Extend(s.aProduct("p2", 9), "name", "Maté")},
	} {
		if !SameItem(Item(c.got), Item(c.want)) {
			t.Errorf("%s is %v; want %v", c.name, schema.Attributes(Item(c.got)), schema.Attributes(Item(c.want)))
		}
	}
	if out.Items[2][0] != nil || out.Items[3][0] != nil {
		t.Errorf("a deletion left %v, an upsert in a transaction %v; want nothing", out.Items[2][0], out.Items[3][0])
	}
	single := &Write{Pattern: "One", Steps: []Step{{Action: Update, Entity: s.product, Add: []Assignment{assign("stock", constantly(ANumber("-4")))}}}}
	left := s.write(single, Input{Values: Values{"productId": AText("p1")}}).Items[0][0]
	if want := Extend(s.aProduct("p1", 0), "name", "Té"); !SameItem(Item(left), Item(want)) {
		t.Errorf("an update of one item left %v; want %v", schema.Attributes(Item(left)), schema.Attributes(Item(want)))
	}
}

// TestUnknownAttributes tests that attributes that other programs have stored are kept when an item is changed.
func TestUnknownAttributes(t *testing.T) {
	s, _ := stocked(t)
	foreign := func(pk, sk string) {
		_, err := s.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String("shop"), Key: Item{"PK": AText(pk), "SK": AText(sk)}, UpdateExpression: aws.String("SET legacy = :v"),
			ExpressionAttributeValues: Item{":v": AText("kept")},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	foreign("ORDER#o1", "ORDER")
	foreign("CUSTOMER#c1", "ORDER#"+noon+"#o1")
	foreign("CUSTOMER#c1", "PROFILE")
	pay := &Write{Pattern: "Pay", Steps: []Step{{Action: Update, Entity: s.order, Set: []Assignment{assign("status", constantly(AText("cancelled"))), assign("city", constantly(AText("Lima")))}}}}
	s.write(pay, Input{Values: Values{"orderId": AText("o1")}})
	for _, key := range [][2]string{{"ORDER#o1", "ORDER"}, {"CUSTOMER#c1", "ORDER#" + noon + "#o1"}, {"CUSTOMER#c1", "PROFILE"}} {
		if it := s.item(key[0], key[1]); !schema.SameValue(it["legacy"], AText("kept")) {
			t.Errorf("%v has lost attributes: %v", key, schema.Attributes(it))
		}
	}
}

// TestLostCopy tests that a missing copy, declared after its item was written, is put with the next change.
func TestLostCopy(t *testing.T) {
	s, records := stocked(t)
	if _, err := s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("shop"), Key: Item{"PK": AText("CUSTOMER#c1"), "SK": AText("ORDER#" + noon + "#o1")},
	}); err != nil {
		t.Fatal(err)
	}
	pay := &Write{Pattern: "Pay", Steps: []Step{{Action: Update, Entity: s.order, Set: []Assignment{assign("status", constantly(AText("paid")))}}}}
	s.write(pay, Input{Values: Values{"orderId": AText("o1")}})
	for i := range records {
		if records[i].of == s.order {
			records[i].Values = Extend(records[i].Values, "status", "paid")
		}
	}
	s.wantTable("the change", records...)
}

// TestExpired tests that an expired item counts as absent when one is created, like its markers; a marker that belongs to
// another item remains when it is deleted.
func TestExpired(t *testing.T) {
	s := newStore(t)
	seat := func(id, holder string, after time.Duration) Values {
		return Values{"seatId": AText(id), "holder": AText(holder), "expiresAt": s.seconds(after)}
	}
	create := &Write{Pattern: "Hold", Steps: []Step{{Action: Create, Entity: s.seat}}}
	remove := &Write{Pattern: "Free", Steps: []Step{{Action: Delete, Entity: s.seat}}}
	extend := &Write{Pattern: "Extend", Steps: []Step{{Action: Update, Entity: s.seat, Set: []Assignment{assign("expiresAt", given("expiresAt"))}}}}
	ann := seat("s1", "ann", time.Minute)
	s.write(create, Input{Values: ann})
	_, err := s.db.Write(t.Context(), create, Input{Values: seat("s1", "bob", time.Minute)})
	_ = wantRefusal(t, err, 0, -1, ErrExists)
	_, err = s.db.Write(t.Context(), create, Input{Values: seat("s2", "ann", time.Minute)})
	_ = wantRefusal(t, err, 0, -1, errHolderTaken)

	s.pass(time.Minute + time.Second) // TTL has not removed it yet
	s.write(create, Input{Values: seat("s2", "ann", time.Minute)})
	s.wantTable("taking the marker", record{s.seat, ann}, record{s.seat, seat("s2", "ann", time.Minute)}) // the later one has the marker

	s.write(remove, Input{Values: Values{"seatId": AText("s1")}})
	s.wantTable("deleting the expired", record{s.seat, seat("s2", "ann", time.Minute)})

	s.write(extend, Input{Values: Values{"seatId": AText("s2"), "expiresAt": s.seconds(time.Hour)}})
	s.wantTable("extending", record{s.seat, seat("s2", "ann", time.Hour)})
}

// TestTooManyActions tests that a transaction has at most 100 actions; the error lists how many there are of each kind.
func TestTooManyActions(t *testing.T) {
	s := newStore(t)
	w := &Write{Pattern: "Fill", Lines: true, Steps: []Step{{Action: Create, Entity: s.seat, Each: true}}}
	lines := func(n int) []Values {
		var out []Values
		for i := range n {
			id := AText("s" + strconv.Itoa(i))
			out = append(out, Values{"seatId": id, "holder": id, "expiresAt": s.seconds(time.Hour)})
		}
		return out
	}
	_, err := s.db.Write(t.Context(), w, Input{Lines: lines(51)})
	if !errors.Is(err, ErrLines) || !strings.Contains(err.Error(), "has 102 actions, but a transaction has at most 100: 51 × create of Seat, 51 × put of marker Holder of Seat") {
		t.Errorf("51 seats with a marker each: %v", err)
	}
	if n := len(s.all()); n > 0 {
		t.Errorf("%d items have been written", n)
	}
	s.write(w, Input{Lines: lines(50)})
	if n := len(s.all()); n != 100 {
		t.Errorf("there are %d items; want 100", n)
	}
}

// TestSameItem tests that two steps or lines on one item are rejected before any request, or as soon as the items are known.
func TestSameItem(t *testing.T) {
	s, records := stocked(t)
	s.load(s.customer, s.aCustomer("c3", "r1"))
	records = append(records, record{s.customer, s.aCustomer("c3", "r1")})
	take := Step{Action: Update, Entity: s.product, Each: true, Add: []Assignment{assign("stock", constantly(ANumber("-1")))}}
	enrol := Step{Action: Create, Entity: s.customer, Each: true}
	for name, c := range map[string]struct {
		steps []Step
		in    Input
		want  string
	}{
		"two lines": {
			[]Step{take},
			Input{Lines: []Values{{"productId": AText("p1")}, {"productId": AText("p2")}, {"productId": AText("p1")}}},
			"Do: invalid lines: lines 1 and 3 touch one item (Product)",
		},
		"two lines' markers": {
			[]Step{enrol},
			Input{Lines: []Values{Extend(s.aCustomer("n1", "r1"), "email", "n@x.org"), Extend(s.aCustomer("n2", "r1"), "email", "N@x.org")}},
			"Do: invalid lines: lines 1 and 2 touch one item (put of marker Email of Customer)",
		},
		"a step and a line": {
			[]Step{{Action: Delete, Entity: s.product}, take},
			Input{Values: Values{"productId": AText("p1")}, Lines: []Values{{"productId": AText("p1")}}},
			"Do: invalid lines: line 1 touches the item of another step (Product)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listening{Client: s.client}
			_, err := s.open(l).Write(t.Context(), &Write{Pattern: "Do", Lines: true, Steps: c.steps}, c.in)
			if !errors.Is(err, ErrLines) || err.Error() != c.want || slices.ContainsFunc(l.requests, func(h string) bool { return strings.HasPrefix(h, "T") }) {
				t.Errorf("%v, after %v; want %s", err, l.requests, c.want)
			}
			s.wantTable("the refusal", records...)
		})
	}
	transfer := &Write{Pattern: "Transfer", Steps: []Step{
		{Action: Update, Entity: s.product, By: []Assignment{assign("productId", given("from"))}, Add: []Assignment{assign("stock", constantly(ANumber("-1")))}},
		{Action: Update, Entity: s.product, By: []Assignment{assign("productId", given("to"))}, Add: []Assignment{assign("stock", constantly(ANumber("1")))}},
	}, Params: []Param{{Name: "from", Type: Type{Kind: schema.KindID}}, {Name: "to", Type: Type{Kind: schema.KindID}}}}
	_, err := s.db.Write(t.Context(), transfer, Input{Values: Values{"from": AText("p1"), "to": AText("p1")}})
	WantValueError(t, err, "productId", "makes steps 1 and 2 touch one item", "a transfer to itself")
}

// TestLines tests that a write accepts only the declared number of lines.
func TestLines(t *testing.T) {
	s, _ := stocked(t)
	step := Step{Action: Update, Entity: s.product, Each: true, Add: []Assignment{assign("stock", constantly(ANumber("-1")))}}
	one, line := Values{"productId": AText("p1")}, Values{"productId": AText("p2")}
	for name, c := range map[string]struct {
		takes bool
		most  int
		lines []Values
		want  string
	}{
		"none":     {true, 1, nil, "there are none"},
		"too many": {true, 1, []Values{one, line}, "there are 2, but the write takes at most 1"},
		"unasked":  {false, 0, []Values{one}, "the write takes none, but got 1"},
	} {
		_, err := s.db.Write(t.Context(), &Write{Pattern: "Do", Lines: c.takes, MaxLines: c.most, Steps: []Step{step}}, Input{Lines: c.lines})
		if !errors.Is(err, ErrLines) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want that %s", name, err, c.want)
		}
	}
}

// TestPutRefused tests that a put that would leave behind items related to the overwritten one is rejected.
func TestPutRefused(t *testing.T) {
	s, records := stocked(t)
	for e, want := range map[*Entity]string{s.seat: "marker Holder", s.order: "copy byCustomer", s.region: "its own counters"} {
		_, err := s.db.Write(t.Context(), &Write{Pattern: "Do", Steps: []Step{{Action: Put, Entity: e}}}, Input{})
		if err == nil || !strings.Contains(err.Error(), "Do: step 1: put of "+e.Name+" cannot maintain "+want) {
			t.Errorf("%s: %v; want that it cannot keep %s", e.Name, err, want)
		}
	}
	s.wantTable("the refusals", records...)
}

// TestCountersAreMergedIntoSteps tests that a change of a counter is merged into a step on the same item.
func TestCountersAreMergedIntoSteps(t *testing.T) {
	order := Step{Action: Create, Entity: newShop().order}
	for name, step := range map[string]func(s *store) Step{
		"an update": func(s *store) Step {
			return Step{Action: Update, Entity: s.customer, Set: []Assignment{assign("tier", constantly(AText("gold")))}}
		},
		"a check": func(s *store) Step {
			return Step{Action: Check, Entity: s.customer, When: cond("#tier = :basic", Item{":basic": AText("basic")})}
		},
		"a creation": func(s *store) Step { return Step{Action: Create, Entity: s.customer} },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := stocked(t)
			order.Entity = s.order
			in := s.anOrder("o2", "c1", 9)
			if name == "a creation" {
				in = s.anOrder("o2", "c9", 9)
				maps.Copy(in, Omit(s.aCustomer("c9", "r1"), "orders", "spent"))
			}
			s.write(&Write{Pattern: "Do", Steps: []Step{order, step(s)}}, Input{Values: in})
			records := s.primaries()
			s.wantTable("the write", counted(records)...)
			for _, r := range records {
				if r.of == s.customer && schema.SameValue(r.Values["customerId"], in["customerId"]) && whole(r.Values["spent"]) < 9 {
					t.Errorf("the customer is %v", schema.Attributes(Item(r.Values)))
				}
			}
		})
	}
}

// TestTwoTables tests that a write may touch items of several tables, which are read if necessary.
func TestTwoTables(t *testing.T) {
	s, _ := stocked(t)
	other := *s.table
	other.Name, other.Physical = "Other", "other"
	if _, err := s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("other"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS},
		},
	}); err != nil {
		t.Fatal(err)
	}
	product := *s.product
	product.Table = &other
	db, err := Open(s.client, Config{}, s.table, &other)
	if err != nil {
		t.Fatal(err)
	}
	put := &Write{Pattern: "Put", Steps: []Step{{Action: Put, Entity: &product}}}
	if _, err := db.Write(t.Context(), put, Input{Values: s.aProduct("p1", 7)}); err != nil {
		t.Fatal(err)
	}
	rename := []Assignment{assign("name", constantly(AText("Té")))}
	w := &Write{Pattern: "Rename", Steps: []Step{{Action: Update, Entity: s.product, Set: rename}, {Action: Update, Entity: &product, Set: rename}}}
	out, err := db.Write(t.Context(), w, Input{Values: Values{"productId": AText("p1")}})
	if err != nil {
		t.Fatal(err)
	}
	for i, stock := range []string{"4", "7"} {
		if v := out.Items[i][0]; !schema.SameValue(v["stock"], ANumber(stock)) || !schema.SameValue(v["name"], AText("Té")) {
			t.Errorf("the product of table %d is %v", i, schema.Attributes(Item(v)))
		}
	}
}
