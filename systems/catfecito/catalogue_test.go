package catfecito_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

func search(tb testing.TB, v *apitest.Server, name string) []string {
	tb.Helper()
	return names(walk[catfecito.Offer](tb, v, request("", http.MethodGet, "/products", nil), 2, "name", name))
}

// TestSearch: a prefix search matches only the beginning of the name, ignoring case and accents.
func TestSearch(t *testing.T) {
	t.Parallel()
	v := open(t)
	for _, name := range []string{"Café Premium", "CAFÉ", "cafe solo", "Cafetal", "Té verde", "Ñandú", "Nata", "Ángel", "Straße", "Café   doble", "Café #1", "100% Arábica"} {
		stock(t, v, name, "1.00", 1)
	}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"cafe", []string{"CAFÉ", "Café #1", "Café   doble", "Café Premium", "cafe solo", "Cafetal"}},
		{"CAFÉ", []string{"CAFÉ", "Café #1", "Café   doble", "Café Premium", "cafe solo", "Cafetal"}},
		{"cafe\u0301 P", []string{"Café Premium"}},
		{"  café  premium  ", []string{"Café Premium"}},
		{"cafe d", []string{"Café   doble"}},
		{"cafe #", []string{"Café #1"}},
		{"cafe#", nil},
		{"cafe  0", nil}, // nor what follows the name in the key
		{"premium", nil},
		{"n", []string{"Ñandú", "Nata"}}, // nandu, nata
		{"ñ", []string{"Ñandú", "Nata"}},
		{"a", []string{"Ángel"}},
		{"té", []string{"Té verde"}},
		{"straß", []string{"Straße"}},
		{"100%", []string{"100% Arábica"}},
		{"%", nil},
		{"  \u0301 ", []string{"100% Arábica", "Ángel", "CAFÉ", "Café #1", "Café   doble", "Café Premium", "cafe solo", "Cafetal", "Ñandú", "Nata", "Straße", "Té verde"}}, // nothing is left of it
		{"", []string{"100% Arábica", "Ángel", "CAFÉ", "Café #1", "Café   doble", "Café Premium", "cafe solo", "Cafetal", "Ñandú", "Nata", "Straße", "Té verde"}},
	} {
		same(t, fmt.Sprintf("search %q", c.name), search(t, v, c.name), c.want)
	}
}

// TestListsHaveActiveProductsOnly: a product that is off sale appears in no list, and returns under its current name.
func TestListsHaveActiveProductsOnly(t *testing.T) {
	t.Parallel()
	v := open(t)
	a, b := stock(t, v, "Avellana", "1.00", 1), stock(t, v, "Barro", "1.00", 1)
	must[catfecito.Category](t, v, staff(request("", http.MethodPut, "/categories/tazas", object{"name": "Tazas", "description": ""})), http.StatusOK)
	lists := func(what string, all, cafes, tazas []string) {
		t.Helper()
		same(t, what+", all", search(t, v, ""), all)
		same(t, what+", cafes", names(walk[catfecito.Offer](t, v, request("", http.MethodGet, "/categories/cafes/products", nil), 1)), cafes)
		same(t, what+", tazas", names(walk[catfecito.Offer](t, v, request("", http.MethodGet, "/categories/tazas/products", nil), 1)), tazas)
	}
	active := func(is bool) {
		t.Helper()
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+b.ProductID+"/active", object{"isActive": is})), http.StatusOK)
	}
	lists("at first", []string{"Avellana", "Barro"}, []string{"Avellana", "Barro"}, nil)
	active(false)
	lists("taken out", []string{"Avellana"}, []string{"Avellana"}, nil)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+b.ProductID, object{
		"categoryId": "tazas", "name": "Taza de barro", "description": "", "price": "2.00",
	})), http.StatusOK)
	lists("changed while out", []string{"Avellana"}, []string{"Avellana"}, nil)
	active(true)
	lists("put back", []string{"Avellana", "Taza de barro"}, []string{"Avellana"}, []string{"Taza de barro"})
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+a.ProductID, object{
		"categoryId": "tazas", "name": "Zafiro", "description": "", "price": "2.00",
	})), http.StatusOK)
	lists("moved", []string{"Taza de barro", "Zafiro"}, nil, []string{"Taza de barro", "Zafiro"})
	scan(t, v).sound(t)
}

