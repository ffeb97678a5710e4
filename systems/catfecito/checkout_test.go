package catfecito_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// fill puts a quantity of a product into the carts of the users u-0, u-1 and so on.
func fill(tb testing.TB, v *apitest.Server, productID string, users, pieces int) {
	tb.Helper()
	db, err := catfecitodb.New(v.Database.DynamoDB, catfecitodb.Config{Table: "catfecito-serverless-" + v.Stage()})
	if err != nil {
		tb.Fatal(err)
	}
	err = db.Load(tb.Context(), func(yield func(table.Record) bool) {
		for i := range users {
			item := catfecitodb.CartItem{
				UserID: fmt.Sprint("u-", i), ProductID: productID, Quantity: int64(pieces), CreatedAt: v.Clock.Now(), ExpiresAt: v.Clock.Now().Add(time.Hour),
			}
			if !yield(item.Record()) {
				return
			}
		}
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
}

// TestLastItemIsSoldOnce: of 64 concurrent buyers of the last piece, one gets it and the others learn that it is sold out.
func TestLastItemIsSoldOnce(t *testing.T) {
	t.Parallel()
	const buyers = 64
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 1)
	fill(t, v, p.ProductID, buyers, 1)
	requests := make([]apitest.Request, buyers)
	for i := range requests {
		requests[i] = keyed(fmt.Sprint("u-", i), "/orders", "k", object{"total": "20.00"})
	}
	responses := together(t, v, requests)
	if n := statuses(responses); n[http.StatusCreated] != 1 || n[http.StatusConflict] != buyers-1 {
		t.Errorf("responses %v, want one 201 and %d 409", n, buyers-1)
	}
	for _, r := range responses {
		if r.Status == http.StatusCreated {
			continue
		}
		if code := r.Problem(t).Code; code != "out_of_stock" && code != problem.CodeConflict {
			t.Errorf("refused with %s", r.Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.truth) != 1 || s.products[p.ProductID].Stock != 0 || len(s.carts) != buyers-1 || len(s.checkouts) != 1 {
		t.Errorf("%d orders, %d pieces left, %d carts, %d records; want 1, 0, %d, 1", len(s.truth), s.products[p.ProductID].Stock, len(s.carts), len(s.checkouts), buyers-1)
	}
}

// TestCheckoutOnce: one request, sent many times concurrently, creates one order, and all senders get it.
func TestCheckoutOnce(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 10)
	put(t, v, ana, p.ProductID, 2)
	one := keyed(ana, "/orders", "k", object{"total": "40.00"})
	other := keyed(ana, "/orders", "k", object{"total": "41.00"})
	requests := slices.Repeat([]apitest.Request{one, one, one, other}, 6)
	responses := together(t, v, requests)
	first := slices.IndexFunc(responses, func(r *apitest.Response) bool { return r.Status == http.StatusCreated })
	if first < 0 {
		t.Fatalf("no request created the order: %v", statuses(responses))
	}
	for i, r := range responses {
		switch {
		case i == first:
		case i%4 == 3: // before the order exists its total differs, afterwards the request does
			if r.Status != http.StatusUnprocessableEntity && r.Status != http.StatusConflict {
				t.Errorf("another total: %d %s", r.Status, r.Body)
			}
		case r.Status != http.StatusOK || string(r.Body) != string(responses[first].Body):
			t.Errorf("client %d: %d %s, want 200 %s", i, r.Status, r.Body, responses[first].Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.truth) != 1 || s.products[p.ProductID].Stock != 8 {
		t.Errorf("%d orders, %d pieces left; want 1 and 8", len(s.truth), s.products[p.ProductID].Stock)
	}
}

// TestReplayedLines: all later responses have the lines in the same order as the first one.
func TestReplayedLines(t *testing.T) {
	t.Parallel()
	v := open(t)
	for _, name := range []string{"Taza", "Pan", "Café", "Pastel"} {
		put(t, v, ana, stock(t, v, name, "20.00", 10).ProductID, 1)
	}
	checkout := keyed(ana, "/orders", "k", object{"total": "80.00"})
	first := must[catfecito.WholeOrder](t, v, checkout, http.StatusCreated)
	for what, r := range map[string]apitest.Request{"again": checkout, "read": request(ana, http.MethodGet, "/orders/"+first.OrderID, nil)} {
		later := must[catfecito.WholeOrder](t, v, r, http.StatusOK)
		if len(first.Items) != 4 || !slices.Equal(later.Items, first.Items) {
			t.Errorf("%s: %+v, want %+v", what, later.Items, first.Items)
		}
	}
}

// TestReplayedCheckout: a retry gets the first response, although cart, product and order have changed since. After a day it
// counts as a new request.
func TestReplayedCheckout(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 10)
	put(t, v, ana, p.ProductID, 2)
	checkout := keyed(ana, "/orders", "k", object{"total": "40.00"})
	first := v.Do(t, checkout)
	var created catfecito.WholeOrder
	first.JSON(t, &created)
	again := func(what string) {
		t.Helper()
		if r := v.Do(t, checkout); r.Status != http.StatusOK || string(r.Body) != string(first.Body) {
			t.Errorf("%s: %d %s, want 200 %s", what, r.Status, r.Body, first.Body)
		}
	}
	again("with an empty cart")
	put(t, v, ana, p.ProductID, 1)
	again("with another cart")
	put(t, v, ana, p.ProductID, 2)
	again("with the same cart")
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID+"/active", object{"isActive": false})), http.StatusOK)
	again("with a cart that cannot be ordered")
	must[catfecito.Order](t, v, keyed(ana, "/orders/"+created.OrderID+"/cancel", "k", nil), http.StatusOK)
	again("with the order cancelled")
	refused(t, v, keyed(ana, "/orders", "k", object{"total": "20.00"}), http.StatusUnprocessableEntity, problem.CodeKeyReused)
	if s := scan(t, v); len(s.truth) != 1 {
		t.Errorf("%d orders, want one", len(s.truth))
	}
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID+"/active", object{"isActive": true})), http.StatusOK)
	v.Clock.Advance(24*time.Hour + 2*time.Second)
	second := must[catfecito.WholeOrder](t, v, checkout, http.StatusCreated)
	if second.OrderID == created.OrderID {
		t.Error("after a day the response to the first order was replayed")
	}
	scan(t, v).sound(t)
}

