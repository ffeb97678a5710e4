package catfecito_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// TestOrder: an order shows what was sold, whatever happens to the products.
func TestOrder(t *testing.T) {
	t.Parallel()
	v := open(t)
	cup, mill := stock(t, v, "Taza", "20.00", 10), stock(t, v, "Molino", "150.50", 5)
	put(t, v, ana, cup.ProductID, 3)
	put(t, v, ana, mill.ProductID, 1)
	created := must[catfecito.WholeOrder](t, v, keyed(ana, "/orders", "k", object{"total": "210.50"}), http.StatusCreated)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+cup.ProductID, object{"categoryId": "cafes", "name": "Taza nueva", "description": "", "price": "99.00"})), http.StatusOK)
	found := must[catfecito.WholeOrder](t, v, request(ana, http.MethodGet, "/orders/"+created.OrderID, nil), http.StatusOK)
	for _, o := range []*catfecito.WholeOrder{&created, &found} {
		slices.SortFunc(o.Items, func(a, b catfecito.OrderLine) int { return strings.Compare(a.Name, b.Name) })
		want := []catfecito.OrderLine{
			{ProductID: mill.ProductID, Name: "Molino", Price: 15050, Quantity: 1, Subtotal: 15050},
			{ProductID: cup.ProductID, Name: "Taza", Price: 2000, Quantity: 3, Subtotal: 6000},
		}
		if !slices.Equal(o.Items, want) || o.Total != 21050 || o.UserID != ana || !o.CreatedAt.Equal(v.Clock.Now()) {
			t.Errorf("the order is %+v, want lines %+v", o, want)
		}
	}
}

// TestOrders: users list their own orders, newest first and in pages, whatever the orders' ids.
func TestOrders(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 100)
	var want []string
	for i := range 7 {
		want = append([]string{buy(t, v, ana, fmt.Sprint("k-", i), p.ProductID, 1).OrderID}, want...)
		buy(t, v, bruno, fmt.Sprint("k-", i), p.ProductID, 1)
		v.Clock.Advance(time.Millisecond)
	}
	must[catfecito.Order](t, v, staff(keyed("", "/orders/"+want[0]+"/pay", "k", nil)), http.StatusOK)
	list := request(ana, http.MethodGet, "/orders", nil)
	var got []string
	for i, o := range walk[catfecito.Order](t, v, list, 3) {
		got = append(got, o.OrderID)
		if o.Total != 2000 || (o.Status == catfecitodb.OrderStatusPaid) != (i == 0) {
			t.Errorf("listed is %+v", o)
		}
	}
	same(t, "orders", got, want)
	list.Path += "?limit=3"
	next := must[page[catfecito.Order]](t, v, list, http.StatusOK).Next
	refused(t, v, request(bruno, http.MethodGet, "/orders?cursor="+next, nil), http.StatusBadRequest, problem.CodeInvalidCursor)
}

// TestPaidOrCancelled: the owner and staff pay, ship and cancel an order concurrently and repeatedly. It has one outcome, and its
// stock is returned at most once.
func TestPaidOrCancelled(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 100)
	for round := range 6 {
		o := buy(t, v, ana, fmt.Sprint("o-", round), p.ProductID, 3)
		at := "/orders/" + o.OrderID
		requests := []apitest.Request{
			staff(keyed("", at+"/pay", fmt.Sprint("p-", round), nil)), staff(keyed("", at+"/pay", fmt.Sprint("q-", round), nil)), staff(request("", http.MethodPost, at+"/ship", nil)),
		}
		for i := range 6 {
			requests = append(requests, keyed(ana, at+"/cancel", fmt.Sprint("c-", round, "-", i%3), nil), staff(keyed("", at+"/cancel", fmt.Sprint("c-", round), nil)))
		}
		for i, r := range together(t, v, requests) {
			if r.Status != http.StatusOK && r.Status != http.StatusConflict {
				t.Errorf("%s: %d %s", requests[i].Path, r.Status, r.Body)
			}
		}
		s := scan(t, v)
		s.sound(t)
		if got, want := s.products[p.ProductID].Stock, 100-s.held(p.ProductID); got != want {
			t.Fatalf("round %d: there are %d, want %d", round, got, want)
		}
	}
}

// TestStockIsKept: concurrent purchases, cancellations and restocks neither create nor lose stock.
func TestStockIsKept(t *testing.T) {
	t.Parallel()
	const users, rounds = 8, 8
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	v := open(t)
	cups := []catfecito.Product{stock(t, v, "Taza", "20.00", 12), stock(t, v, "Jarro", "10.00", 12)}
	var mu sync.Mutex
	restocked := map[string]int64{}
	var all sync.WaitGroup
	for i := range users {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // the same each time
			who := fmt.Sprint("u-", i)
			for n := range rounds {
				key := fmt.Sprint("k-", n)
				for _, p := range cups {
					put(t, v, who, p.ProductID, 1+dice.IntN(3))
				}
				created := v.Do(t, keyed(who, "/orders", key, object{"total": cart(t, v, who).Total}))
				var o catfecito.WholeOrder
				switch created.Status {
				case http.StatusCreated:
					created.JSON(t, &o)
				case http.StatusConflict:
				default:
					t.Errorf("checkout: %d %s", created.Status, created.Body)
				}
				if o.OrderID != "" && dice.IntN(2) == 0 {
					v.Do(t, keyed(who, "/orders/"+o.OrderID+"/cancel", key, nil))
				}
				if dice.IntN(4) == 0 {
					p := cups[dice.IntN(len(cups))].ProductID
					if v.Do(t, staff(keyed("", "/products/"+p+"/restocks", who+key, object{"quantity": 2}))).Status == http.StatusCreated {
						mu.Lock()
						restocked[p] += 2
						mu.Unlock()
					}
				}
			}
		})
	}
	all.Wait()
	s := scan(t, v)
	s.sound(t)
	for _, p := range cups {
		if got, want := s.products[p.ProductID].Stock, 12+restocked[p.ProductID]-s.held(p.ProductID); got != want {
			t.Errorf("of %s there are %d, want 12 + %d that were added - %d that are in orders", p.Name, got, restocked[p.ProductID], s.held(p.ProductID))
		}
	}
	if len(s.truth) == 0 {
		t.Error("no order was created")
	}
}

// TestStaffCancels: staff can cancel any order, with their own keys.
func TestStaffCancels(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 10)
	a, b := buy(t, v, ana, "k", p.ProductID, 2), buy(t, v, bruno, "k", p.ProductID, 3)
	for _, o := range []catfecito.WholeOrder{a, b} {
		got := must[catfecito.Order](t, v, staff(keyed("", "/orders/"+o.OrderID+"/cancel", "k-"+o.OrderID, nil)), http.StatusOK)
		if got.Status != catfecitodb.OrderStatusCancelled || got.OrderID != o.OrderID {
			t.Errorf("cancelled %+v", got)
		}
	}
	refused(t, v, staff(keyed("", "/orders/"+a.OrderID+"/cancel", "k-"+b.OrderID, nil)), http.StatusUnprocessableEntity, problem.CodeKeyReused)
	if got := product(t, v, p.ProductID).Stock; got != 10 {
		t.Errorf("there are %d, want 10 again", got)
	}
}
