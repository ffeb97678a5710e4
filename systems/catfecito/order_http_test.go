package catfecito_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

func cartRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	p := stock(t, v, "Taza", "20.00", 50)
	gone := stock(t, v, "Jarro", "20.00", 50)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+gone.ProductID+"/active", object{"isActive": false})), http.StatusOK)
	at := "/cart/items/" + p.ProductID
	add := keyed(ana, "/cart/items", "c-1", object{"productId": p.ProductID, "quantity": 2})
	put := request(ana, http.MethodPut, at, object{"quantity": 7})
	has := func(want int64) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, _ *apitest.Response) {
			tb.Helper()
			var got int64
			for _, l := range cart(tb, v, ana).Items {
				got += l.Quantity
			}
			if got != want {
				tb.Errorf("%d pieces are in the cart, want %d", got, want)
			}
		}
	}
	list := []apitest.Case{
		{Name: "empty", Request: request(ana, http.MethodGet, "/cart", nil), Status: http.StatusOK, Check: has(0)},
		{Name: "added", Request: add, Status: http.StatusCreated, Check: has(2)},
		{Name: "replayed", Request: add, Status: http.StatusOK, Check: has(2)},
		{Name: "key of another number", Request: keyed(ana, "/cart/items", "c-1", object{"productId": p.ProductID, "quantity": 3}), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused, Check: has(2)},
		{Name: "adds up", Request: keyed(ana, "/cart/items", "c-2", object{"productId": p.ProductID, "quantity": 3}), Status: http.StatusCreated, Check: has(5)},
		{Name: "another's key", Request: keyed(bruno, "/cart/items", "c-1", object{"productId": p.ProductID, "quantity": 1}), Status: http.StatusCreated, Check: has(5)},
		{Name: "too many pieces", Request: keyed(ana, "/cart/items", "c-3", object{"productId": p.ProductID, "quantity": 95}), Status: http.StatusConflict, Code: "cart_line_full", Check: has(5)},
		{Name: "set", Request: put, Status: http.StatusOK, Check: has(7)},
		{Name: "set again", Request: put, Status: http.StatusOK, Check: has(7)},
		{Name: "add what is not sold", Request: keyed(ana, "/cart/items", "c-4", object{"productId": gone.ProductID, "quantity": 1}), Status: http.StatusConflict, Code: "product_unavailable"},
		{Name: "set what is not sold", Request: request(ana, http.MethodPut, "/cart/items/"+gone.ProductID, object{"quantity": 1}), Status: http.StatusConflict, Code: "product_unavailable"},
		{Name: "add nothing there", Request: keyed(ana, "/cart/items", "c-5", object{"productId": nowhere, "quantity": 1}), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "set nothing there", Request: request(ana, http.MethodPut, "/cart/items/"+nowhere, object{"quantity": 1}), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		invalid("add none", add, object{"productId": p.ProductID, "quantity": 0}, "body.quantity"),
		invalid("add a hundred", add, object{"productId": p.ProductID, "quantity": 100}, "body.quantity"),
		invalid("add no id", add, object{"productId": "1", "quantity": 1}, "body.productId"),
		invalid("add to another's", add, object{"productId": p.ProductID, "quantity": 1, "userId": bruno}, "body.userId"),
		invalid("set none", put, object{"quantity": 0}, "body.quantity"),
		invalid("set a text", put, object{"quantity": "7"}, "body.quantity"),
		badQuery("set no id", request(ana, http.MethodPut, "/cart/items/1", object{"quantity": 1}), "", "path.productId"),
		badQuery("remove no id", request(ana, http.MethodDelete, "/cart/items/1", nil), "", "path.productId"),
		{Name: "removed", Request: request(ana, http.MethodDelete, at, nil), Status: http.StatusNoContent, Check: has(0)},
		{Name: "removed again", Request: request(ana, http.MethodDelete, at, nil), Status: http.StatusNoContent, Check: has(0)},
		{Name: "another's stays", Request: request(bruno, http.MethodGet, "/cart", nil), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var c catfecito.Cart
			if r.JSON(tb, &c); len(c.Items) != 1 || c.Total != 2000 {
				tb.Errorf("the cart is %+v", c)
			}
		}},
	}
	v.Run(t, append(list, badKeys(add)...))
}

func orderRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	p := stock(t, v, "Molino", "150.00", 5)
	put(t, v, ana, p.ProductID, 2)
	checkout := keyed(ana, "/orders", "o-1", object{"total": "300.00"})
	var first catfecito.WholeOrder
	var body []byte
	list := []apitest.Case{
		{Name: "another total", Request: keyed(ana, "/orders", "o-0", object{"total": "299.99"}), Status: http.StatusConflict, Code: "total_changed"},
		{Name: "made", Request: checkout, Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			body = r.Body
			if r.JSON(tb, &first); first.UserID != ana || first.Status != "pending" || first.Total != 30000 || len(first.Items) != 1 || first.Items[0].Subtotal != 30000 {
				tb.Errorf("created %s", r.Body)
			}
			if at := r.Header.Get("Location"); at != "orders/"+first.OrderID {
				tb.Errorf("Location is %q", at)
			}
		}},
		{Name: "replayed", Request: checkout, Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if string(r.Body) != string(body) {
				tb.Errorf("the second response is %s, the first was %s", r.Body, body)
			}
		}},
		{Name: "key of another total", Request: keyed(ana, "/orders", "o-1", object{"total": "150.00"}), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "nothing in the cart", Request: keyed(ana, "/orders", "o-2", object{"total": "300.00"}), Status: http.StatusConflict, Code: "cart_empty"},
		invalid("no total", checkout, object{}, "body"),
		invalid("total as a number", checkout, object{"total": 300}, "body.total"),
		invalid("prices of his own", checkout, object{"total": "1.00", "lines": []object{}}, "body.lines"),
		invalid("no JSON", checkout, "{", ""),
	}
	v.Run(t, append(list, badKeys(checkout)...))
	v.Run(t, pages(request(ana, http.MethodGet, "/orders", nil)))
	v.Run(t, statusCases(first))
	v.Run(t, cancelCases(buy(t, v, ana, "o-3", p.ProductID, 1)))
}