// TestConcurrentProductChanges renames and moves a product, and takes it off and on sale, concurrently and repeatedly. In the end the
// indexes agree with the item.
func TestConcurrentProductChanges(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "1.00", 1)
	must[catfecito.Category](t, v, staff(request("", http.MethodPut, "/categories/tazas", object{"name": "Tazas", "description": ""})), http.StatusOK)
	for round := range 5 {
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				// Some concurrent requests may give up, and say so.
				for _, r := range []apitest.Request{
					staff(request("", http.MethodPut, "/products/"+p.ProductID, object{
						"categoryId": []string{"cafes", "tazas"}[i%2], "name": fmt.Sprintf("Taza %d-%d", round, i), "description": "", "price": "1.00",
					})),
					staff(request("", http.MethodPut, "/products/"+p.ProductID+"/active", object{"isActive": i%2 == 0})),
				} {
					if response := v.Do(t, r); response.Status != http.StatusOK && response.Problem(t).Code != problem.CodeConflict {
						t.Errorf("%s: %d %s", r.Path, response.Status, response.Body)
					}
				}
			})
		}
		all.Wait()
		is := product(t, v, p.ProductID)
		want := map[string][]string{"": nil, "cafes": nil, "tazas": nil}
		if is.IsActive {
			want[""], want[is.CategoryID] = []string{is.Name}, []string{is.Name}
		}
		same(t, "all", search(t, v, ""), want[""])
		for _, category := range []string{"cafes", "tazas"} {
			same(t, category, names(walk[catfecito.Offer](t, v, request("", http.MethodGet, "/categories/"+category+"/products", nil), 5)), want[category])
		}
	}
	scan(t, v).sound(t)
}

// TestCategories: categories are listed by name in natural order: accents and capitals make no difference, and a name comes
// before longer names that begin with it.
func TestCategories(t *testing.T) {
	t.Parallel()
	v := open(t)
	for slug, name := range map[string]string{"a": "Té", "b": "tés fríos", "c": "Ábaco", "d": "Zumos", "e": "TEA", "f": "Té #1", "g": "Té"} {
		must[catfecito.Category](t, v, staff(request("", http.MethodPut, "/categories/"+slug, object{"name": name, "description": slug})), http.StatusOK)
	}
	var got []string
	for _, c := range walk[catfecito.Category](t, v, request("", http.MethodGet, "/categories", nil), 3) {
		got = append(got, c.Name+"/"+c.CategoryID)
	}
	same(t, "categories", got, []string{"Ábaco/c", "Té/a", "Té/g", "Té #1/f", "TEA/e", "tés fríos/b", "Zumos/d"})
}

// TestReplayedProduct: a retry gets the first response, although the product has changed since.
func TestReplayedProduct(t *testing.T) {
	t.Parallel()
	v := open(t)
	must[catfecito.Category](t, v, staff(request("", http.MethodPut, "/categories/cafes", object{"name": "Cafés", "description": ""})), http.StatusOK)
	post := staff(keyed("", "/products", "k", stocked("", nil)))
	responses := together(t, v, []apitest.Request{post, post, post, post, post, post, post, post})
	if n := statuses(responses); n[http.StatusCreated] != 1 || n[http.StatusOK] != 7 {
		t.Errorf("responses %v, want one 201 and seven 200", n)
	}
	var p catfecito.Product
	responses[0].JSON(t, &p)
	at := "/products/" + p.ProductID
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, at, described("price", "99.00"))), http.StatusOK)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, at+"/active", object{"isActive": false})), http.StatusOK)
	must[catfecito.Pieces](t, v, staff(keyed("", at+"/restocks", "r", object{"quantity": 3})), http.StatusCreated)
	if again := v.Do(t, post); again.Status != http.StatusOK || string(again.Body) != string(responses[0].Body) {
		t.Errorf("replayed as %d %s, want 200 %s", again.Status, again.Body, responses[0].Body)
	}
	if now := product(t, v, p.ProductID); now.Price != 9900 || now.Stock != 13 || now.IsActive {
		t.Errorf("the product is %+v", now)
	}
	if s := scan(t, v); len(s.products) != 1 {
		t.Errorf("%d products, want one", len(s.products))
	}
}

