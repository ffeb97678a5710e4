package catfecito_test

import (
	"bufio"
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// at is the delivery address of the orders in these tests.
func at() object {
	return object{"way": "delivery", "name": "Ana Núñez", "phone": "+52 55 1234 5678", "address": "Orizaba 12", "note": "2nd floor"}
}

// deskRoutes calls the staff's operations.
func deskRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	p := stock(t, v, "Café Ñandú Chiapas", "10.00", 9)
	v.Deliver(t)
	put(t, v, ana, p.ProductID, 2)
	body := object{"total": "20.00", "delivery": at()}
	created := must[catfecito.WholeOrder](t, v, keyed(ana, "/orders", "desk", body), http.StatusCreated)
	if created.Delivery == nil || *created.Delivery.Address != "Orizaba 12" || created.Summary != "2 × Café Ñandú Chiapas" {
		t.Errorf("the order is %+v, its delivery %+v", created, created.Delivery)
	}
	open := func(status string) []catfecito.OpenOrder {
		return walk[catfecito.OpenOrder](t, v, staff(request("", http.MethodGet, "/desk/orders", nil)), 50, "status", status)
	}
	find := func(status string) bool {
		for _, o := range open(status) {
			if o.OrderID == created.OrderID {
				return o.Delivery != nil && o.Delivery.Name == "Ana Núñez"
			}
		}
		return false
	}
	if !find("pending") || find("paid") {
		t.Error("the order is not among those that are pending alone")
	}
	must[catfecito.PaymentResult](t, v, paid("desk", created.Order), http.StatusOK)
	if find("pending") || !find("paid") {
		t.Error("the order is not among those that are paid alone")
	}
	from := v.Clock.Now().UTC().Truncate(24 * time.Hour)
	day := apitest.Query("/desk/takings", "from", from.Format(time.RFC3339), "to", from.Add(24*time.Hour).Format(time.RFC3339))
	takings := func() catfecito.Takings {
		return must[catfecito.Takings](t, v, staff(request("", http.MethodGet, day, nil)), http.StatusOK)
	}
	before := takings()
	if before.Online < 2000 || len(before.Hours) != 24 || before.Total != before.Cash+before.Online {
		t.Errorf("the takings are %+v", before)
	}
	must[catfecito.Order](t, v, staff(keyed("", "/orders/"+created.OrderID+"/cancel", "desk", nil)), http.StatusOK)
	if got := takings(); got.Online != before.Online-2000 || got.Refunded != before.Refunded+2000 || got.Refunds != before.Refunds+1 {
		t.Errorf("after a refund the takings are %+v", got)
	}
	v.Run(t, []apitest.Case{
		badQuery("takings of no time", staff(request("", http.MethodGet, apitest.Query("/desk/takings", "from", "now", "to", "then"), nil)), "", "query.from"),
		badQuery("takings of a year", staff(request("", http.MethodGet, apitest.Query("/desk/takings", "from", "2026-01-01T00:00:00Z", "to", "2027-01-01T00:00:00Z"), nil)), "", "query.to"),
		badQuery("orders that are over", staff(request("", http.MethodGet, "/desk/orders?status=cancelled", nil)), "", "query.status"),
		{Name: "nobody's address", Request: staff(request("", http.MethodGet, "/desk/users?email=nobody@example.com", nil)), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		badQuery("no address", staff(request("", http.MethodGet, "/desk/users?email=nobody", nil)), "", "query.email"),
		{Name: "made-up cursor", Request: staff(request("", http.MethodGet, "/desk/products?cursor=x", nil)), Status: http.StatusBadRequest, Code: problem.CodeInvalidCursor},
		{Name: "shelf", Request: staff(request("", http.MethodGet, "/desk/products", nil)), Status: http.StatusOK},
		{Name: "an address", Request: staff(request("", http.MethodGet, "/desk/users?email=juan@mail.com", nil)), Status: http.StatusOK},
		{Name: "brought nowhere", Request: keyed(ana, "/orders", "desk-2", object{"total": "20.00", "delivery": object{"way": "delivery", "name": "Ana", "phone": "12345"}}), Status: http.StatusBadRequest, Code: "address_missing"},
	})
	db, err := catfecitodb.New(v.Database.DynamoDB, catfecitodb.Config{Table: "catfecito-serverless-" + v.Stage()})
	if err != nil {
		t.Fatal(err)
	}
	// The test provider makes every refund.
	if _, err := db.SetRefundAside(t.Context(), catfecitodb.SetRefundAsideInput{OrderID: created.OrderID, PaymentID: "desk", Amount: 2000}); err != nil {
		t.Fatal(err)
	}
	again := staff(request("", http.MethodPost, "/desk/refunds/"+created.OrderID, nil))
	v.Run(t, []apitest.Case{
		{Name: "failed refunds", Request: staff(request("", http.MethodGet, "/desk/refunds", nil)), Status: http.StatusOK},
		{Name: "failed refunds after a made-up cursor", Request: staff(request("", http.MethodGet, "/desk/refunds?cursor=x", nil)), Status: http.StatusBadRequest, Code: problem.CodeInvalidCursor},
		{Name: "refunded", Request: again, Status: http.StatusNoContent},
		{Name: "refunded before", Request: again, Status: http.StatusNotFound, Code: problem.CodeNotFound},
	})
	events := request(ana, http.MethodGet, "/orders/events", nil)
	if !v.Live() { // Lambda returns the available events and ends
		v.Run(t, []apitest.Case{{Name: "events", Request: events, Status: http.StatusOK}})
		return
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	res, feed := v.Stream(ctx, t, events)
	if res.Status != http.StatusOK {
		t.Fatalf("events: %d", res.Status)
	}
	for lines := bufio.NewScanner(feed); lines.Scan(); {
		if lines.Text() == "event: ready" {
			return
		}
	}
	t.Error("the events have no ready")
}

// TestRefund: a cancelled order's payment is refunded once, however often the stream delivers the record.
func TestRefund(t *testing.T) {
	t.Parallel()
	o := catFecito()
	p := provider()
	o.Payments = p
	v := apitest.Open(t, catfecito.System(o))
	created := buy(t, v, ana, "k", stock(t, v, "Taza", "20.00", 5).ProductID, 1)
	must[catfecito.PaymentResult](t, v, paid("pay-9", created.Order), http.StatusOK)
	v.Deliver(t)
	if p.Refunded("pay-9") {
		t.Fatal("a valid payment was refunded")
	}
	must[catfecito.Order](t, v, keyed(ana, "/orders/"+created.OrderID+"/cancel", "k", nil), http.StatusOK)
	v.Deliver(t)
	v.Deliver(t)
	if !p.Refunded("pay-9") {
		t.Error("the payment of a cancelled order was not refunded")
	}
}

// failingRefund is a shop in which ana has cancelled an order after paying it with pay-9. Once the stream is delivered, the provider
// fails to refund it a number of times.
func failingRefund(t *testing.T, times int) (v *apitest.Server, p *brokenRefunds, orderID string) {
	t.Helper()
	o := catFecito()
	p = &brokenRefunds{Test: provider(), left: times}
	o.Payments = p
	v = apitest.Open(t, catfecito.System(o))
	created := buy(t, v, ana, "k", stock(t, v, "Taza", "20.00", 5).ProductID, 1)
	must[catfecito.PaymentResult](t, v, paid("pay-9", created.Order), http.StatusOK)
	must[catfecito.Order](t, v, keyed(ana, "/orders/"+created.OrderID+"/cancel", "k", nil), http.StatusOK)
	return v, p, created.OrderID
}

// TestFailedRefund: a refund that the provider rejects holds back nothing. It is tried again each hour, ten times in all, and staff
// see it and can try it again.
func TestFailedRefund(t *testing.T) {
	t.Parallel()
	v, p, orderID := failingRefund(t, math.MaxInt)
	stock(t, v, "Molino", "20.00", 5)
	v.Deliver(t)
	v.Deliver(t) // again, which does not count as a try
	if later := walk[catfecito.Offer](t, v, request("", http.MethodGet, "/products", nil), 20, "q", "molino"); len(later) != 1 {
		t.Errorf("a search finds %d of the product that was added after the failure, want it", len(later))
	}
	failed := func() []catfecito.FailedRefund {
		return walk[catfecito.FailedRefund](t, v, staff(request("", http.MethodGet, "/desk/refunds", nil)), 50)
	}
	if got := failed(); len(got) != 1 || got[0].OrderID != orderID || got[0].PaymentID != "pay-9" || got[0].Amount != 2000 || got[0].Tries != 1 {
		t.Fatalf("the failed refunds are %+v, want that of the order", got)
	}
	for range 12 {
		v.Clock.Advance(time.Hour)
		v.Tick(t)
	}
	if got := failed(); len(got) != 1 || got[0].Tries != 10 {
		t.Errorf("after half a day the failed refunds are %+v, want one with ten tries", got)
	}
	again := staff(request("", http.MethodPost, "/desk/refunds/"+orderID, nil))
	refused(t, v, again, http.StatusConflict, "refund_failed")
	p.mend()
	v.Tick(t)
	if p.Refunded("pay-9") {
		t.Error("the refund was tried again although its tries are used up")
	}
	must[any](t, v, again, http.StatusNoContent)
	if got := failed(); !p.Refunded("pay-9") || len(got) != 0 {
		t.Errorf("refunded: %v, the failed refunds are %+v", p.Refunded("pay-9"), got)
	}
	refused(t, v, again, http.StatusNotFound, problem.CodeNotFound)
	refused(t, v, request(ana, http.MethodPost, "/desk/refunds/"+orderID, nil), http.StatusForbidden, problem.CodeForbidden)
}

// TestRefundAfterOutage: a refund that failed is made without staff when the provider works again.
func TestRefundAfterOutage(t *testing.T) {
	t.Parallel()
	v, p, _ := failingRefund(t, 2)
	v.Deliver(t)
	for range 2 {
		if p.Refunded("pay-9") {
			t.Fatal("the payment is refunded too early")
		}
		v.Clock.Advance(time.Hour)
		v.Tick(t)
	}
	left := must[object](t, v, staff(request("", http.MethodGet, "/desk/refunds", nil)), http.StatusOK)
	if items, _ := left["items"].([]any); !p.Refunded("pay-9") || len(items) != 0 {
		t.Errorf("refunded: %v, left: %v", p.Refunded("pay-9"), left)
	}
}

// TestSearchWords: a search finds words inside names, ignoring case and accents. Each product appears once, with its current
// data.
func TestSearchWords(t *testing.T) {
	t.Parallel()
	v := open(t)
	chiapas := stock(t, v, "Café de Chiapas", "90.00", 5)
	stock(t, v, "Jarra Café Azul", "400.00", 5)
	gone := stock(t, v, "Té verde de Chiapas", "70.00", 5)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+gone.ProductID+"/active", object{"isActive": false})), http.StatusOK)
	v.Deliver(t)
	find := func(text string, want ...string) {
		t.Helper()
		var all []catfecito.Offer
		for _, limit := range []int{1, 20} {
			all = walk[catfecito.Offer](t, v, request("", http.MethodGet, "/products", nil), limit, "q", text)
			got := names(all)
			slices.Sort(got) // sorted by word, so not by name
			same(t, text, got, want)
		}
	}
	find("chiapas", "Café de Chiapas")
	find("CHÍA caf", "Café de Chiapas")
	find("caf", "Café de Chiapas", "Jarra Café Azul")
	find("azul cafe", "Jarra Café Azul")
	find("hiapas")
	find("?!")
	shelf := walk[catfecito.Product](t, v, staff(request("", http.MethodGet, "/desk/products", nil)), 2)
	if len(shelf) != 3 || shelf[0].Name != "Café de Chiapas" || shelf[2].IsActive {
		t.Errorf("the shelf is %+v", shelf)
	}
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+chiapas.ProductID, object{
		"categoryId": "cafes", "name": "Oaxaca de altura", "description": "", "price": "90.00",
	})), http.StatusOK)
	find("chiapas") // found in the product itself, before the stream is consumed
	v.Deliver(t)
	find("oax", "Oaxaca de altura")
	v.Deliver(t)
	find("altura", "Oaxaca de altura")
}