// TestCheckoutGuards: a cart that differs from what was agreed is not ordered, and the response says what differs.
func TestCheckoutGuards(t *testing.T) {
	t.Parallel()
	v := open(t)
	cup, mill := stock(t, v, "Taza", "20.00", 10), stock(t, v, "Molino", "150.00", 1)
	put(t, v, ana, cup.ProductID, 1)
	put(t, v, ana, mill.ProductID, 1)
	checkout := keyed(ana, "/orders", "k", object{"total": "170.00"})
	guard := func(what, code, field string) {
		t.Helper()
		r := v.Do(t, checkout)
		p := r.Problem(t)
		if r.Status != http.StatusConflict || p.Code != code || field == "" != (len(p.Errors) == 0) || field != "" && p.Errors[0].Field != "cart."+field {
			t.Errorf("%s: %s, want %s about %q", what, r.Body, code, field)
		}
	}
	price := func(text string) {
		t.Helper()
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+cup.ProductID, object{"categoryId": "cafes", "name": "Taza", "description": "", "price": text})), http.StatusOK)
	}
	active := func(is bool) {
		t.Helper()
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+cup.ProductID+"/active", object{"isActive": is})), http.StatusOK)
	}
	price("20.01")
	guard("dearer", "total_changed", "")
	price("19.99")
	guard("cheaper", "total_changed", "")
	price("20.00")
	active(false)
	guard("not sold", "product_unavailable", cup.ProductID)
	active(true)
	buy(t, v, bruno, "k", mill.ProductID, 1)
	guard("sold out", "out_of_stock", mill.ProductID)
	s := scan(t, v)
	s.sound(t)
	if len(s.truth) != 1 || len(s.carts) != 2 || s.products[cup.ProductID].Stock != 10 {
		t.Errorf("a checkout that was refused has left %d orders, %d lines, %d pieces", len(s.truth), len(s.carts), s.products[cup.ProductID].Stock)
	}
	must[catfecito.Pieces](t, v, staff(keyed("", "/products/"+mill.ProductID+"/restocks", "r", object{"quantity": 1})), http.StatusCreated)
	if o := must[catfecito.WholeOrder](t, v, checkout, http.StatusCreated); o.Total != 17000 || len(o.Items) != 2 {
		t.Errorf("in the end the order is %+v", o)
	}
}

