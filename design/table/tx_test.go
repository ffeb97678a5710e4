package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

func op(db *DB, w *Write, in Input) *Op[Outcome] {
	return NewOp(db, w, in, func(_ context.Context, _ Input, out Outcome) (Outcome, error) { return out, nil })
}

func (s *store) op(w *Write, in Input) *Op[Outcome] { return op(s.db, w, in) }

// wantTxError checks for an error of one write of a Tx.
func wantTxError(t *testing.T, err error, write int, pattern string, want error) {
	t.Helper()
	own, ok := errors.AsType[*TxError](err)
	if !ok || own.Write != write || own.Pattern != pattern || !errors.Is(err, want) {
		t.Fatalf("the error is %v (%+v); want that of write %d, %s: %v", err, own, write, pattern, want)
	}
}

// restore makes the table contain exactly these items.
func (s *store) restore(items map[string]Item) {
	s.tb.Helper()
	for id, it := range s.all() {
		if items[id] == nil {
			if _, err := s.client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
				TableName: s.db.tableName(s.table), Key: Item{"PK": it["PK"], "SK": it["SK"]},
			}); err != nil {
				s.tb.Fatal(err)
			}
		}
	}
	for _, it := range items {
		if _, err := s.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: s.db.tableName(s.table), Item: it}); err != nil {
			s.tb.Fatal(err)
		}
	}
}

func sameTable(a, b map[string]Item) bool {
	for id := range a {
		if !SameItem(a[id], b[id]) {
			return false
		}
	}
	return len(a) == len(b)
}

// writeAll runs plays one after another, and reports whether all succeeded.
func (s *store) writeAll(plays []play) bool {
	for _, p := range plays {
		if _, err := s.db.Write(context.Background(), p.write, p.in); err != nil {
			return false
		}
	}
	return true
}

// TestComposedEqualsSequential tests that a transaction of several writes has the effect of running them in some order; that a failed
// one changes nothing; and that the order in which they are passed does not matter.
func TestComposedEqualsSequential(t *testing.T) {
	r, seed := Seeded()
	t.Logf("seed %d", seed)
	s, other := newStore(t), newStore(t)
	l := &ledger{store: s, r: r}
	for _, id := range []string{"r1", "r2"} {
		s.load(s.region, s.aRegion(id))
	}
	plays := []func() play{
		l.createCustomer, l.createCustomer, l.changeCustomer, l.promoteCustomer, l.moveCustomer, l.deleteCustomer, l.tierByEmail, l.moveAndOrder,
		l.createOrder, l.createOrder, l.createOrder, l.setStatus, l.changeOrder, l.doubleOrder, l.giveOrder, l.deleteOrder,
		l.putProduct, l.upsertProduct, l.retireProduct, l.addToCart, l.buy, l.buy,
	}
	counts := map[string]int{}
	for range 250 {
		d := time.Duration(r.IntN(3000)) * time.Millisecond
		s.pass(d)
		other.pass(d)
		var list []play
		for range 2 + r.IntN(2) {
			list = append(list, plays[r.IntN(len(plays))]())
		}
		what := fmt.Sprint(schema.Each(list, func(p play) string {
			return p.write.Pattern + schema.Attributes(Item(p.in.Values)).String() + fmt.Sprint(schema.Each(p.in.Lines, func(v Values) string { return schema.Attributes(Item(v)).String() }))
		}))
		before := s.all()
		var ends []map[string]Item
		all := true
		for order := range permutations(len(list)) {
			other.restore(before)
			if other.writeAll(schema.Each(order, func(i int) play { return list[i] })) {
				ends = append(ends, other.all())
			} else {
				all = false
			}
		}
		other.restore(before)
		tx := func(s *store, list []play) error {
			return s.db.Tx(t.Context(), schema.Each(list, func(p play) TxWrite { return s.op(p.write, p.in) })...)
		}
		err := tx(s, list)
		slices.Reverse(list)
		if again := tx(other, list); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Fatalf("%s: %v; in the other order: %v", what, err, again)
		}
		after := s.all()
		if !sameTable(after, other.all()) {
			t.Fatalf("%s: the order of the writes matters", what)
		}
		own, one := errors.AsType[*TxError](err)
		switch {
		case err == nil && !slices.ContainsFunc(ends, func(end map[string]Item) bool { return sameTable(end, after) }):
			t.Fatalf("%s: the final state matches none of %d orders", what, len(ends))
		case err == nil:
			counts["done"]++
		case !sameTable(before, after):
			t.Fatalf("%s: %v, and the table has changed", what, err)
		case errors.Is(err, ErrOverlap):
			counts["overlaps"]++
		case !one || !strings.HasPrefix(err.Error(), own.Pattern) || all:
			t.Fatalf("%s: %v; %d orders can be made", what, err, len(ends))
		default:
			counts["refused"]++
		}
		l.wantTable(what, counted(l.primaries())...)
		l.records = l.primaries()
	}
	t.Log(counts)
	if counts["done"] < 5 || counts["refused"] < 5 || counts["overlaps"] < 5 {
		t.Errorf("too few cases were run: %v", counts)
	}
}

