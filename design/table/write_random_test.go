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
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
	"github.com/monotable/monotable/design/table/internal/write"
)

// ledger is the expected content of the shop: plain values, on which plain Go does what the writes say.
type ledger struct {
	*store
	r       *rand.Rand
	records []record
}

// find is the index of an entity's values by its key fields.
func (l *ledger) find(e *Entity, v Values) int {
	return slices.IndexFunc(l.records, func(r record) bool {
		return r.of == e && write.Within(schema.FieldsOf(e.Key), slices.DeleteFunc(schema.FieldsOf(e.Key), func(f string) bool { return !schema.SameValue(r.Values[f], v[f]) }))
	})
}

// play is a random call of a write: its expected error, or its effect on the ledger.
type play struct {
	write *Write
	in    Input
	err   error
	do    func()
}

// change changes values of a record, which must exist; otherwise the call fails with err.
func (l *ledger) change(w *Write, in Input, e *Entity, err error, allowed func(Values) error, do func(Values)) play {
	i := l.find(e, in.Values)
	if i < 0 {
		return play{write: w, in: in, err: err}
	}
	if allowed != nil {
		if err := allowed(l.records[i].Values); err != nil {
			return play{write: w, in: in, err: err}
		}
	}
	return play{write: w, in: in, do: func() {
		v := maps.Clone(l.records[i].Values)
		do(v)
		l.records[i].Values = v
	}}
}

func (l *ledger) one(of ...string) types.AttributeValue { return AText(of[l.r.IntN(len(of))]) }

func (l *ledger) number(below int) types.AttributeValue {
	return ANumber(strconv.Itoa(l.r.IntN(below)))
}

func (l *ledger) customerID() types.AttributeValue { return l.one("c1", "c2", "c3") }
func (l *ledger) orderID() types.AttributeValue    { return l.one("o1", "o2", "o3", "o4", "o5") }
func (l *ledger) email() types.AttributeValue {
	return l.one("ann@x.org", "Ann@x.org", "bob@x.org", "BOB@x.org", "cid@x.org")
}

// sometimes sets an input with probability 1/2.
func (l *ledger) sometimes(v Values, name string, value types.AttributeValue) {
	if l.r.IntN(2) == 0 {
		v[name] = value
	}
}

// putValue sets a value, or removes it if it is absent.
func putValue(v Values, name string, value types.AttributeValue) {
	if v[name] = value; value == nil {
		delete(v, name)
	}
}

func (l *ledger) taken(email types.AttributeValue, by types.AttributeValue) bool {
	fold := func(v types.AttributeValue) string { return string(schema.AppendValue(nil, v)) }
	lower := TemplateOf("{email|lower}")[0]
	text, _ := l.customer.TextOf(lower, email)
	return slices.ContainsFunc(l.records, func(r record) bool {
		if r.of != l.customer || fold(r.Values["customerId"]) == fold(by) {
			return false
		}
		other, _ := l.customer.TextOf(lower, r.Values["email"])
		return other == text
	})
}

func (l *ledger) createCustomer() play {
	w := &Write{Pattern: "CreateCustomer", Steps: []Step{{Action: Create, Entity: l.customer, Set: []Assignment{assign("tier", constantly(AText("basic")))}}}}
	in := Values{"customerId": l.customerID(), "regionId": l.one("r1", "r2"), "email": l.email(), "name": l.one("Ana", "Ána", "Zoë")}
	l.sometimes(in, "note", AText("vip"))
	p := play{write: w, in: Input{Values: in}, do: func() {
		v := maps.Clone(in)
		v["tier"], v["orders"], v["spent"] = AText("basic"), ANumber("0"), ANumber("0")
		l.records = append(l.records, record{l.customer, v})
	}}
	switch {
	case l.find(l.customer, in) >= 0:
		p.err = errCustomerIs
	case l.taken(in["email"], in["customerId"]):
		p.err = errEmailTaken
	}
	return p
}

