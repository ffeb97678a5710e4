package catfecito

import (
	"fmt"
	"net/http"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadProducts is the number of products in a connection's category, loadOrders of its buyer's orders.
	loadProducts = 24
	loadOrders   = 20
	// loadHolders is the number of users who have a connection's product in the cart.
	loadHolders = 20
	// loadLines is the number of lines of a cart, and of an order.
	loadLines = 3

	loadPrice, loadTotal = "35.00", "105.00" // for loadLines pieces
	// loadBuyer orders, loadShopper changes their cart; the connection's own user has a permanent one.
	loadBuyer, loadShopper = "buyer", "shopper"
)

// loadPlan measures every operation. A connection has its own category and products, so that connections do not contend with each
// other; it signs up, and has a user with a cart, a buyer with orders and other users with a product in the cart.
//
// Each sign-up comes from a different network, as the shop's customers do, so the limit per network does not apply. Successful
// log-ins are not limited.
func loadPlan() load.Plan {
	return load.Plan{Without: map[string]string{
		"paymentEvent":      "its requests are signed by a provider",
		"refreshSession":    "each of its requests needs the answer to the one before",
		"logOut":            "each of its requests needs a log-in",
		"changePassword":    "it does what a log-in does",
		"sendVerification":  "one user gets one letter a minute",
		"verifyEmail":       "its requests have codes from letters",
		"sendPasswordReset": "one address gets one letter a minute",
		"resetPassword":     "its requests have codes from letters",
		"watchOrders":       "its answer does not end",
	}, Setup: loadSetup(), Routes: append(append(loadAccounts(), loadCatalogue()...), append(loadCarts(), loadSales()...)...)}
}

func loadSetup() []load.Call {
	setup := []load.Call{
		loadSignUp(map[string]string{"userId": "userId", "email": "email"}),
		loadLogIn(map[string]string{"token": "accessToken"}),
		loadCategory(),
	}
	for i := range loadProducts {
		setup = append(setup, loadProduct(map[string]string{fmt.Sprint("product", i): "productId"}))
	}
	for line := range loadLines {
		setup = append(setup, loadPut("", line))
	}
	for range loadOrders {
		setup = append(setup, loadOrder("order")...)
	}
	for i := range loadHolders {
		setup = append(setup, loadPut(fmt.Sprint("holder", i), loadLines))
	}
	return setup
}

func loadAccounts() []load.Route {
	return []load.Route{
		{Call: loadSignUp(nil)},
		{Call: loadLogIn(nil)},
		{Call: load.Call{Method: http.MethodGet, Path: "/me", As: "-", Header: map[string]string{"Authorization": "Bearer {token}"}}},
		{Call: load.Call{Method: http.MethodGet, Path: "/me/sessions", As: "-", Header: map[string]string{"Authorization": "Bearer {token}"}}},
		{Call: loadStaff(http.MethodGet, "/users/{userId}", "")},
		{Call: loadStaff(http.MethodPut, "/users/{userId}/role", `{"role":"customer"}`)},
		{Call: loadStaff(http.MethodGet, "/audit/PRODUCT/{product0}", "")},
		{Call: loadStaff(http.MethodGet, "/acts?day=2026-02-11", "")},
		{Call: loadStaff(http.MethodGet, "/desk/users?email={email}", "")},
		{Call: loadStaff(http.MethodGet, "/desk/products", "")},
		{Call: loadStaff(http.MethodGet, "/desk/orders?status=paid", "")},
		{Call: loadStaff(http.MethodGet, "/desk/takings?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z", "")},
	}
}

func loadCatalogue() []load.Route {
	open := func(path string) load.Route {
		return load.Route{Call: load.Call{Method: http.MethodGet, Path: path, As: "-"}}
	}
	changed := `{"categoryId":"{user}","name":"Café {n}","description":"Tueste medio","price":"` + loadPrice + `"}`
	restock := loadStaff(http.MethodPost, "/products/{product0}/restocks", `{"quantity":1}`)
	restock.Header = map[string]string{"Idempotency-Key": "{n}"}
	return []load.Route{
		open("/categories"), open("/categories/{category}"), open("/categories/{category}/products"),
		open("/products"), open("/products?name=CAFE"), open("/products?q=CAFE"), open("/products/{product0}"),
		{Call: loadCategory()},
		{Call: loadProduct(nil)},
		{Call: loadStaff(http.MethodPut, "/products/{product5}", changed)},
		{Call: loadStaff(http.MethodPut, "/products/{product5}/active", `{"isActive":true}`)},
		{Call: restock},
		{Call: loadStaff(http.MethodGet, fmt.Sprintf("/products/{product%d}/carts", loadLines), "")},
	}
}