// permutations are the orders of the numbers below n.
func permutations(n int) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		var grow func(order []int) bool
		grow = func(order []int) bool {
			if len(order) == n {
				return yield(order)
			}
			for i := range n {
				if !slices.Contains(order, i) && !grow(append(slices.Clone(order), i)) {
					return false
				}
			}
			return true
		}
		grow(nil)
	}
}

// TestComposedConcurrently tests that conflicting transactions of several writes, and single writes, preserve the design.
func TestComposedConcurrently(t *testing.T) {
	_, seed := Seeded()
	t.Logf("seed %d", seed)
	s := newStore(t)
	for _, id := range []string{"r1", "r2"} {
		s.load(s.region, s.aRegion(id))
	}
	for _, id := range []string{"c1", "c2", "c3"} {
		s.load(s.customer, s.aCustomer(id, "r1"))
	}
	var done, refused, conflicts atomic.Int64
	atOnce(8, func(i int) {
		l := &ledger{store: s, r: rand.New(rand.NewPCG(seed, uint64(i)))} //nolint:gosec // a test's values
		plays := []func() play{l.changeCustomer, l.moveCustomer, l.createOrder, l.createOrder, l.setStatus, l.changeOrder, l.giveOrder, l.deleteOrder, l.upsertProduct, l.addToCart}
		for range 40 {
			var list []TxWrite
			for range 1 + l.r.IntN(3) {
				p := plays[l.r.IntN(len(plays))]()
				list = append(list, s.op(p.write, p.in))
			}
			err := s.db.Tx(context.Background(), list...)
			_, one := errors.AsType[*TxError](err)
			switch {
			case err == nil:
				done.Add(1)
			case errors.Is(err, ErrConflict):
				conflicts.Add(1)
			case one || errors.Is(err, ErrOverlap):
				refused.Add(1)
			default:
				t.Error(err)
			}
		}
	})
	s.wantTable("many transactions at once", counted(s.primaries())...)
	t.Logf("%d done, %d rejected, %d conflicted too often", done.Load(), refused.Load(), conflicts.Load())
	if done.Load() == 0 {
		t.Error("nothing was done")
	}
}

// TestConflictingTransactions tests that of two transactions with the same two items, one succeeds and the other fails, in any
// assignment.
func TestConflictingTransactions(t *testing.T) {
	s := newStore(t)
	s.load(s.product, s.aProduct("p1", 1), s.aProduct("p2", 1))
	w := &Write{Pattern: "Take", Steps: []Step{{
		Action: Update, Entity: s.product, Add: []Assignment{assign("stock", constantly(ANumber("-1")))}, When: cond("#stock > :none", Item{":none": ANumber("0")}),
		Else: []Else{{Err: errOutOfStock}},
	}}}
	take := func(id string) TxWrite { return s.op(w, Input{Values: Values{"productId": AText(id)}}) }
	var done, refused atomic.Int64
	atOnce(8, func(i int) {
		list := []TxWrite{take("p1"), take("p2")}
		if i%2 == 1 {
			slices.Reverse(list)
		}
		switch err := s.db.Tx(context.Background(), list...); {
		case err == nil:
			done.Add(1)
		case errors.Is(err, errOutOfStock):
			refused.Add(1)
		default:
			t.Error(err)
		}
	})
	if done.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d done, %d refused; want 1 and 7", done.Load(), refused.Load())
	}
	s.wantTable("the sale", record{s.product, s.aProduct("p1", 0)}, record{s.product, s.aProduct("p2", 0)})
}