func (l *ledger) changeCustomer() play {
	w := &Write{
		Pattern: "ChangeCustomer", Params: []Param{optionalParam(textParam("remark"))},
		Steps: []Step{{Action: Update, Entity: l.customer, Set: []Assignment{
			assign("email", given("email")), assign("name", given("name")), assign("tier", given("tier")), assign("note", given("remark")),
		}}},
	}
	in := Values{"customerId": l.customerID(), "email": l.email(), "name": l.one("Ana", "Ána", "Zoë"), "tier": l.one("basic", "gold")}
	l.sometimes(in, "remark", AText("vip"))
	return l.change(w, Input{Values: in}, l.customer, errNoCustomer, func(Values) error {
		if l.taken(in["email"], in["customerId"]) {
			return errEmailTaken
		}
		return nil
	}, func(v Values) {
		v["email"], v["name"], v["tier"] = in["email"], in["name"], in["tier"]
		putValue(v, "note", in["remark"])
	})
}

func (l *ledger) promoteCustomer() play {
	w := &Write{Pattern: "PromoteCustomer", Steps: []Step{{
		Action: Update, Entity: l.customer, Set: []Assignment{assign("tier", constantly(AText("gold")))},
		When: cond("#tier = :basic", Item{":basic": AText("basic")}), Else: []Else{{Err: errPriceChanged, When: cond("#tier = :gold", Item{":gold": AText("gold")})}},
	}}}
	in := Values{"customerId": l.customerID()}
	return l.change(w, Input{Values: in}, l.customer, errNoCustomer, func(v Values) error {
		switch {
		case schema.SameValue(v["tier"], AText("basic")):
			return nil
		case schema.SameValue(v["tier"], AText("gold")):
			return errPriceChanged
		default:
			return ErrRefused
		}
	}, func(v Values) { v["tier"] = AText("gold") })
}

func (l *ledger) moveCustomer() play {
	w := &Write{Pattern: "MoveCustomer", Steps: []Step{{Action: Update, Entity: l.customer, Set: []Assignment{assign("regionId", given("regionId"))}}}}
	in := Values{"customerId": l.customerID(), "regionId": l.one("r1", "r2")}
	return l.change(w, Input{Values: in}, l.customer, errNoCustomer, nil, func(v Values) { v["regionId"] = in["regionId"] })
}

// tierByEmail sets a field in the copy to one that is not in it.
func (l *ledger) tierByEmail() play {
	w := &Write{Pattern: "TierByEmail", Steps: []Step{{Action: Update, Entity: l.customer, Set: []Assignment{assign("tier", theField("email"))}}}}
	in := Values{"customerId": l.customerID()}
	return l.change(w, Input{Values: in}, l.customer, errNoCustomer, nil, func(v Values) { v["tier"] = v["email"] })
}

// moveAndOrder moves a customer to another region, and changes their spending there at the same time.
func (l *ledger) moveAndOrder() play {
	p := l.createOrder()
	p.write.Pattern = "MoveAndOrder"
	region := l.one("r1", "r2")
	p.in.Values["to"] = region
	p.write.Params = []Param{{Name: "to", Type: Type{Kind: schema.KindID}}}
	p.write.Steps = append(p.write.Steps, Step{Action: Update, Entity: l.customer, Set: []Assignment{assign("regionId", given("to"))}})
	order := p.do
	p.do = func() {
		delete(p.in.Values, "to")
		order()
		i := l.find(l.customer, p.in.Values)
		l.records[i].Values = Omit(Extend(l.records[i].Values, "regionId", ""), "regionId")
		l.records[i].Values["regionId"] = region
	}
	return p
}

func (l *ledger) deleteCustomer() play {
	w := &Write{Pattern: "DeleteCustomer", Steps: []Step{{
		Action: Delete, Entity: l.customer, When: cond("#orders = :zero", Item{":zero": ANumber("0")}), Else: []Else{{Err: errOutOfStock, When: cond("#orders > :zero", Item{":zero": ANumber("0")})}},
	}}}
	in := Values{"customerId": l.customerID()}
	p := l.change(w, Input{Values: in}, l.customer, errNoCustomer, func(Values) error {
		i := l.find(l.customer, in)
		if whole(counted(l.records)[i].Values["orders"]) > 0 {
			return errOutOfStock
		}
		return nil
	}, nil)
	if p.do != nil {
		p.do = func() { l.records = slices.Delete(l.records, l.find(l.customer, in), l.find(l.customer, in)+1) }
	}
	return p
}