func statusCases(o catfecito.WholeOrder) []apitest.Case {
	at := "/orders/" + o.OrderID
	to := func(what string) apitest.Request { return staff(request("", http.MethodPost, at+what, nil)) }
	is := func(status string) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			want := o.Order
			want.Status = catfecitodb.OrderStatus(status)
			var got catfecito.Order
			if r.JSON(tb, &got); got != want {
				tb.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
	notFound := func(name string, r apitest.Request) apitest.Case {
		return apitest.Case{Name: name, Request: r, Status: http.StatusNotFound, Code: problem.CodeNotFound}
	}
	refuse := func(name string, r apitest.Request, code string) apitest.Case {
		return apitest.Case{Name: name, Request: r, Status: http.StatusConflict, Code: code}
	}
	pay := staff(keyed("", at+"/pay", "s-1", nil))
	return []apitest.Case{
		{Name: "own", Request: request(ana, http.MethodGet, at, nil), Status: http.StatusOK, Check: is("pending")},
		{Name: "any, for staff", Request: staff(request("", http.MethodGet, at, nil)), Status: http.StatusOK, Check: is("pending")},
		{Name: "somebody else's", Request: request(bruno, http.MethodGet, at, nil), Status: http.StatusForbidden, Code: problem.CodeForbidden},
		{Name: "one's own to mark as paid", Request: keyed(ana, at+"/pay", "s-1", nil), Status: http.StatusForbidden, Code: problem.CodeForbidden},
		notFound("nobody's", request(ana, http.MethodGet, "/orders/"+nowhere, nil)),
		notFound("nobody's, for staff", staff(request("", http.MethodGet, "/orders/"+nowhere, nil))),
		notFound("nobody's to pay", staff(keyed("", "/orders/"+nowhere+"/pay", "s-0", nil))),
		notFound("nobody's to send", staff(request("", http.MethodPost, "/orders/"+nowhere+"/ship", nil))),
		notFound("nobody's to hand over", staff(request("", http.MethodPost, "/orders/"+nowhere+"/deliver", nil))),
		badQuery("no id", request(ana, http.MethodGet, "/orders/1", nil), "", "path.orderId"),
		badQuery("no id to pay", staff(keyed("", "/orders/1/pay", "s-0", nil)), "", "path.orderId"),
		badQuery("no id to send", staff(request("", http.MethodPost, "/orders/1/ship", nil)), "", "path.orderId"),
		badQuery("no id to hand over", staff(request("", http.MethodPost, "/orders/1/deliver", nil)), "", "path.orderId"),
		badQuery("no key", staff(request("", http.MethodPost, at+"/pay", nil)), "", "header.Idempotency-Key"),
		refuse("sent before paid", to("/ship"), "order_not_paid"),
		refuse("handed over before sent", to("/deliver"), "order_not_shipped"),
		{Name: "paid", Request: pay, Status: http.StatusOK, Check: is("paid")},
		{Name: "paid, replayed", Request: pay, Status: http.StatusOK, Check: is("paid")},
		refuse("paid twice", staff(keyed("", at+"/pay", "s-2", nil)), "order_not_pending"),
		{Name: "key of another order", Request: staff(keyed("", "/orders/"+nowhere+"/pay", "s-1", nil)), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "sent", Request: to("/ship"), Status: http.StatusOK, Check: is("shipped")},
		refuse("sent twice", to("/ship"), "order_not_paid"),
		refuse("cancelled on its way", keyed(ana, at+"/cancel", "s-3", nil), "order_not_cancellable"),
		{Name: "handed over", Request: to("/deliver"), Status: http.StatusOK, Check: is("delivered")},
		refuse("handed over twice", to("/deliver"), "order_not_shipped"),
		{Name: "paid, replayed at the end", Request: pay, Status: http.StatusOK, Check: is("paid")},
		{Name: "own at the end", Request: request(ana, http.MethodGet, at, nil), Status: http.StatusOK, Check: is("delivered")},
	}
}

func cancelCases(o catfecito.WholeOrder) []apitest.Case {
	at := "/orders/" + o.OrderID
	cancel := keyed(ana, at+"/cancel", "x-1", nil)
	cancelled := func(tb testing.TB, r *apitest.Response) {
		tb.Helper()
		want := o.Order
		want.Status = "cancelled"
		var got catfecito.Order
		if r.JSON(tb, &got); got != want {
			tb.Errorf("got %+v, want %+v", got, want)
		}
	}
	return []apitest.Case{
		{Name: "somebody else's", Request: keyed(bruno, at+"/cancel", "x-1", nil), Status: http.StatusForbidden, Code: problem.CodeForbidden},
		{Name: "nobody's", Request: keyed(ana, "/orders/"+nowhere+"/cancel", "x-0", nil), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		badQuery("no id", keyed(ana, "/orders/1/cancel", "x-0", nil), "", "path.orderId"),
		badQuery("no key", request(ana, http.MethodPost, at+"/cancel", nil), "", "header.Idempotency-Key"),
		{Name: "cancelled", Request: cancel, Status: http.StatusOK, Check: cancelled},
		{Name: "cancelled, replayed", Request: cancel, Status: http.StatusOK, Check: cancelled},
		{Name: "cancelled twice", Request: keyed(ana, at+"/cancel", "x-2", nil), Status: http.StatusConflict, Code: "order_not_cancellable"},
		{Name: "paid when cancelled", Request: staff(keyed("", at+"/pay", "x-3", nil)), Status: http.StatusConflict, Code: "order_not_pending"},
	}
}

func auditRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	p := stock(t, v, "Regalo", "1.00", 1)
	v.Deliver(t)
	at := staff(request("", http.MethodGet, "/audit/PRODUCT/"+p.ProductID, nil))
	v.Run(t, []apitest.Case{
		{Name: "made", Request: at, Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if !strings.Contains(string(r.Body), `"change":"INSERT"`) || !strings.Contains(string(r.Body), `{"field":"price","after":"1.00"}`) {
				tb.Errorf("the trail is %s", r.Body)
			}
		}},
		{Name: "nothing there", Request: staff(request("", http.MethodGet, "/audit/ORDER/"+nowhere, nil)), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if string(r.Body) != `{"items":[]}`+"\n" {
				tb.Errorf("the trail is %s", r.Body)
			}
		}},
		{Name: "acts", Request: staff(request("", http.MethodGet, "/acts?day=2026-02-11", nil)), Status: http.StatusOK},
		badQuery("no day", staff(request("", http.MethodGet, "/acts?day=today", nil)), "", "query.day"),
		badQuery("no subject", staff(request("", http.MethodGet, "/audit/CART/"+nowhere, nil)), "", "path.subject"),
		badQuery("no id", staff(request("", http.MethodGet, "/audit/USER/%23", nil)), "", "path.id"),
	})
	v.Run(t, pages(at))
}