// TestListsOfOldProducts: products that are older than the lists are added to them.
func TestListsOfOldProducts(t *testing.T) {
	t.Parallel()
	v := open(t)
	stock(t, v, "Café de Chiapas", "90.00", 5)
	v.Tick(t)
	v.Tick(t)
	got := walk[catfecito.Offer](t, v, request("", http.MethodGet, "/products", nil), 20, "q", "chiapas")
	same(t, "chiapas", names(got), []string{"Café de Chiapas"})
}

// TestRepeatedCheckoutGetsFirstResponse: a repeated checkout gets the first response, even if the order has been paid since.
func TestRepeatedCheckoutGetsFirstResponse(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 5)
	put(t, v, ana, p.ProductID, 1)
	r := keyed(ana, "/orders", "k", object{"total": "20.00", "delivery": at()})
	first := v.Do(t, r)
	var o catfecito.WholeOrder
	first.JSON(t, &o)
	must[catfecito.PaymentResult](t, v, paid("p-1", o.Order), http.StatusOK)
	again := v.Do(t, r)
	if again.Status != http.StatusOK || strings.TrimSpace(string(again.Body)) != strings.TrimSpace(string(first.Body)) {
		t.Errorf("again: %d %s, want 200 %s", again.Status, again.Body, first.Body)
	}
	if got := scan(t, v).truth[o.OrderID].Status; got != catfecitodb.OrderStatusPaid {
		t.Errorf("the order is %s", got)
	}
}