func (l *ledger) createOrder() play {
	w := &Write{Pattern: "CreateOrder", Steps: []Step{{
		Action: Create, Entity: l.order, Set: []Assignment{assign("status", constantly(AText("open"))), assign("createdAt", Term{Kind: NowTerm})},
	}}}
	in := Values{"orderId": l.orderID(), "customerId": l.customerID(), "total": l.number(12), "street": AText("Jr. Unión 1")}
	l.sometimes(in, "city", l.one("Lima", "Bogotá"))
	l.sometimes(in, "tags", ATextSet("b", "a"))
	p := play{write: w, in: Input{Values: in}, do: func() {
		v := maps.Clone(in)
		v["status"], v["createdAt"] = AText("open"), l.now()
		l.records = append(l.records, record{l.order, v})
	}}
	switch {
	case l.find(l.order, in) >= 0:
		p.err = errOrderIs
	case l.find(l.customer, in) < 0:
		p.err = errNoCustomer
	}
	return p
}

func (l *ledger) setStatus() play {
	w := &Write{Pattern: "SetStatus", Steps: []Step{{
		Action: Update, Entity: l.order, Set: []Assignment{assign("status", given("to"))}, When: cond("#status = :from", nil),
		Else: []Else{{Err: errPriceChanged}},
	}}, Params: []Param{textParam("to"), textParam("from")}}
	in := Values{"orderId": l.orderID(), "from": l.one("open", "paid", "cancelled"), "to": l.one("open", "paid", "cancelled")}
	return l.change(w, Input{Values: in}, l.order, ErrNotFound, func(v Values) error {
		if !schema.SameValue(v["status"], in["from"]) {
			return errPriceChanged
		}
		return nil
	}, func(v Values) { v["status"] = in["to"] })
}

func (l *ledger) changeOrder() play {
	w := &Write{Pattern: "ChangeOrder", Steps: []Step{{
		Action: Update, Entity: l.order,
		Set: []Assignment{assign("city", given("city")), assign("tags", given("tags")), assign("street", given("street"))},
		Add: []Assignment{assign("total", given("more"), constantly(ANumber("1")))},
	}}, Params: []Param{moneyParam("more")}}
	in := Values{"orderId": l.orderID(), "more": l.number(4), "street": AText("Av. Sol 2")}
	l.sometimes(in, "city", l.one("Lima", "Bogotá"))
	l.sometimes(in, "tags", ATextSet("c"))
	return l.change(w, Input{Values: in}, l.order, ErrNotFound, nil, func(v Values) {
		putValue(v, "city", in["city"])
		putValue(v, "tags", in["tags"])
		v["street"], v["total"] = in["street"], ANumber(strconv.Itoa(whole(v["total"])+whole(in["more"])+1))
	})
}

// doubleOrder sets a sum of fields, which DynamoDB can express; a sum of three it cannot.
func (l *ledger) doubleOrder() play {
	terms := []Term{theField("total"), theField("total")}
	if l.r.IntN(2) == 0 {
		terms = append(terms, theField("total"), minus(constantly(ANumber("20"))))
	}
	w := &Write{Pattern: "DoubleOrder", Steps: []Step{{
		Action: Update, Entity: l.order, Set: []Assignment{assign("total", terms...)}, When: cond("#total BETWEEN :low AND :high", Item{":low": ANumber("10"), ":high": ANumber("1000")}),
		Else: []Else{{Err: errPriceChanged}},
	}}}
	in := Values{"orderId": l.orderID()}
	return l.change(w, Input{Values: in}, l.order, ErrNotFound, func(v Values) error {
		if n := whole(v["total"]); n < 10 || n > 1000 {
			return errPriceChanged
		}
		return nil
	}, func(v Values) {
		n := whole(v["total"])
		if len(terms) == 2 {
			n *= 2
		} else {
			n = 3*n - 20
		}
		v["total"] = ANumber(strconv.Itoa(n))
	})
}

func (l *ledger) giveOrder() play {
	w := &Write{Pattern: "GiveOrder", Steps: []Step{{Action: Update, Entity: l.order, Set: []Assignment{assign("customerId", given("customerId"))}}}}
	in := Values{"orderId": l.orderID(), "customerId": l.customerID()}
	return l.change(w, Input{Values: in}, l.order, ErrNotFound, func(v Values) error {
		if l.find(l.customer, in) < 0 {
			return errNoCustomer
		}
		return nil
	}, func(v Values) { v["customerId"] = in["customerId"] })
}