func loadCarts() []load.Route {
	add := load.Call{
		Method: http.MethodPost, Path: "/cart/items", As: loadShopper, Header: map[string]string{"Idempotency-Key": "{n}"},
		Body: `{"productId":"{product0}","quantity":1}`,
	}
	remove := load.Call{Method: http.MethodDelete, Path: "/cart/items/{product0}", As: loadShopper}
	return []load.Route{
		{Call: load.Call{Method: http.MethodGet, Path: "/cart"}},
		{Call: add, Before: []load.Call{remove}},
		{Call: loadPut(loadShopper, 0)},
		{Call: remove, Before: []load.Call{loadPut(loadShopper, 0)}},
	}
}

func loadSales() []load.Route {
	made := loadOrder("next")
	last := len(made) - 1
	cancel := load.Call{Method: http.MethodPost, Path: "/orders/{next}/cancel", As: loadBuyer, Header: map[string]string{"Idempotency-Key": "{n}"}}
	pay := loadStaff(http.MethodPost, "/orders/{next}/pay", "")
	pay.Header = cancel.Header
	begin := load.Call{Method: http.MethodPost, Path: "/orders/{next}/payments", As: loadBuyer}
	ship, deliver := loadStaff(http.MethodPost, "/orders/{next}/ship", ""), loadStaff(http.MethodPost, "/orders/{next}/deliver", "")
	after := func(calls ...load.Call) []load.Call { return append(loadOrder("next"), calls...) }
	return []load.Route{
		{Call: made[last], Before: made[:last]},
		{Call: load.Call{Method: http.MethodGet, Path: "/orders", As: loadBuyer}},
		{Call: load.Call{Method: http.MethodGet, Path: "/orders/{order}", As: loadBuyer}},
		{Call: begin, Before: after()},
		{Call: pay, Before: after()},
		{Call: cancel, Before: after()},
		{Call: ship, Before: after(pay)},
		{Call: deliver, Before: after(pay, ship)},
	}
}

// loadStaff is a call of the connection's own user as staff.
func loadStaff(method, path, body string) load.Call {
	return load.Call{Method: method, Path: path, Body: body, Groups: []string{AdminGroup}}
}

func loadSignUp(keep map[string]string) load.Call {
	return load.Call{
		Method: http.MethodPost, Path: "/users", As: "-", Keep: keep,
		Header: map[string]string{"Idempotency-Key": "{n}", "X-Forwarded-For": "{address}"},
		Body:   `{"email":"load.{n}@example.com","name":"Ana","password":"un café con leche"}`,
	}
}

func loadLogIn(keep map[string]string) load.Call {
	return load.Call{
		Method: http.MethodPost, Path: "/login", As: "-", Keep: keep, Body: `{"email":"{email}","password":"un café con leche"}`,
	}
}

// loadCategory creates the connection's category if it does not exist.
func loadCategory() load.Call {
	c := loadStaff(http.MethodPut, "/categories/{user}", `{"name":"Cafés de {user}","description":"Granos y molidos"}`)
	c.Keep = map[string]string{"category": "categoryId"}
	return c
}

func loadProduct(keep map[string]string) load.Call {
	c := loadStaff(http.MethodPost, "/products", `{"categoryId":"{user}","name":"Café {n}","description":"Tueste medio","price":"`+loadPrice+`","stock":1000000}`)
	c.Header, c.Keep = map[string]string{"Idempotency-Key": "{n}"}, keep
	return c
}

// loadPut puts one of the connection's products into a user's cart.
func loadPut(as string, product int) load.Call {
	return load.Call{Method: http.MethodPut, Path: fmt.Sprintf("/cart/items/{product%d}", product), As: as, Body: `{"quantity":1}`}
}

// loadOrder fills the buyer's cart and orders it; the order's id is stored under a name.
func loadOrder(name string) []load.Call {
	var calls []load.Call
	for line := range loadLines {
		calls = append(calls, loadPut(loadBuyer, line))
	}
	return append(calls, load.Call{
		Method: http.MethodPost, Path: "/orders", As: loadBuyer, Header: map[string]string{"Idempotency-Key": "{n}"},
		Body: `{"total":"` + loadTotal + `"}`, Keep: map[string]string{name: "orderId"},
	})
}