// TestCheckoutKeyOfAnotherAddress: a key that is used again with another address or none is rejected, whatever the cart contains, because the
// goods would go to the first address.
func TestCheckoutKeyOfAnotherAddress(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 5)
	put(t, v, ana, p.ProductID, 1)
	moved := at()
	moved["note"] = "Second floor"
	order := func(key string, delivery any) apitest.Request {
		body := object{"total": "20.00"}
		if delivery != nil {
			body["delivery"] = delivery
		}
		return keyed(ana, "/orders", key, body)
	}
	first := must[catfecito.WholeOrder](t, v, order("k", at()), http.StatusCreated)
	for _, pieces := range []int{0, 1} { // the cart is empty, or as it was
		if pieces > 0 {
			put(t, v, ana, p.ProductID, pieces)
		}
		for _, delivery := range []any{moved, nil} {
			refused(t, v, order("k", delivery), http.StatusUnprocessableEntity, problem.CodeKeyReused)
		}
		if again := must[catfecito.WholeOrder](t, v, order("k", at()), http.StatusOK); again.OrderID != first.OrderID {
			t.Errorf("repeated: %s, want %s", again.OrderID, first.OrderID)
		}
	}
	must[catfecito.WholeOrder](t, v, order("l", nil), http.StatusCreated)
	refused(t, v, order("l", at()), http.StatusUnprocessableEntity, problem.CodeKeyReused)
}