func (l *ledger) deleteOrder() play {
	w := &Write{Pattern: "DeleteOrder", Steps: []Step{{Action: Delete, Entity: l.order}}}
	in := Values{"orderId": l.orderID()}
	return play{write: w, in: Input{Values: in}, do: func() {
		if i := l.find(l.order, in); i >= 0 {
			l.records = slices.Delete(l.records, i, i+1)
		}
	}}
}

func (l *ledger) productID() types.AttributeValue { return l.one("p1", "p2", "p3") }

func (l *ledger) putProduct() play {
	w := &Write{Pattern: "PutProduct", Steps: []Step{{Action: Put, Entity: l.product, Set: []Assignment{assign("price", constantly(ANumber("10")))}}}}
	in := Values{"productId": l.productID(), "name": l.one("Café", "Té"), "stock": l.number(9), "active": ABool(l.r.IntN(2) == 0)}
	return play{write: w, in: Input{Values: in}, do: func() {
		v := maps.Clone(in)
		v["price"] = ANumber("10")
		if i := l.find(l.product, in); i >= 0 {
			l.records = slices.Delete(l.records, i, i+1)
		}
		l.records = append(l.records, record{l.product, v})
	}}
}

// upsertProduct passes all fields of the index, and sets constants that decide whether the sparse index has the item.
func (l *ledger) upsertProduct() play {
	active := ABool(l.r.IntN(2) == 0)
	w := &Write{Pattern: "UpsertProduct", Steps: []Step{{
		Action: Upsert, Entity: l.product, Set: []Assignment{assign("active", constantly(active))}, Add: []Assignment{assign("stock", given("stock"))},
		Init: []Assignment{assign("price", constantly(ANumber("10")))},
	}}}
	in := Values{"productId": l.productID(), "name": l.one("Café", "Té"), "stock": l.number(3)}
	return play{write: w, in: Input{Values: in}, do: func() {
		i := l.find(l.product, in)
		if i < 0 {
			l.records = append(l.records, record{l.product, Values{"productId": in["productId"], "stock": ANumber("0"), "price": ANumber("10")}})
			i = len(l.records) - 1
		}
		v := maps.Clone(l.records[i].Values)
		v["name"], v["active"], v["stock"] = in["name"], active, ANumber(strconv.Itoa(whole(v["stock"])+whole(in["stock"])))
		l.records[i].Values = v
	}}
}

func (l *ledger) retireProduct() play {
	w := &Write{Pattern: "RetireProduct", Steps: []Step{{Action: Update, Entity: l.product, Set: []Assignment{assign("active", constantly(ABool(false)))}}}}
	in := Values{"productId": l.productID()}
	return l.change(w, Input{Values: in}, l.product, errNoProduct, nil, func(v Values) { v["active"] = ABool(false) })
}

func (l *ledger) addToCart() play {
	w := &Write{Pattern: "AddToCart", Steps: []Step{{
		Action: Upsert, Entity: l.cart, Add: []Assignment{assign("quantity", given("quantity"))}, Init: []Assignment{assign("createdAt", Term{Kind: NowTerm})},
	}}}
	in := Values{"customerId": l.customerID(), "productId": l.productID(), "quantity": l.number(5)}
	return play{write: w, in: Input{Values: in}, do: func() {
		i := l.find(l.cart, in)
		if i < 0 {
			v := maps.Clone(in)
			v["createdAt"], v["expiresAt"] = l.now(), l.seconds(time.Hour)
			l.records = append(l.records, record{l.cart, v})
			return
		}
		v := maps.Clone(l.records[i].Values)
		v["quantity"] = ANumber(strconv.Itoa(whole(v["quantity"]) + whole(in["quantity"])))
		l.records[i].Values = v
	}}
}