// TestCheckoutWhileChanging: while prices and carts change, no user pays a total that they did not agree to.
func TestCheckoutWhileChanging(t *testing.T) {
	t.Parallel()
	const buyers = 8
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 1000)
	var all sync.WaitGroup
	agreed := map[string]catfecito.Money{}
	var mu sync.Mutex
	for i := range buyers {
		all.Go(func() {
			who := fmt.Sprint("u-", i)
			for n := range 6 {
				put(t, v, who, p.ProductID, 1+n%3)
				total := cart(t, v, who).Total
				if n%2 == 0 { // from another of their devices
					put(t, v, who, p.ProductID, 1+n%2)
				}
				r := v.Do(t, keyed(who, "/orders", fmt.Sprint("k-", n), object{"total": total}))
				switch r.Status {
				case http.StatusCreated:
					var o catfecito.WholeOrder
					r.JSON(t, &o)
					mu.Lock()
					agreed[o.OrderID] = total
					mu.Unlock()
				case http.StatusConflict:
				default:
					t.Errorf("checkout: %d %s", r.Status, r.Body)
				}
			}
		})
	}
	all.Go(func() {
		for n := range 12 {
			must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{
				"categoryId": "cafes", "name": "Taza", "description": "", "price": catfecito.Money(2000 + n%2*100),
			})), http.StatusOK)
		}
	})
	all.Wait()
	s := scan(t, v)
	s.sound(t)
	if len(s.truth) != len(agreed) || len(agreed) == 0 {
		t.Errorf("%d orders, %d responses", len(s.truth), len(agreed))
	}
	for id, o := range s.truth {
		if catfecito.Money(o.Total) != agreed[id] {
			t.Errorf("%+v costs %s, and %s was agreed", o, catfecito.Money(o.Total), agreed[id])
		}
	}
	if left := s.products[p.ProductID].Stock; left != 1000-s.held(p.ProductID) {
		t.Errorf("%d pieces are left and %d sold, of 1000", left, s.held(p.ProductID))
	}
}

// TestHighestTotal: an order with the highest possible total succeeds, and its total is exact.
func TestHighestTotal(t *testing.T) {
	t.Parallel()
	const dearest = 999_999_999_99
	v := open(t)
	for i := range 32 {
		fill(t, v, stock(t, v, fmt.Sprintf("Taza %02d", i), "999999999.99", 99).ProductID, 1, 99)
	}
	c := cart(t, v, "u-0")
	if c.Total != 32*99*dearest || !c.Orderable {
		t.Fatalf("the cart costs %s, want %s", c.Total, catfecito.Money(32*99*dearest))
	}
	o := must[catfecito.WholeOrder](t, v, keyed("u-0", "/orders", "k", object{"total": c.Total}), http.StatusCreated)
	if o.Total != c.Total || o.Items[31].Subtotal != 99*dearest {
		t.Errorf("the order costs %s, its last line %s", o.Total, o.Items[31].Subtotal)
	}
	scan(t, v).sound(t)
}

// TestLongCheckout: an order has at most 32 lines, and can be cancelled with all of them; a longer cart is rejected as a whole.
func TestLongCheckout(t *testing.T) {
	t.Parallel()
	v := open(t)
	var ids []string
	for i := range 33 {
		p := stock(t, v, fmt.Sprintf("Taza %02d", i), "1.00", 5)
		ids = append(ids, p.ProductID)
		fill(t, v, p.ProductID, 1, 2) // directly for u-0; concurrent additions can do the same
	}
	if c := cart(t, v, "u-0"); len(c.Items) != 33 || c.Orderable {
		t.Errorf("a cart of %d lines can be ordered: %v", len(c.Items), c.Orderable)
	}
	refused(t, v, keyed("u-0", "/orders", "k", object{"total": "66.00"}), http.StatusConflict, "cart_full")
	must[object](t, v, request("u-0", http.MethodDelete, "/cart/items/"+ids[32], nil), http.StatusNoContent)
	o := must[catfecito.WholeOrder](t, v, keyed("u-0", "/orders", "k", object{"total": "64.00"}), http.StatusCreated)
	if len(o.Items) != 32 || o.Total != 6400 {
		t.Errorf("%d lines, %s; want 32 and 64.00", len(o.Items), o.Total)
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.carts) != 0 || s.products[ids[0]].Stock != 3 || s.products[ids[31]].Stock != 3 {
		t.Errorf("%d lines are left in the cart, %d and %d pieces", len(s.carts), s.products[ids[0]].Stock, s.products[ids[31]].Stock)
	}
	must[catfecito.Order](t, v, keyed("u-0", "/orders/"+o.OrderID+"/cancel", "k", nil), http.StatusOK)
	s = scan(t, v)
	s.sound(t)
	for _, id := range ids {
		if s.products[id].Stock != 5 {
			t.Errorf("of %s there are %d after the cancellation, want 5", id, s.products[id].Stock)
		}
	}
}
