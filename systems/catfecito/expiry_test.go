package catfecito_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/catfecito/payments"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// brokenRefunds is a provider whose first refunds fail.
type brokenRefunds struct {
	*payments.Test

	mu   sync.Mutex
	left int
}

func (b *brokenRefunds) Refund(ctx context.Context, paymentID string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left--; b.left >= 0 {
		return errors.New("the provider is out of order")
	}
	return b.Test.Refund(ctx, paymentID)
}

// mend makes later refunds succeed.
func (b *brokenRefunds) mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = 0
}

// TestExpiry: an order that is not paid within half an hour is cancelled and its stock returned, once; other orders are
// unaffected. A payment that arrives later is refunded.
func TestExpiry(t *testing.T) {
	t.Parallel()
	apitest.Each(t, catfecito.System(catFecito()), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		cup, mill := stock(t, v, "Taza", "20.00", 10), stock(t, v, "Molino", "150.00", 10)
		left := func(what string, cups, mills int64) {
			t.Helper()
			s := scan(t, v)
			s.sound(t)
			if got := [2]int64{s.products[cup.ProductID].Stock, s.products[mill.ProductID].Stock}; got != [2]int64{cups, mills} {
				t.Errorf("%s: %v are left, want %d and %d", what, got, cups, mills)
			}
		}
		put(t, v, ana, cup.ProductID, 3)
		unpaid := buy(t, v, ana, "unpaid", mill.ProductID, 2)
		bought := buy(t, v, ana, "paid", cup.ProductID, 1)
		must[outcome](t, v, paid("p-1", bought.Order), http.StatusOK)
		v.Clock.Advance(15 * time.Minute)
		young := buy(t, v, bruno, "young", cup.ProductID, 1)
		v.Clock.Advance(15*time.Minute - time.Second)
		v.Tick(t)
		left("before the time is over", 5, 8)
		v.Clock.Advance(time.Second)
		v.Tick(t)
		left("when it is over", 8, 10)
		v.Tick(t)
		left("a second time", 8, 10)
		status := func(o catfecito.WholeOrder) catfecitodb.OrderStatus {
			t.Helper()
			return must[catfecito.WholeOrder](t, v, staff(request("", http.MethodGet, "/orders/"+o.OrderID, nil)), http.StatusOK).Status
		}
		if a, b, c := status(unpaid), status(bought), status(young); a != "cancelled" || b != "paid" || c != "pending" {
			t.Errorf("the orders are %s, %s and %s", a, b, c)
		}
		if got := must[outcome](t, v, paid("p-2", unpaid.Order), http.StatusOK); got.Outcome != "refunded" {
			t.Errorf("a late payment is %s", got.Outcome)
		}
		refused(t, v, staff(keyed("", "/orders/"+unpaid.OrderID+"/pay", "late", nil)), http.StatusConflict, "order_not_pending")
		left("after a late payment", 8, 10)
	})
}

// TestPaidOrExpired: several processes expire orders while customers pay and cancel them. Each order has one outcome, its stock
// is returned at most once, and payments of cancelled orders are refunded.
func TestPaidOrExpired(t *testing.T) {
	t.Parallel()
	const orders, processes = 24, 4
	money := provider()
	options := catFecito()
	options.Payments = money
	v := apitest.Open(t, catfecito.System(options))
	p := stock(t, v, "Taza", "20.00", 100)
	var created []catfecito.WholeOrder
	for i := range orders {
		created = append(created, buy(t, v, fmt.Sprint("u-", i), "k", p.ProductID, 2))
	}
	v.Clock.Advance(31 * time.Minute)
	var all sync.WaitGroup
	for range processes {
		all.Go(func() { v.Tick(t) })
	}
	for i, o := range created {
		all.Go(func() {
			for range 2 {
				if r := v.Do(t, paid(fmt.Sprint("p-", i), o.Order)); r.Status != http.StatusOK {
					t.Errorf("paid: %d %s", r.Status, r.Body)
				}
			}
		})
		if i%3 == 0 {
			all.Go(func() {
				if r := v.Do(t, keyed(o.UserID, "/orders/"+o.OrderID+"/cancel", "c", nil)); r.Status != http.StatusOK && r.Status != http.StatusConflict {
					t.Errorf("cancelled: %d %s", r.Status, r.Body)
				}
			})
		}
	}
	all.Wait()
	v.Tick(t)
	s := scan(t, v)
	s.sound(t)
	if got, want := s.products[p.ProductID].Stock, 100-s.held(p.ProductID); got != want {
		t.Errorf("%d pieces are left, want %d", got, want)
	}
	for i, o := range created {
		id := fmt.Sprint("p-", i)
		status, what := s.truth[o.OrderID].Status, s.payments[id]
		switch {
		case status == catfecitodb.OrderStatusPaid && what == catfecitodb.PaymentOutcomeApplied && !money.Refunded(id):
		case status == catfecitodb.OrderStatusCancelled && what == catfecitodb.PaymentOutcomeRefunded && money.Refunded(id):
		case status == catfecitodb.OrderStatusCancelled && what == catfecitodb.PaymentOutcomeApplied && i%3 == 0: // paid, then cancelled by its owner
		default:
			t.Errorf("order %d is %s, its payment %s, refunded %v", i, status, what, money.Refunded(id))
		}
	}
}

// TestExpiryWorks: a process's worker expires orders on its own.
func TestExpiryWorks(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 10)
	buy(t, v, ana, "k", p.ProductID, 4)
	v.Clock.Advance(time.Hour)
	v.Work(t)
	apitest.Eventually(t, "the goods are back", func() bool { return product(t, v, p.ProductID).Stock == 10 })
}