// buy takes products from carts and stock, and makes an order of them.
func (l *ledger) buy() play {
	w := &Write{
		Pattern: "Buy", Lines: true, MaxLines: 3, LineParams: []Param{{Name: "price", Type: Type{Kind: schema.KindInt}}},
		Steps: []Step{
			{Action: Create, Entity: l.order, Set: []Assignment{
				assign("status", constantly(AText("paid"))), assign("createdAt", Term{Kind: NowTerm}), assign("total", Term{Kind: SumTerm, Name: "price"}, Term{Kind: CountTerm}),
				assign("street", constantly(AText("here"))),
			}},
			{
				Action: Update, Entity: l.product, Each: true, Add: []Assignment{assign("stock", minus(ofLine("quantity")))},
				When: cond("#stock >= :line_quantity AND #price = :line_price", nil),
				Else: []Else{{Err: errOutOfStock, When: cond("#stock < :line_quantity", nil)}, {Err: errPriceChanged}},
			},
			{Action: Delete, Entity: l.cart, Each: true},
		},
	}
	in := Input{Values: Values{"orderId": l.orderID(), "customerId": l.customerID()}}
	total := 0
	for _, id := range l.r.Perm(3)[:1+l.r.IntN(2)] {
		price := 10 + l.r.IntN(10)/9
		in.Lines = append(in.Lines, Values{"productId": AText(fmt.Sprint("p", id+1)), "quantity": l.number(3), "price": ANumber(strconv.Itoa(price))})
		total += price + 1
	}
	p := play{write: w, in: in}
	if l.find(l.order, in.Values) >= 0 {
		p.err = errOrderIs
		return p
	}
	for _, line := range in.Lines {
		i := l.find(l.product, line)
		switch {
		case i < 0:
			p.err = errNoProduct
		case whole(l.records[i].Values["stock"]) < whole(line["quantity"]):
			p.err = errOutOfStock
		case !schema.SameValue(l.records[i].Values["price"], line["price"]):
			p.err = errPriceChanged
		}
		if p.err != nil {
			return p
		}
	}
	if l.find(l.customer, in.Values) < 0 {
		p.err = errNoCustomer
		return p
	}
	p.do = func() {
		for _, line := range in.Lines {
			i := l.find(l.product, line)
			v := maps.Clone(l.records[i].Values)
			v["stock"] = ANumber(strconv.Itoa(whole(v["stock"]) - whole(line["quantity"])))
			l.records[i].Values = v
			cart := Values{"customerId": in.Values["customerId"], "productId": line["productId"]}
			if i := l.find(l.cart, cart); i >= 0 {
				l.records = slices.Delete(l.records, i, i+1)
			}
		}
		l.records = append(l.records, record{l.order, Values{
			"orderId": in.Values["orderId"], "customerId": in.Values["customerId"], "status": AText("paid"), "createdAt": l.now(),
			"total": ANumber(strconv.Itoa(total)), "street": AText("here"),
		}})
	}
	return p
}

// TestWritesKeepTheDesign tests that after any writes, the table contains exactly the items of the expected values, with
// every copy, index attribute, marker and counter.
func TestWritesKeepTheDesign(t *testing.T) {
	r, seed := Seeded()
	t.Logf("seed %d", seed)
	for round := range 8 {
		l := &ledger{store: newStore(t), r: r}
		if round%2 == 1 { // copies with all fields
			l.customer.Copies[0].Fields, l.order.Copies[0].Fields, l.cart.Copies[0].Fields = nil, nil, nil
		}
		for _, id := range []string{"r1", "r2"} {
			l.records = append(l.records, record{l.region, l.aRegion(id)})
			l.load(l.region, l.aRegion(id))
		}
		plays := []func() play{
			l.createCustomer, l.createCustomer, l.changeCustomer, l.promoteCustomer, l.moveCustomer, l.deleteCustomer,
			l.tierByEmail, l.moveAndOrder, l.createOrder, l.createOrder, l.setStatus, l.setStatus, l.changeOrder, l.doubleOrder, l.giveOrder, l.deleteOrder,
			l.putProduct, l.upsertProduct, l.retireProduct, l.addToCart, l.buy, l.buy,
		}
		for n := range 120 {
			l.pass(time.Duration(r.IntN(3000)) * time.Millisecond)
			p := plays[r.IntN(len(plays))]()
			what := fmt.Sprintf("write %d, %s of %v %v", n, p.write.Pattern, schema.Attributes(Item(p.in.Values)), schema.Each(p.in.Lines, func(v Values) string { return schema.Attributes(Item(v)).String() }))
			_, err := l.db.Write(context.Background(), p.write, p.in)
			if !errors.Is(err, p.err) {
				t.Fatalf("%s: %v; want %v", what, err, p.err)
			}
			if p.err == nil {
				p.do()
			}
			l.wantTable(what, counted(l.records)...)
		}
	}
}