func (s *store) createOrder() *Write {
	return &Write{Pattern: "CreateOrder", Steps: []Step{{
		Action: Create, Entity: s.order, Set: []Assignment{assign("status", constantly(AText("open"))), assign("createdAt", Term{Kind: NowTerm}), assign("street", constantly(AText("here")))},
	}}}
}

func (s *store) orderOf(id, customer, total string) *Op[Outcome] {
	return s.op(s.createOrder(), Input{Values: Values{"orderId": AText(id), "customerId": AText(customer), "total": ANumber(total)}})
}

// TestComposed tests the effects of a transaction's writes on one item, their results and their errors.
func TestComposed(t *testing.T) {
	create := func(s *store, id, email string) *Op[Outcome] {
		return s.op(&Write{Pattern: "CreateCustomer", Steps: []Step{{Action: Create, Entity: s.customer}}}, Input{Values: Values{
			"customerId": AText(id), "regionId": AText("r1"), "email": AText(email), "name": AText("Ana"), "tier": AText("basic"),
		}})
	}
	update := func(s *store, id string, set ...Assignment) *Op[Outcome] {
		return s.op(&Write{Pattern: "Change", Steps: []Step{{Action: Update, Entity: s.customer, Set: set}}}, Input{Values: Values{"customerId": AText(id)}})
	}
	tier := assign("tier", constantly(AText("gold")))
	for name, c := range map[string]struct {
		writes  func(s *store) []*Op[Outcome]
		failing int
		want    error
		text    string
	}{
		"counters are moved by both": {
			writes: func(s *store) []*Op[Outcome] {
				return []*Op[Outcome]{s.orderOf("o2", "c1", "7"), s.orderOf("o3", "c1", "8")}
			},
		},
		"a counter of what the other makes": {
			writes: func(s *store) []*Op[Outcome] {
				return []*Op[Outcome]{s.orderOf("o2", "c9", "7"), create(s, "c9", "c9@x.org")}
			},
		},
		"a counter of what the other changes": {
			writes: func(s *store) []*Op[Outcome] {
				return []*Op[Outcome]{s.orderOf("o2", "c1", "7"), update(s, "c1", tier)}
			},
		},
		"a counter of what the other deletes": {
			writes: func(s *store) []*Op[Outcome] {
				remove := s.op(&Write{Pattern: "Leave", Steps: []Step{{Action: Delete, Entity: s.customer}}}, Input{Values: Values{"customerId": AText("c2")}})
				return []*Op[Outcome]{s.orderOf("o2", "c2", "7"), remove}
			},
			failing: -1, want: ErrOverlap,
			text: `CreateOrder (count of Customer) and Leave (Customer) touch item {PK: "CUSTOMER#c2", SK: "PROFILE"} of Shop`,
		},
		"counters of each other's items": {
			writes: func(s *store) []*Op[Outcome] {
				both := func(pattern, order, to, of string) *Op[Outcome] {
					w := s.createOrder()
					w.Pattern = pattern
					w.Params = []Param{{Name: "to", Type: Type{Kind: schema.KindID}}}
					w.Steps = append(w.Steps, Step{Action: Update, Entity: s.customer, By: []Assignment{assign("customerId", given("to"))}, Set: []Assignment{tier}})
					return s.op(w, Input{Values: Values{"orderId": AText(order), "customerId": AText(of), "to": AText(to), "total": ANumber("7")}})
				}
				return []*Op[Outcome]{both("Left", "o2", "c1", "c2"), both("Right", "o3", "c2", "c1")}
			},
			failing: -1, want: ErrOverlap, text: "Tx of Left, Right: writes touch the same item",
		},
		"one item": {
			writes:  func(s *store) []*Op[Outcome] { return []*Op[Outcome]{update(s, "c1", tier), update(s, "c1", tier)} },
			failing: -1, want: ErrOverlap,
			text: `Tx of Change, Change: writes touch the same item: Change (Customer) and Change (Customer) touch item {PK: "CUSTOMER#c1", SK: "PROFILE"} of Shop`,
		},
		"one marker": {
			writes: func(s *store) []*Op[Outcome] {
				return []*Op[Outcome]{create(s, "c8", "new@x.org"), create(s, "c9", "NEW@x.org")}
			},
			failing: -1, want: ErrOverlap,
			text: `CreateCustomer (put of marker Email of Customer) and CreateCustomer (put of marker Email of Customer) touch item {PK: "EMAIL#new@x.org", SK: "UNIQUE"}`,
		},
		"the error of the second": {
			writes: func(s *store) []*Op[Outcome] {
				return []*Op[Outcome]{s.orderOf("o2", "c1", "7"), create(s, "c1", "new@x.org")}
			},
			failing: 1, want: errCustomerIs, text: "CreateCustomer: customer already exists",
		},
		"an input of the second": {
			writes: func(s *store) []*Op[Outcome] {
				return []*Op[Outcome]{s.orderOf("o2", "c1", "7"), s.orderOf("o3", "c1", "7.5")}
			},
			failing: 1, text: "CreateOrder: total ",
		},
		"a counter of nothing": {
			writes: func(s *store) []*Op[Outcome] {
				return []*Op[Outcome]{s.orderOf("o2", "c1", "7"), s.orderOf("o3", "c9", "7")}
			},
			failing: 1, want: errNoCustomer, text: "CreateOrder: customer not found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := stocked(t)
			s.load(s.customer, s.aCustomer("c2", "r1"))
			before := s.all()
			writes := c.writes(s)
			err := s.db.Tx(t.Context(), schema.Each(writes, func(o *Op[Outcome]) TxWrite { return o })...)
			if c.text == "" {
				if err != nil {
					t.Fatal(err)
				}
				s.wantTable("it", counted(s.primaries())...)
				for i, o := range writes {
					if len(o.Result.Items) != 1 || len(o.Result.Items[0]) != 1 || o.Replayed {
						t.Errorf("write %d gets %+v", i, o.Result)
					}
				}
				return
			}
			own, one := errors.AsType[*TxError](err)
			if err == nil || !strings.Contains(err.Error(), c.text) || one != (c.failing >= 0) || one && own.Write != c.failing || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v (%+v); want write %d: %s", err, own, c.failing, c.text)
			}
			if !sameTable(before, s.all()) {
				t.Error("the table has changed")
			}
		})
	}
}

