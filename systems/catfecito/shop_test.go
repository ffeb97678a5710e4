package catfecito_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/payments"
	"github.com/monotable/monotable/systems/internal/apitest"
)

const (
	ana   = "u-123"
	bruno = "u-456"
	boss  = "u-1"
	// nowhere is a valid UUID of nothing.
	nowhere = "01234567-89ab-4cde-8f01-23456789abcd"
)

// paymentSecret is the payment provider's signing secret.
const paymentSecret = "what the provider signs with"

// provider returns a payment provider. All providers in a test accept each other's signatures.
func provider() *payments.Test {
	p, err := payments.NewTest(paymentSecret, time.Now)
	if err != nil {
		panic(err)
	}
	return p
}

// catFecito returns options with the cheapest password hashes.
func catFecito() catfecito.Options {
	return catfecito.Options{Hashing: catfecito.Cost{Passes: 1, MemoryKiB: 8, Lanes: 1}, Payments: provider()}
}

// paid is a provider's event about a payment.
func paid(paymentID string, o catfecito.Order) apitest.Request {
	return signed(payments.Event{ID: "evt-" + paymentID, Kind: payments.Succeeded, PaymentID: paymentID, OrderID: o.OrderID, Amount: int64(o.Total)})
}

func signed(e payments.Event) apitest.Request {
	header, body := provider().Send(e)
	flat := map[string]string{}
	for name := range header {
		flat[name] = header.Get(name)
	}
	return apitest.Request{Method: http.MethodPost, Path: "/payments/events", Header: flat, Body: string(body)}
}

func open(tb testing.TB) *apitest.Server {
	tb.Helper()
	return apitest.Open(tb, catfecito.System(catFecito()))
}

// object is a JSON object.
type object = map[string]any

// request is a user's request.
func request(as, method, path string, body any) apitest.Request {
	return apitest.Request{Method: method, Path: path, As: as, Body: body}
}

// keyed is a request with an Idempotency-Key.
func keyed(as, path, key string, body any) apitest.Request {
	return apitest.Request{Method: http.MethodPost, Path: path, As: as, Key: key, Body: body}
}

// staff is a request by staff.
func staff(r apitest.Request) apitest.Request {
	r.As, r.Groups = boss, []string{catfecito.AdminGroup}
	return r
}

// must sends a request whose response must have a given status, and decodes the response.
func must[T any](tb testing.TB, v *apitest.Server, r apitest.Request, status int) T {
	tb.Helper()
	response := v.Do(tb, r)
	if response.Status != status {
		tb.Fatalf("%s %s: %d %s, want %d", r.Method, r.Path, response.Status, response.Body, status)
	}
	var out T
	if len(response.Body) > 0 {
		response.JSON(tb, &out)
	}
	return out
}

// refused sends a request that must be rejected with a given problem.
func refused(tb testing.TB, v *apitest.Server, r apitest.Request, status int, code string) {
	tb.Helper()
	response := v.Do(tb, r)
	if response.Status != status || response.Problem(tb).Code != code {
		tb.Errorf("%s %s: %d %s, want %d %s", r.Method, r.Path, response.Status, response.Body, status, code)
	}
}

// stock creates a category from the first word of the name, and a product.
func stock(tb testing.TB, v *apitest.Server, name, price string, pieces int) catfecito.Product {
	tb.Helper()
	must[catfecito.Category](tb, v, staff(request("", http.MethodPut, "/categories/cafes", object{"name": "Cafés", "description": ""})), http.StatusOK)
	return must[catfecito.Product](tb, v, staff(keyed("", "/products", rand.Text(), object{
		"categoryId": "cafes", "name": name, "description": "", "price": price, "stock": pieces,
	})), http.StatusCreated)
}

// put sets a quantity in a cart.
func put(tb testing.TB, v *apitest.Server, as, productID string, pieces int) {
	tb.Helper()
	must[catfecito.Pieces](tb, v, request(as, http.MethodPut, "/cart/items/"+productID, object{"quantity": pieces}), http.StatusOK)
}

// buy orders a product.
func buy(tb testing.TB, v *apitest.Server, as, key, productID string, pieces int) catfecito.WholeOrder {
	tb.Helper()
	put(tb, v, as, productID, pieces)
	return must[catfecito.WholeOrder](tb, v, keyed(as, "/orders", key, object{"total": cart(tb, v, as).Total}), http.StatusCreated)
}

func cart(tb testing.TB, v *apitest.Server, as string) catfecito.Cart {
	tb.Helper()
	return must[catfecito.Cart](tb, v, request(as, http.MethodGet, "/cart", nil), http.StatusOK)
}

func product(tb testing.TB, v *apitest.Server, id string) catfecito.Product {
	tb.Helper()
	return must[catfecito.Product](tb, v, request("", http.MethodGet, "/products/"+id, nil), http.StatusOK)
}

// page is a response with a list.
type page[T any] struct {
	Items []T
	Next  string
}

// walk reads all pages of a list.
func walk[T any](tb testing.TB, v *apitest.Server, r apitest.Request, limit int, query ...string) []T {
	tb.Helper()
	var all []T
	for next := ""; ; {
		part := r
		part.Path = apitest.Query(r.Path, append([]string{"limit", fmt.Sprint(limit), "cursor", next}, query...)...)
		p := must[page[T]](tb, v, part, http.StatusOK)
		all = append(all, p.Items...)
		if p.Next == "" {
			return all
		}
		if next = p.Next; len(p.Items) > limit {
			tb.Errorf("a page of %s has %d items, want at most %d", r.Path, len(p.Items), limit)
		}
	}
}

// names returns the names of offers.
func names(list []catfecito.Offer) []string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = o.Name
	}
	return out
}

func same(tb testing.TB, what string, got, want []string) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("%s: %q, want %q", what, got, want)
	}
}
