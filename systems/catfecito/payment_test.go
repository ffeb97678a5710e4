package catfecito_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/catfecito/payments"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// outcome is the response to a provider's event.
type outcome struct{ Outcome string }

func paymentRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	p := stock(t, v, "Filtro", "12.50", 10)
	o := buy(t, v, ana, "pay-1", p.ProductID, 2)
	at := "/orders/" + o.OrderID
	begin := request(ana, http.MethodPost, at+"/payments", nil)
	event := paid("p-1", o.Order)
	is := func(want string) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var got outcome
			if r.JSON(tb, &got); got.Outcome != want {
				tb.Errorf("the outcome is %s, want %s", r.Body, want)
			}
		}
	}
	changed := func(header, value string, body func(string) string) apitest.Request {
		r := paid("p-9", o.Order)
		if header != "" {
			r.Header[header] = value
		}
		r.Body = body(r.Body.(string)) //nolint:forcetypeassert // signed made it
		return r
	}
	same := func(body string) string { return body }
	forged := func(name string, r apitest.Request) apitest.Case {
		return apitest.Case{Name: name, Request: r, Status: http.StatusUnauthorized, Code: "invalid_signature"}
	}
	cancelled := payments.Event{ID: "e-c", Kind: payments.Cancelled, PaymentID: "p-1", OrderID: o.OrderID, Amount: int64(o.Total)}
	v.Run(t, []apitest.Case{
		{Name: "begun", Request: begin, Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var page struct{ URL string }
			if r.JSON(tb, &page); !strings.HasPrefix(page.URL, "test-payments/?") || !strings.Contains(page.URL, o.OrderID) {
				tb.Errorf("the page is %q", page.URL)
			}
		}},
		{Name: "another's", Request: request(bruno, http.MethodPost, at+"/payments", nil), Status: http.StatusForbidden, Code: problem.CodeForbidden},
		{Name: "nobody's", Request: request(ana, http.MethodPost, "/orders/"+nowhere+"/payments", nil), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		badQuery("no id", request(ana, http.MethodPost, "/orders/1/payments", nil), "", "path.orderId"),
		forged("no signature", apitest.Request{Method: http.MethodPost, Path: "/payments/events", Body: event.Body}),
		forged("another body", changed("", "", func(body string) string { return strings.Replace(body, "2500", "1", 1) })),
		forged("another id", changed("Webhook-Id", "evt-other", same)),
		forged("another time", changed("Webhook-Timestamp", "1700000000", same)),
		forged("another signature", changed("Webhook-Signature", "v1,AAAA", same)),
		{Name: "an order that cannot be one", Request: paid("p-4", catfecito.Order{OrderID: "1", Total: 1}), Status: http.StatusBadRequest, Code: problem.CodeInvalidValue},
		{Name: "cancelled at the page", Request: signed(cancelled), Status: http.StatusOK, Check: is("ignored")},
		{Name: "still to be paid", Request: begin, Status: http.StatusOK},
		{Name: "paid", Request: event, Status: http.StatusOK, Check: is("applied")},
		{Name: "the same event", Request: event, Status: http.StatusOK, Check: is("applied")},
		{Name: "paid a second time", Request: paid("p-2", o.Order), Status: http.StatusOK, Check: is("refunded")},
		{Name: "the second time's event again", Request: paid("p-2", o.Order), Status: http.StatusOK, Check: is("refunded")},
		{Name: "for no order", Request: paid("p-3", catfecito.Order{OrderID: nowhere, Total: 1}), Status: http.StatusOK, Check: is("refunded")},
		{Name: "begun when paid", Request: begin, Status: http.StatusConflict, Code: "order_not_pending"},
		{Name: "seen", Request: request(ana, http.MethodGet, at, nil), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var got catfecito.Order
			if r.JSON(tb, &got); got.Status != catfecitodb.OrderStatusPaid {
				tb.Errorf("the order is %s", r.Body)
			}
		}},
	})
}