// TestConcurrentRestocking: all additions count, and each request counts once.
func TestConcurrentRestocking(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "1.00", 0)
	var requests []apitest.Request
	for i := range 24 {
		requests = append(requests, staff(keyed("", "/products/"+p.ProductID+"/restocks", fmt.Sprint("r-", i%8), object{"quantity": 1 + i%8})))
	}
	for _, r := range together(t, v, requests) {
		if r.Status != http.StatusCreated && r.Status != http.StatusOK {
			t.Errorf("restock: %d %s", r.Status, r.Body)
		}
	}
	if got := product(t, v, p.ProductID).Stock; got != 36 {
		t.Errorf("there are %d, want 1 + 2 + … + 8", got)
	}
}

// TestForeignCursors: a list accepts only its own cursors.
func TestForeignCursors(t *testing.T) {
	t.Parallel()
	v := open(t)
	for i := range 3 {
		stock(t, v, fmt.Sprint("Taza ", i), "1.00", 1)
	}
	next := must[page[catfecito.Offer]](t, v, request("", http.MethodGet, "/products?limit=1", nil), http.StatusOK).Next
	if next == "" || strings.Contains(next, "taza") {
		t.Errorf("the cursor is %q", next)
	}
	for _, path := range []string{"/products?name=taza", "/categories/cafes/products?", "/categories?"} {
		refused(t, v, request("", http.MethodGet, path+"&cursor="+next, nil), http.StatusBadRequest, problem.CodeInvalidCursor)
	}
	of, other := stock(t, v, "Molino", "1.00", 1), stock(t, v, "Jarro", "1.00", 1)
	for _, who := range []string{ana, bruno} {
		put(t, v, who, of.ProductID, 1)
		put(t, v, who, other.ProductID, 1)
	}
	must[catfecito.Pieces](t, v, staff(keyed("", "/products/"+of.ProductID+"/restocks", "r", object{"quantity": 1})), http.StatusCreated)
	v.Deliver(t)
	for _, path := range []string{"/products/%s/carts", "/audit/PRODUCT/%s"} {
		list := staff(request("", http.MethodGet, fmt.Sprintf(path, of.ProductID)+"?limit=1", nil))
		next := must[page[object]](t, v, list, http.StatusOK).Next
		if next == "" {
			t.Errorf("%s has one page", list.Path)
		}
		list.Path = apitest.Query(fmt.Sprintf(path, other.ProductID), "cursor", next)
		refused(t, v, list, http.StatusBadRequest, problem.CodeInvalidCursor)
	}
}

