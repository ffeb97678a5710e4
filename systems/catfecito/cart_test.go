package catfecito_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestCartShowsCurrentPrices: a cart shows current prices and stock.
func TestCartShowsCurrentPrices(t *testing.T) {
	t.Parallel()
	v := open(t)
	cup, mill, jar := stock(t, v, "Taza", "20.00", 5), stock(t, v, "Molino", "150.50", 2), stock(t, v, "Jarro", "1.00", 9)
	put(t, v, ana, cup.ProductID, 3)
	put(t, v, ana, mill.ProductID, 2)
	put(t, v, ana, jar.ProductID, 1)
	line := func(c catfecito.Cart, id string) catfecito.CartLine {
		for _, l := range c.Items {
			if l.ProductID == id {
				return l
			}
		}
		t.Fatalf("%s is not in %+v", id, c)
		return catfecito.CartLine{}
	}
	if c := cart(t, v, ana); !c.Orderable || c.Total != 6000+30100+100 || len(c.Items) != 3 || line(c, mill.ProductID).Subtotal != 30100 {
		t.Errorf("the cart is %+v", c)
	}
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+cup.ProductID, object{
		"categoryId": "cafes", "name": "Taza grande", "description": "", "price": "21.00",
	})), http.StatusOK)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+jar.ProductID+"/active", object{"isActive": false})), http.StatusOK)
	buy(t, v, bruno, "k", mill.ProductID, 1)
	c := cart(t, v, ana)
	if l := line(c, cup.ProductID); l.Price != 2100 || l.Subtotal != 6300 || l.Name != "Taza grande" || !l.Available || l.Stock != 5 {
		t.Errorf("a line whose price and name have changed is %+v", l)
	}
	if l := line(c, mill.ProductID); l.Available || l.Stock != 1 || l.Quantity != 2 {
		t.Errorf("a line that exceeds the stock is %+v", l)
	}
	if l := line(c, jar.ProductID); l.Available {
		t.Errorf("a line that is not sold any more is %+v", l)
	}
	if c.Orderable || c.Total != 6300+30100+100 {
		t.Errorf("the cart is %+v", c)
	}
	if c := cart(t, v, bruno); len(c.Items) != 0 || c.Orderable || c.Total != 0 || c.Items == nil {
		t.Errorf("an empty cart is %+v", c)
	}
}

// TestConcurrentAdditionsCountOnce: each request counts once, however many are sent concurrently.
func TestConcurrentAdditionsCountOnce(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 5)
	var requests []apitest.Request
	for i := range 24 {
		requests = append(requests, keyed(ana, "/cart/items", fmt.Sprint("k-", i%8), object{"productId": p.ProductID, "quantity": 1 + i%8}))
	}
	for _, r := range together(t, v, requests) {
		if r.Status != http.StatusCreated && r.Status != http.StatusOK {
			t.Errorf("add: %d %s", r.Status, r.Body)
		}
	}
	if c := cart(t, v, ana); len(c.Items) != 1 || c.Items[0].Quantity != 36 {
		t.Errorf("the cart is %+v, want 1 + 2 + … + 8 pieces", c)
	}
}

// TestFullCart: a full cart holds 32 products, whose quantities can still grow. A retry gets the first response.
func TestFullCart(t *testing.T) {
	t.Parallel()
	v := open(t)
	var ids []string
	for i := range 34 {
		ids = append(ids, stock(t, v, fmt.Sprintf("Taza %02d", i), "1.00", 5).ProductID)
	}
	add := func(key string, i int) apitest.Request {
		return keyed(ana, "/cart/items", key, object{"productId": ids[i], "quantity": 1})
	}
	for i := range 32 {
		must[catfecito.Pieces](t, v, add(fmt.Sprint("k-", i), i), http.StatusCreated)
	}
	v.Run(t, []apitest.Case{
		{Name: "one more", Request: add("k-32", 32), Status: http.StatusConflict, Code: "cart_full"},
		{Name: "set one more", Request: request(ana, http.MethodPut, "/cart/items/"+ids[32], object{"quantity": 1}), Status: http.StatusConflict, Code: "cart_full"},
		{Name: "more of one", Request: add("k-33", 0), Status: http.StatusCreated},
		{Name: "set one", Request: request(ana, http.MethodPut, "/cart/items/"+ids[1], object{"quantity": 5}), Status: http.StatusOK},
		{Name: "another user", Request: keyed(bruno, "/cart/items", "k", object{"productId": ids[32], "quantity": 1}), Status: http.StatusCreated},
		{Name: "take one out", Request: request(ana, http.MethodDelete, "/cart/items/"+ids[2], nil), Status: http.StatusNoContent},
		{Name: "then one more", Request: add("k-34", 33), Status: http.StatusCreated},
		{Name: "what was asked for before", Request: add("k-2", 2), Status: http.StatusOK},
	})
	if c := cart(t, v, ana); len(c.Items) != 32 || c.Total != 3700 || !c.Orderable {
		t.Errorf("the cart has %d lines and costs %s; want 32 and 37.00", len(c.Items), c.Total)
	}
}