// TestWrongAmount: payments of a different amount do not pay the order and are refunded, even if the first refunds fail and the
// provider does not send the events again.
func TestWrongAmount(t *testing.T) {
	t.Parallel()
	money := provider()
	broken := &brokenRefunds{Test: money, left: 3}
	options := catFecito()
	options.Payments = broken
	v := apitest.Open(t, catfecito.System(options))
	o := buy(t, v, ana, "k", stock(t, v, "Taza", "20.00", 5).ProductID, 1)
	little := o.Order
	little.Total = 1
	for _, id := range []string{"p", "p", "q"} {
		if got := must[outcome](t, v, paid(id, little), http.StatusOK); got.Outcome != "refunded" || money.Refunded(id) {
			t.Errorf("the outcome of %s is %v, refunded %v", id, got, money.Refunded(id))
		}
	}
	v.Clock.Advance(time.Hour)
	v.Tick(t)
	if !money.Refunded("p") || !money.Refunded("q") {
		t.Errorf("refunded: %v, %v", money.Refunded("p"), money.Refunded("q"))
	}
	if s := scan(t, v); s.truth[o.OrderID].Status != catfecitodb.OrderStatusCancelled || s.payments["p"] != catfecitodb.PaymentOutcomeRefunded {
		t.Errorf("the order is %s, the payment %s", s.truth[o.OrderID].Status, s.payments["p"])
	}
}

// TestSecondFailedRefund: a refund that fails when another of its order is set aside holds back no other record of the stream, and
// staff try both.
func TestSecondFailedRefund(t *testing.T) {
	t.Parallel()
	v, p, orderID := failingRefund(t, math.MaxInt)
	late := catfecito.Order{OrderID: orderID, Total: 1}
	must[outcome](t, v, paid("late", late), http.StatusOK)
	v.Deliver(t)
	again := staff(request("", http.MethodPost, "/desk/refunds/"+orderID, nil))
	refused(t, v, again, http.StatusConflict, "refund_failed")
	p.mend()
	must[any](t, v, again, http.StatusNoContent)
	refused(t, v, again, http.StatusNotFound, problem.CodeNotFound)
	if !p.Refunded("late") || !p.Refunded("pay-9") {
		t.Errorf("refunded: %v, %v", p.Refunded("late"), p.Refunded("pay-9"))
	}
}

// TestNoProvider: without a provider no payment can begin, and no event is accepted. The response says until when the order must be paid.
func TestNoProvider(t *testing.T) {
	t.Parallel()
	options := catFecito()
	options.Payments = nil
	v := apitest.Open(t, catfecito.System(options))
	o := buy(t, v, ana, "k", stock(t, v, "Taza", "20.00", 5).ProductID, 1)
	begin := request(ana, http.MethodPost, "/orders/"+o.OrderID+"/payments", nil)
	refused(t, v, begin, http.StatusNotFound, "payments_off")
	if detail := v.Do(t, begin).Problem(t).Detail; !strings.Contains(detail, "within 30 minutes") { // then the order is cancelled
		t.Errorf("the customer is told: %s", detail)
	}
	refused(t, v, paid("p", o.Order), http.StatusNotFound, "payments_off")
}

// TestPaidOnce: of several payments for one order, each delivered repeatedly and concurrently, one pays and the others are
// refunded.
func TestPaidOnce(t *testing.T) {
	t.Parallel()
	money := provider()
	options := catFecito()
	options.Payments = money
	v := apitest.Open(t, catfecito.System(options))
	o := buy(t, v, ana, "k", stock(t, v, "Taza", "20.00", 5).ProductID, 1)
	var requests []apitest.Request
	for i := range 12 {
		requests = append(requests, paid(fmt.Sprint("p-", i%4), o.Order))
	}
	for _, r := range together(t, v, requests) {
		if r.Status != http.StatusOK {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	applied := 0
	for id, what := range s.payments {
		if what == catfecitodb.PaymentOutcomeApplied {
			applied++
		}
		if (what == catfecitodb.PaymentOutcomeRefunded) != money.Refunded(id) {
			t.Errorf("%s is %s, refunded %v", id, what, money.Refunded(id))
		}
	}
	if applied != 1 || len(s.payments) != 4 || s.truth[o.OrderID].Status != catfecitodb.OrderStatusPaid {
		t.Errorf("%v, the order is %s", s.payments, s.truth[o.OrderID].Status)
	}
}
