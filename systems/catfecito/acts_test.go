package catfecito_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// TestStaffActsAreListed: for a year staff can see which of them changed what, and the response. Customers' requests are not recorded,
// even for the same operation.
func TestStaffActsAreListed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, catfecito.System(catFecito()), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		p := stock(t, v, "Taza", "20.00", 5)
		first := buy(t, v, ana, "k", p.ProductID, 1)
		second := buy(t, v, ana, "l", p.ProductID, 1)
		must[catfecito.Order](t, v, keyed(ana, "/orders/"+first.OrderID+"/cancel", "c", nil), http.StatusOK)
		must[catfecito.Order](t, v, staff(keyed("", "/orders/"+second.OrderID+"/cancel", "c", nil)), http.StatusOK)
		must[problem.Problem](t, v, staff(request("", http.MethodPost, "/orders/"+second.OrderID+"/ship", nil)), http.StatusConflict)
		day := v.Clock.Now().UTC().Format(time.DateOnly)
		type act struct {
			Who, Operation, Target string
			Status                 int64
		}
		var got []act
		for _, a := range walk[api.ShownAct](t, v, staff(request("", http.MethodGet, "/acts", nil)), 2, "day", day) {
			got = append(got, act{a.ActorID, a.Operation, a.Target, *a.Status})
		}
		who := got[0].Who
		want := []act{
			{who, "shipOrder", "POST /orders/" + second.OrderID + "/ship", http.StatusConflict},
			{who, "cancelOrder", "POST /orders/" + second.OrderID + "/cancel", http.StatusOK},
			{who, "createProduct", "POST /products", http.StatusCreated},
			{who, "putCategory", "PUT /categories/cafes", http.StatusOK},
		}
		if diff := cmp.Diff(want, got, cmp.Transformer("set", func(all []act) map[act]int {
			counted := map[act]int{}
			for _, a := range all {
				counted[a]++
			}
			return counted
		})); diff != "" || who == "" {
			t.Errorf("acts of %s: %s", day, diff)
		}
		must[problem.Problem](t, v, request(ana, http.MethodGet, "/acts?day="+day, nil), http.StatusForbidden)
		must[problem.Problem](t, v, staff(request("", http.MethodGet, "/acts?day=yesterday", nil)), http.StatusBadRequest)
		v.Clock.Advance(365*24*time.Hour + time.Second)
		if late := walk[api.ShownAct](t, v, staff(request("", http.MethodGet, "/acts", nil)), 2, "day", day); len(late) != 0 {
			t.Errorf("after a year %d acts are listed", len(late))
		}
	})
}

// TestRequestsOfStaff: recording an act takes no extra database request, because the record joins the transaction of the change.
// Changing one item becomes a transaction. The item is read first if the request does not contain all its fields.
func TestRequestsOfStaff(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "20.00", 5)
	bought, cancelled := buy(t, v, ana, "k", p.ProductID, 1), buy(t, v, ana, "l", p.ProductID, 1)
	product, order := "/products/"+p.ProductID, "/orders/"+bought.OrderID
	v.Requests("putCategory")
	v.Requests("createProduct")
	const write, read = "TransactWriteItems", "GetItem TransactWriteItems"
	for _, c := range []struct {
		operation string
		request   apitest.Request
		want      string
	}{
		{"putCategory", request("", http.MethodPut, "/categories/cafes", object{"name": "Cafés", "description": ""}), write},
		{"createProduct", keyed("", "/products", "p", object{"categoryId": "cafes", "name": "Jarro", "description": "", "price": "30.00", "stock": 1}), write},
		{"putProductActive", request("", http.MethodPut, product+"/active", object{"isActive": true}), read},
		{"restockProduct", keyed("", product+"/restocks", "r", object{"quantity": 1}), write},
		{"payOrder", keyed("", order+"/pay", "y", nil), "BatchGetItem TransactWriteItems"},
		{"shipOrder", request("", http.MethodPost, order+"/ship", nil), read},
		{"deliverOrder", request("", http.MethodPost, order+"/deliver", nil), read},
		{"cancelOrder", keyed("", "/orders/"+cancelled.OrderID+"/cancel", "c", nil), "BatchGetItem Query TransactWriteItems"},
	} {
		if response := v.Do(t, staff(c.request)); response.Status >= http.StatusBadRequest {
			t.Fatalf("%s: %d %s", c.operation, response.Status, response.Body)
		}
		if sent := strings.Join(v.Requests(c.operation), " "); sent != c.want {
			t.Errorf("%s sends %s; want %s", c.operation, sent, c.want)
		}
	}
	// A rejection is recorded by a separate request.
	must[problem.Problem](t, v, staff(request("", http.MethodPost, order+"/ship", nil)), http.StatusConflict)
	if sent := strings.Join(v.Requests("shipOrder"), " "); sent != "GetItem PutItem" {
		t.Errorf("a refused shipOrder sends %s", sent)
	}
}
