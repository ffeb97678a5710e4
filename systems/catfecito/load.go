package catfecito

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/systems/internal/load"
)

const (
	// loadProducts is the number of products in a connection's category, loadOrders the number of its buyer's orders.
	loadProducts = 24
	loadOrders   = 20
	// loadHolders is the number of users who have a connection's product in the cart.
	loadHolders = 20
	// loadLines is the number of lines of a cart, and of an order.
	loadLines = 3

	loadDetails = `"categoryId":"{user}","name":"Café {n}","description":"Tueste medio","price":"35.00"`
	loadTotal   = "105.00" // for loadLines pieces
	// loadBuyer places orders, and loadShopper changes their cart. The connection's own user has a cart that does not change.
	loadBuyer, loadShopper = "buyer", "shopper"
)

// loadPlan measures every operation. Each connection has its own category and products, so that connections do not contend with
// each other. A connection signs up, and has a user with a cart, a buyer with orders, and other users with a product in the cart.
//
// Each sign-up comes from its own network, like those of the shop's customers, so the limit per network is not measured.
// Successful log-ins are not limited.
func loadPlan() load.Plan {
	return load.Plan{Without: map[string]string{
		"paymentEvent":      "its requests are signed by a provider",
		"refreshSession":    "each of its requests needs the response to the previous one",
		"logOut":            "each of its requests needs a log-in",
		"changePassword":    "it does what a log-in does",
		"sendVerification":  "one user gets one letter a minute",
		"verifyEmail":       "its requests have codes from letters",
		"sendPasswordReset": "one address gets one letter a minute",
		"resetPassword":     "its requests have codes from letters",
		"watchOrders":       "its response does not end",
		"listFailedRefunds": "staff call it rarely, and its list is short",
		"retryRefund":       "the provider has to reject a refund first",
	}, Setup: loadSetup(), Routes: slices.Concat(loadAccounts(), loadCatalogue(), loadCarts(), loadSales())}
}

func loadSetup() []load.Call {
	setup := []load.Call{
		loadSignUp().Keeping("userId", "userId").Keeping("email", "email"), loadLogIn().Keeping("token", "accessToken"), loadCategory(),
	}
	for i := range loadProducts {
		setup = append(setup, loadProduct().Keeping(fmt.Sprint("product", i), "productId"))
	}
	for line := range loadLines {
		setup = append(setup, loadPut(line))
	}
	for range loadOrders {
		setup = append(setup, loadOrder("order")...)
	}
	for i := range loadHolders {
		setup = append(setup, loadPut(loadLines).By(fmt.Sprint("holder", i)))
	}
	return setup
}

func loadAccounts() []load.Call {
	loggedIn := func(path string) load.Call { return load.Get(path).By("-").With("Authorization", "Bearer {token}") }
	return []load.Call{
		loadSignUp(), loadLogIn(), loggedIn("/me"), loggedIn("/me/sessions"),
		load.Get("/users/{userId}").In(AdminGroup), load.Put("/users/{userId}/role", `{"role":"customer"}`).In(AdminGroup),
		load.Get("/audit/PRODUCT/{product0}").In(AdminGroup), load.Get("/acts?day=2026-02-11").In(AdminGroup),
		load.Get("/desk/users?email={email}").In(AdminGroup), load.Get("/desk/products").In(AdminGroup),
		load.Get("/desk/orders?status=paid").In(AdminGroup), load.Get("/desk/takings?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z").In(AdminGroup),
	}
}

func loadCatalogue() []load.Call {
	open := func(path string) load.Call { return load.Get(path).By("-") }
	return []load.Call{
		open("/categories"), open("/categories/{category}"), open("/categories/{category}/products"),
		open("/products"), open("/products?name=CAFE"), open("/products?q=CAFE"), open("/products/{product0}"),
		loadCategory(), loadProduct(),
		load.Put("/products/{product5}", "{"+loadDetails+"}").In(AdminGroup), load.Put("/products/{product5}/active", `{"isActive":true}`).In(AdminGroup),
		load.Create("/products/{product0}/restocks", `{"quantity":1}`).In(AdminGroup),
		load.Get(fmt.Sprintf("/products/{product%d}/carts", loadLines)).In(AdminGroup),
	}
}

func loadCarts() []load.Call {
	put, remove := loadPut(0).By(loadShopper), load.Delete("/cart/items/{product0}").By(loadShopper)
	return []load.Call{
		load.Get("/cart"),
		load.Create("/cart/items", `{"productId":"{product0}","quantity":1}`).By(loadShopper).After(remove),
		put, remove.After(put),
	}
}

func loadSales() []load.Call {
	order := loadOrder("next")
	last := len(order) - 1
	pay, ship := load.Create("/orders/{next}/pay", "").In(AdminGroup), load.Post("/orders/{next}/ship", "").In(AdminGroup)
	return []load.Call{
		order[last].After(order[:last]...),
		load.Get("/orders").By(loadBuyer), load.Get("/orders/{order}").By(loadBuyer),
		load.Post("/orders/{next}/payments", "").By(loadBuyer).After(order...),
		pay.After(order...), load.Create("/orders/{next}/cancel", "").By(loadBuyer).After(order...),
		ship.After(append(loadOrder("next"), pay)...),
		load.Post("/orders/{next}/deliver", "").In(AdminGroup).After(append(loadOrder("next"), pay, ship)...),
	}
}

func loadSignUp() load.Call {
	return load.Create("/users", `{"email":"load.{n}@example.com","name":"Ana","password":"un café con leche"}`).By("-").With("X-Forwarded-For", "{address}")
}

func loadLogIn() load.Call {
	return load.Post("/login", `{"email":"{email}","password":"un café con leche"}`).By("-")
}

// loadCategory creates the connection's category if it does not exist.
func loadCategory() load.Call {
	return load.Put("/categories/{user}", `{"name":"Cafés de {user}","description":"Granos y molidos"}`).In(AdminGroup).Keeping("category", "categoryId")
}

func loadProduct() load.Call {
	return load.Create("/products", "{"+loadDetails+`,"stock":1000000}`).In(AdminGroup)
}

// loadPut adds a piece of one of the connection's products to a cart.
func loadPut(product int) load.Call {
	return load.Put(fmt.Sprintf("/cart/items/{product%d}", product), `{"quantity":1}`)
}

// loadOrder fills the buyer's cart, orders it, and stores the order's id under a name.
func loadOrder(name string) []load.Call {
	var calls []load.Call
	for line := range loadLines {
		calls = append(calls, loadPut(line).By(loadBuyer))
	}
	return append(calls, load.Create("/orders", `{"total":"`+loadTotal+`"}`).By(loadBuyer).Keeping(name, "orderId"))
}