// TestStaleIfMatchIsRejected: two members of staff who have read a product do not overwrite each other's changes. A sale in between does
// not count as a change.
func TestStaleIfMatchIsRejected(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "1.00", 5)
	read := v.Do(t, request("", http.MethodGet, "/products/"+p.ProductID, nil)).Header.Get("ETag")
	restock := staff(request("", http.MethodPost, "/products/"+p.ProductID+"/restocks", object{"quantity": 1}))
	restock.Key = "restock-1"
	must[catfecito.Pieces](t, v, restock, http.StatusCreated)
	change := func(match, name string) *apitest.Response {
		r := staff(request("", http.MethodPut, "/products/"+p.ProductID, object{"categoryId": "cafes", "name": name, "description": "", "price": "1.00"}))
		r.Header = map[string]string{"If-Match": match}
		return v.Do(t, r)
	}
	first := change(read, "Taza azul")
	if first.Status != http.StatusOK {
		t.Fatalf("%d %s", first.Status, first.Body)
	}
	if second := change(read, "Taza roja"); second.Status != http.StatusPreconditionFailed || second.Problem(t).Code != problem.CodeChanged {
		t.Errorf("a stale update: %d %s", second.Status, second.Body)
	}
	if third := change(first.Header.Get("ETag"), "Taza verde"); third.Status != http.StatusOK {
		t.Errorf("an update after rereading: %d %s", third.Status, third.Body)
	}
	if is := product(t, v, p.ProductID); is.Name != "Taza verde" || is.Stock != 6 {
		t.Errorf("it is %+v", is)
	}
}

// TestNamesThatGrow: a name that is longer without its accents and ligatures is listed like others, and does not stop what
// follows the stream: refunds, the audit trail and the lists.
func TestNamesThatGrow(t *testing.T) {
	t.Parallel()
	v := open(t)
	rename := func(id, name string) {
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+id, object{
			"categoryId": "cafes", "name": name, "description": "", "price": "1.00",
		})), http.StatusOK)
	}
	// In a key the first has four bytes for each character, but twelve when it is decomposed and composed again. The second has
	// 33 in a key; a product with such a name cannot be put on sale.
	stock(t, v, strings.Repeat("\U0001D160", 100), "1.00", 1)
	off := stock(t, v, "Off", "1.00", 1)
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+off.ProductID+"/active", object{"isActive": false})), http.StatusOK)
	rename(off.ProductID, strings.Repeat("\ufdfa", 100))
	stock(t, v, "Caﬁno H₂O", "1.00", 1)
	v.Deliver(t)
	if shelf := must[page[catfecito.Product]](t, v, staff(request("", http.MethodGet, "/desk/products", nil)), http.StatusOK); len(shelf.Items) != 3 {
		t.Errorf("%d of 3 products on the shelf: %+v", len(shelf.Items), shelf.Items)
	}
	for _, query := range []string{"name=cafino", "q=cafino", "q=h2o", "q=ﬁ", "q=caﬁ"} {
		want := []string{"Caﬁno H₂O"}
		if query == "q=ﬁ" {
			want = []string{} // no word begins with it
		}
		same(t, query, names(must[page[catfecito.Offer]](t, v, request("", http.MethodGet, "/products?"+query, nil), http.StatusOK).Items), want)
	}
}

// TestRenamesOutOfOrder: records that are handled after later ones, as when failed batches are redriven, leave the lists as they are.
func TestRenamesOutOfOrder(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Alfa", "1.00", 1)
	for _, name := range []string{"Beta", "Alfa"} {
		must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{
			"categoryId": "cafes", "name": name, "description": "", "price": "1.00",
		})), http.StatusOK)
	}
	must[catfecito.Product](t, v, staff(request("", http.MethodPut, "/products/"+p.ProductID+"/active", object{"isActive": false})), http.StatusOK)
	v.Deliver(t)
	follow := v.Host.Service(catfecito.Name).Streams[0]
	for _, batch := range v.Batches(t, follow.Table) {
		all := batch.Records
		for i := range all { // each record alone, in the order in which they were made, after all of them
			batch.Records = all[i : i+1]
			if batch.Records[0].EventName != "MODIFY" {
				continue
			}
			if err := follow.Handle(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			shelf := must[page[catfecito.Product]](t, v, staff(request("", http.MethodGet, "/desk/products", nil)), http.StatusOK)
			if len(shelf.Items) != 1 {
				t.Errorf("after record %d of %d the shelf has %+v", i, len(all), shelf.Items)
			}
		}
	}
}