// TestCartLife: a line expires thirty days after its last change.
func TestCartLife(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 5)
	begun := v.Clock.Now()
	for i, touch := range []apitest.Request{
		keyed(ana, "/cart/items", "k-1", object{"productId": p.ProductID, "quantity": 1}),
		keyed(ana, "/cart/items", "k-2", object{"productId": p.ProductID, "quantity": 1}),
		request(ana, http.MethodPut, "/cart/items/"+p.ProductID, object{"quantity": 1}),
	} {
		if i > 0 {
			v.Clock.Advance(time.Hour)
		}
		v.Do(t, touch)
		want := begun.Add(time.Duration(i)*time.Hour + 30*24*time.Hour)
		s := scan(t, v)
		if len(s.carts) != 1 || !s.carts[0].ExpiresAt.Equal(want) || !s.carts[0].CreatedAt.Equal(begun) {
			t.Errorf("touched %d times, it is %+v; want it to go at %v", i+1, s.carts, want)
		}
	}
}

// TestExpiredLines: an expired line is gone even if DynamoDB has not yet deleted it: it does not appear in carts or lists, is not
// ordered, takes up no room, and cannot be added to.
func TestExpiredLines(t *testing.T) {
	t.Parallel()
	v := open(t)
	var ids []string
	for i := range 33 {
		ids = append(ids, stock(t, v, fmt.Sprintf("Taza %02d", i), "1.00", 50).ProductID)
	}
	for _, id := range ids[:32] {
		put(t, v, ana, id, 9)
	}
	v.Clock.Advance(30*24*time.Hour - time.Second)
	put(t, v, ana, ids[31], 9) // stays
	v.Clock.Advance(time.Second)
	holders := func(id string) []catfecito.Holder {
		return walk[catfecito.Holder](t, v, staff(request("", http.MethodGet, "/products/"+id+"/carts", nil)), 2)
	}
	if c := cart(t, v, ana); len(c.Items) != 1 || c.Items[0].ProductID != ids[31] || c.Total != 900 {
		t.Errorf("the cart is %+v, want the line that was touched", c)
	}
	if n := len(holders(ids[0])); n != 0 {
		t.Errorf("%d users have an expired line with the product", n)
	}
	if n := len(scan(t, v).carts); n != 32 {
		t.Fatalf("the table has %d lines, want all 32", n)
	}
	must[catfecito.Pieces](t, v, keyed(ana, "/cart/items", "k-32", object{"productId": ids[32], "quantity": 1}), http.StatusCreated)
	add := keyed(ana, "/cart/items", "k-0", object{"productId": ids[0], "quantity": 2})
	responses := together(t, v, []apitest.Request{add, add, add, request(ana, http.MethodDelete, "/cart/items/"+ids[2], nil)})
	if n := statuses(responses); n[http.StatusCreated] != 1 || n[http.StatusOK] != 2 || n[http.StatusNoContent] != 1 {
		t.Errorf("responses %v, want one 201, two 200 and a 204", n)
	}
	put(t, v, ana, ids[1], 3)
	o := must[catfecito.WholeOrder](t, v, keyed(ana, "/orders", "k", object{"total": "15.00"}), http.StatusCreated)
	if len(o.Items) != 4 { // 9 pieces of the changed line, 1 of the new one, 2 and 3 of restarted ones
		t.Errorf("ordered %+v", o)
	}
	refused(t, v, keyed(ana, "/orders", "l", object{"total": "0.00"}), http.StatusConflict, "cart_empty")
	scan(t, v).sound(t)
	put(t, v, ana, ids[3], 1)
	for _, l := range scan(t, v).carts {
		if l.ProductID == ids[3] && (l.Quantity != 1 || !l.CreatedAt.Equal(v.Clock.Now())) {
			t.Errorf("the new line is %+v", l)
		}
	}
}

// TestHolders: the users with a product in the cart are listed in pages.
func TestHolders(t *testing.T) {
	t.Parallel()
	v := open(t)
	p, other := stock(t, v, "Taza", "20.00", 5), stock(t, v, "Molino", "20.00", 5)
	for i := range 5 {
		put(t, v, fmt.Sprint("u-", i), p.ProductID, i+1)
		put(t, v, fmt.Sprint("u-", i), other.ProductID, 9)
	}
	must[object](t, v, request("u-4", http.MethodDelete, "/cart/items/"+p.ProductID, nil), http.StatusNoContent)
	got := walk[catfecito.Holder](t, v, staff(request("", http.MethodGet, "/products/"+p.ProductID+"/carts", nil)), 2)
	if want := []catfecito.Holder{{UserID: "u-0", Quantity: 1}, {UserID: "u-1", Quantity: 2}, {UserID: "u-2", Quantity: 3}, {UserID: "u-3", Quantity: 4}}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