// TestComposedBounds tests that what cannot be one transaction is rejected before any request.
func TestComposedBounds(t *testing.T) {
	s, _ := stocked(t)
	l := &listening{Client: s.client}
	s.db = s.open(l)
	batch := &Write{Pattern: "Import", Lines: true, Batch: true, Steps: []Step{{Action: Put, Each: true, Entity: s.product}}}
	lines := &Write{Pattern: "Stock", Lines: true, Steps: []Step{{Action: Update, Each: true, Entity: s.product, Add: []Assignment{assign("stock", constantly(ANumber("1")))}}}}
	product := func(i int) Values {
		return Values{"productId": AText(fmt.Sprint("p", i)), "name": AText("A"), "price": ANumber("1"), "stock": ANumber("1"), "active": ABool(true)}
	}
	many := func(from, to int) *Op[Outcome] {
		in := Input{}
		for i := from; i < to; i++ {
			in.Lines = append(in.Lines, Values{"productId": AText(fmt.Sprint("p", i))})
		}
		return s.op(lines, in)
	}
	one := s.orderOf("o2", "c1", "7")
	silent := s.payment()
	silent.Idempotent = &Idempotent{Record: s.requests}
	for want, list := range map[string][]TxWrite{
		"a Tx has no writes": nil,
		"Import: a batch is not a transaction and cannot be part of one":        {s.op(batch, Input{Lines: []Values{product(1)}})},
		"write 1 of a Tx belongs to another DB, or is passed twice":             {one, one},
		"write 0 of a Tx belongs to another DB, or is passed twice":             {op(s.open(l), s.createOrder(), Input{})},
		"the writes have 101 actions, but a transaction has at most 100":        {many(0, 50), many(50, 101)},
		"Stock's update of Product":                                             {many(0, 50), many(50, 101)},
		"Pay: its record does not contain the request":                          {one, s.op(silent, aPayment("k", "7"))},
		"Stock: invalid lines: lines 1 and 2 touch one item (Product)":          {one, s.op(lines, Input{Lines: []Values{product(1), product(1)}})},
		"Tx of CreateOrder, Stock: writes touch the same item: Stock (Product)": {one, many(1, 2), many(1, 3)},
	} {
		want = strings.Replace(want, "Tx of CreateOrder, Stock:", "Tx of CreateOrder, Stock, Stock:", 1)
		if err := s.db.Tx(t.Context(), list...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if len(l.requests) > 0 {
		t.Errorf("there were requests: %v", l.requests)
	}
}

// TestComposedOnce tests that an idempotent write makes the whole idempotent, and its key identifies the whole.
func TestComposedOnce(t *testing.T) {
	s, _ := stocked(t)
	pay := func(key, total string) *Op[Outcome] { return s.op(s.payment(), aPayment(key, total)) }
	put := func(name string) *Op[Outcome] {
		w := &Write{Pattern: "Rename", Steps: []Step{{Action: Update, Entity: s.product, Set: []Assignment{assign("name", given("name"))}}}}
		return s.op(w, Input{Values: Values{"productId": AText("p1"), "name": AText(name)}})
	}
	first, second, name := pay("k1", "7"), pay("k2", "8"), put("Tea")
	if err := s.db.Tx(t.Context(), first, second, name); err != nil {
		t.Fatal(err)
	}
	orders := s.orders()
	s.write(name.binding.write, put("Coffee").binding.in)
	for _, record := range []string{"", "k1", "k2"} { // as after a rejected transaction, or after one record has expired
		if record != "" {
			key := Item{"PK": AText("CUSTOMER#c1"), "SK": AText("REQUEST#" + record)}
			if _, err := s.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: s.db.tableName(s.table), Key: key}); err != nil {
				t.Fatal(err)
			}
		}
		a, b, c := pay("k1", "7.0"), pay("k2", "8"), put("Tea")
		err := s.db.Tx(t.Context(), c, b, a)
		if record == "k2" { // none is left
			if err != nil || a.Replayed || s.orders() != orders+2 {
				t.Errorf("%v, %+v, %d orders; want two more than %d", err, a, s.orders(), orders)
			}
			break
		}
		if err != nil || !a.Replayed || !b.Replayed || !c.Replayed || s.orders() != orders || len(c.Result.Items) > 0 {
			t.Errorf("%v, %+v %+v %+v, %d orders; want a repetition", err, a, b, c, s.orders())
		}
		if recorded := b.Result.Record["orderId"]; !schema.SameValue(recorded, second.Result.Items[0][0]["orderId"]) {
			t.Errorf("the record is of order %v", recorded)
		}
		if (a.Result.Record != nil) != (record == "") {
			t.Errorf("the other record is %v", a.Result.Record)
		}
		if s.item("PRODUCT#p1", "PRODUCT")["name"].(*types.AttributeValueMemberS).Value != "Coffee" {
			t.Error("the repetition did something")
		}
	}
	for _, list := range [][]TxWrite{
		{pay("k1", "7")}, {pay("k1", "7"), pay("k2", "8")}, {pay("k1", "7"), pay("k2", "8"), put("Milk")}, {pay("k1", "9"), pay("k2", "8"), put("Tea")},
	} {
		err := s.db.Tx(t.Context(), list...)
		wantTxError(t, err, 0, "Pay", errRequestReused)
	}
	if _, err := s.db.Write(t.Context(), s.payment(), aPayment("k1", "7")); !errors.Is(err, ErrReused) {
		t.Errorf("%v; want %v", err, ErrReused)
	}
	s.wantTable("repetitions", counted(s.primaries())...)
}

// TestComposedObserved tests that a transaction is reported as one call, with its patterns ordered by name.
func TestComposedObserved(t *testing.T) {
	s, _ := stocked(t)
	var seen []Call
	s.db.observe = func(_ context.Context, c Call) { seen = append(seen, c) }
	if err := s.db.Tx(t.Context(), s.orderOf("o2", "c1", "7"), s.op(s.payment(), aPayment("k1", "7"))); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Pattern != "Tx of CreateOrder, Pay" || seen[0].Attempts != 1 || seen[0].WriteUnits == 0 {
		t.Errorf("it is observed as %+v", seen)
	}
}
