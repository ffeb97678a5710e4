package catfecito_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// The document's access patterns. Each is called through the API, and must make the document's database request, unless that
// request cannot serve its purpose.

// userLines are sections 1.1 and 1.2.
func (d *document) userLines() []apitest.Line {
	return []apitest.Line{
		{Says: "1.1 Obtener usuario por ID", Holds: func(t *testing.T) {
			t.Helper()
			if u := must[catfecito.User](t, d.v, request(d.juan.UserID, http.MethodGet, "/me", nil), http.StatusOK); u != d.juan {
				t.Errorf("shown %+v, want %+v", u, d.juan)
			}
			d.v.ExpectAsked(t, "getOwnUser", "USER#"+d.juan.UserID, "GetItem")
		}},
		{Says: "1.2 Buscar usuario por email (GSI2)", Instead: "a marker in the table: one address is one user's, in capitals or not, and is found at once", Holds: func(t *testing.T) {
			t.Helper()
			for _, address := range []string{"Juan@mail.com", "JUAN@mail.com"} {
				if u := must[catfecito.User](t, d.v, staff(request("", http.MethodGet, "/desk/users?email="+address, nil)), http.StatusOK); u.UserID != d.juan.UserID {
					t.Errorf("%s is %+v", address, u)
				}
			}
			d.v.ExpectAsked(t, "findUser", "EMAIL#juan@mail.com", "GetItem")
			refused(t, d.v, keyed("", "/users", "another", object{"email": "JUAN@mail.com", "name": "Juana", "password": password}), http.StatusConflict, "email_taken")
		}},
	}
}

// catalogueLines are sections 2.1 to 3.2.
func (d *document) catalogueLines() []apitest.Line {
	return []apitest.Line{
		{Says: "2.1 Obtener todos los productos activos", Instead: "a Query of those that are sold, not a Scan of everything", Holds: func(t *testing.T) {
			t.Helper()
			got := search(t, d.v, "")
			if slices.Contains(got, "Café viejo") || slices.Index(got, "Café Premium") < 0 || slices.Index(got, "Taza") < slices.Index(got, "Café Premium") {
				t.Errorf("sold is %q", got)
			}
			d.v.ExpectAsked(t, "listProducts", "CATALOG", "Query GSI2")
			d.v.Never(t, "Scan")
		}},
		{Says: "2.2 Obtener productos por categoría (GSI1)", Instead: "the entries are those of what is sold: nothing is read to be filtered out", Holds: func(t *testing.T) {
			t.Helper()
			must[catfecito.Category](t, d.v, staff(request("", http.MethodPut, "/categories/panes", object{"name": "Panes", "description": ""})), http.StatusOK)
			must[catfecito.Product](t, d.v, staff(keyed("", "/products", "pan", object{"categoryId": "panes", "name": "Pan", "description": "", "price": "1.00", "stock": 1})), http.StatusCreated)
			same(t, "panes", names(walk[catfecito.Offer](t, d.v, request("", http.MethodGet, "/categories/panes/products", nil), 1)), []string{"Pan"})
			d.v.ExpectAsked(t, "listCategoryProducts", "CATEGORY#panes", "Query GSI1")
		}},
		{Says: "2.3 Buscar producto por nombre (GSI2)", Instead: "the beginning is of the sort key, the names are folded on both sides", Holds: func(t *testing.T) {
			t.Helper()
			for _, term := range []string{"cafe pre", "CAFÉ PRE", "Café Premium"} {
				same(t, term, search(t, d.v, term), []string{"Café Premium"})
			}
			same(t, "premium", search(t, d.v, "premium"), nil)
			d.v.ExpectAsked(t, "listProducts", "CATALOG", "Query GSI2")
		}},
		{Says: "3.1 Obtener todas las categorías", Instead: "a Query of their partition in GSI1, by name, not a Scan", Holds: func(t *testing.T) {
			t.Helper()
			must[catfecito.Category](t, d.v, staff(request("", http.MethodPut, "/categories/aguas", object{"name": "Águas", "description": ""})), http.StatusOK)
			var got []string
			for _, c := range must[page[catfecito.Category]](t, d.v, request("", http.MethodGet, "/categories", nil), http.StatusOK).Items {
				got = append(got, c.CategoryID)
			}
			if len(got) < 2 || got[0] != "aguas" || got[1] != "cafes" {
				t.Errorf("the categories are %q", got)
			}
			d.v.ExpectAsked(t, "listCategories", "CATEGORIES", "Query GSI1")
		}},
		{Says: "3.2 Obtener categoría por ID (slug)", Holds: func(t *testing.T) {
			t.Helper()
			if c := must[catfecito.Category](t, d.v, request("", http.MethodGet, "/categories/cafes", nil), http.StatusOK); c.CategoryID != "cafes" || c.Name != "Cafés" {
				t.Errorf("shown %+v", c)
			}
			refused(t, d.v, request("", http.MethodGet, "/categories/no-hay", nil), http.StatusNotFound, problem.CodeNotFound)
			d.v.ExpectAsked(t, "getCategory", "CATEGORY#cafes", "GetItem")
		}},
	}
}

// cartLines are sections 4.1 to 4.3.
func (d *document) cartLines() []apitest.Line {
	pieces := func(t *testing.T, sub string) map[string]int64 {
		t.Helper()
		found := map[string]int64{}
		for _, l := range cart(t, d.v, sub).Items {
			found[l.Name] = l.Quantity
		}
		return found
	}
	return []apitest.Line{
		{Says: "4.1 Obtener carrito del usuario", Instead: "with the products as they are now, in a batch", Holds: func(t *testing.T) {
			t.Helper()
			if got := pieces(t, ana); len(got) != 2 || got["Café Premium"] != 2 || got["Taza"] != 1 {
				t.Errorf("the cart has %v", got)
			}
			d.v.ExpectAsked(t, "getCart", "USER#"+ana, "Query")
			d.v.ExpectAsked(t, "getCart", "PRODUCT#"+d.premium.ProductID, "BatchGetItem")
		}},
		{Says: "4.2 Agregar producto al carrito", Instead: "it adds to what is there, once for each request key; only what is sold can be added", Holds: func(t *testing.T) {
			t.Helper()
			add := func(key, productID string) apitest.Request {
				return keyed("u-adds", "/cart/items", key, object{"productId": productID, "quantity": 2})
			}
			must[catfecito.Pieces](t, d.v, add("k-1", d.cup.ProductID), http.StatusCreated)
			must[catfecito.Pieces](t, d.v, add("k-1", d.cup.ProductID), http.StatusOK)
			must[catfecito.Pieces](t, d.v, add("k-2", d.cup.ProductID), http.StatusCreated)
			refused(t, d.v, add("k-3", d.gone.ProductID), http.StatusConflict, "product_unavailable")
			if got := pieces(t, "u-adds"); len(got) != 1 || got["Taza"] != 4 {
				t.Errorf("the cart has %v, want four cups", got)
			}
			has(t, d.item(t, "USER#u-adds", "CART#"+d.cup.ProductID), map[string]string{"GSI1PK": "PRODUCT#" + d.cup.ProductID, "GSI1SK": "USER#u-adds", "quantity": "4"})
		}},
		{Says: "4.3 Eliminar item del carrito", Holds: func(t *testing.T) {
			t.Helper()
			put(t, d.v, "u-removes", d.cup.ProductID, 3)
			for range 2 {
				must[any](t, d.v, request("u-removes", http.MethodDelete, "/cart/items/"+d.cup.ProductID, nil), http.StatusNoContent)
			}
			if got := pieces(t, "u-removes"); len(got) != 0 {
				t.Errorf("the cart has %v", got)
			}
			d.v.ExpectAsked(t, "removeFromCart", "USER#u-removes", "DeleteItem")
		}},
	}
}

// orderLines are sections 5.1 to 5.3.
func (d *document) orderLines() []apitest.Line {
	left := func(t *testing.T, productID string) int64 { t.Helper(); return product(t, d.v, productID).Stock }
	checkout := func(sub, key, total string) apitest.Request {
		return keyed(sub, "/orders", key, object{"total": total})
	}
	return []apitest.Line{
		{Says: "5.1 Crear orden (con items)", Instead: "the total is the agreed one, each line is as it stands in the cart, and a repeated request makes no second order", Holds: func(t *testing.T) {
			t.Helper()
			beans, cups := left(t, d.premium.ProductID), left(t, d.cup.ProductID)
			put(t, d.v, "u-buys", d.premium.ProductID, 2)
			put(t, d.v, "u-buys", d.cup.ProductID, 1)
			created := must[catfecito.WholeOrder](t, d.v, checkout("u-buys", "k", "3500.00"), http.StatusCreated)
			if again := must[catfecito.WholeOrder](t, d.v, checkout("u-buys", "k", "3500.00"), http.StatusOK); again.OrderID != created.OrderID {
				t.Errorf("a second order %s", again.OrderID)
			}
			if created.Status != "pending" || created.Total != 350000 || len(created.Items) != 2 || left(t, d.premium.ProductID) != beans-2 || left(t, d.cup.ProductID) != cups-1 || len(cart(t, d.v, "u-buys").Items) != 0 {
				t.Errorf("created %+v", created)
			}
			scan(t, d.v).sound(t)
		}},
		{Says: "Todo o nada (atomicidad)", Holds: func(t *testing.T) {
			t.Helper()
			rare := stock(t, d.v, "Molino", "10.00", 1)
			cups := left(t, d.cup.ProductID)
			put(t, d.v, "u-whole", d.cup.ProductID, 1)
			put(t, d.v, "u-whole", rare.ProductID, 2)
			refused(t, d.v, checkout("u-whole", "k", "520.00"), http.StatusConflict, "out_of_stock")
			orders := walk[catfecito.Order](t, d.v, request("u-whole", http.MethodGet, "/orders", nil), 10)
			if len(orders) != 0 || left(t, d.cup.ProductID) != cups || left(t, rare.ProductID) != 1 || len(cart(t, d.v, "u-whole").Items) != 2 {
				t.Errorf("half of it was done: %+v", orders)
			}
		}},
		{Says: "Máximo 100 operaciones por transacción", Instead: "a cart has 32 products at most: each takes three operations, the order and its records three more", Holds: func(t *testing.T) {
			t.Helper()
			for i := range 32 {
				put(t, d.v, "u-full", stock(t, d.v, fmt.Sprint("Surtido ", i), "1.00", 1).ProductID, 1)
			}
			refused(t, d.v, request("u-full", http.MethodPut, "/cart/items/"+d.cup.ProductID, object{"quantity": 1}), http.StatusConflict, "cart_full")
			if o := must[catfecito.WholeOrder](t, d.v, checkout("u-full", "k", "32.00"), http.StatusCreated); len(o.Items) != 32 {
				t.Errorf("an order of %d products", len(o.Items))
			}
		}},
		{Says: "Consistencia garantizada", Holds: func(t *testing.T) {
			t.Helper()
			p := stock(t, d.v, "Jarro", "10.00", 5)
			put(t, d.v, "u-agrees", p.ProductID, 1)
			must[catfecito.Product](t, d.v, staff(request("", http.MethodPut, "/products/"+p.ProductID, object{"categoryId": "cafes", "name": "Jarro", "description": "", "price": "12.00"})), http.StatusOK)
			if r := d.v.Do(t, checkout("u-agrees", "k", "10.00")); r.Status != http.StatusConflict {
				t.Errorf("the old price: %d %s", r.Status, r.Body)
			}
			if o := must[catfecito.WholeOrder](t, d.v, checkout("u-agrees", "k-2", "12.00"), http.StatusCreated); o.Total != 1200 {
				t.Errorf("ordered %+v", o)
			}
			scan(t, d.v).sound(t)
		}},
		{Says: "5.2 Obtener órdenes del usuario", Instead: "newest first, since the key begins with the time", Holds: func(t *testing.T) {
			t.Helper()
			var want []string
			for i := range 3 {
				want = slices.Insert(want, 0, buy(t, d.v, "u-lists", fmt.Sprint("k-", i), d.cup.ProductID, 1).OrderID)
				d.v.Clock.Advance(time.Second)
			}
			must[catfecito.Order](t, d.v, staff(keyed("", "/orders/"+want[2]+"/pay", "k", nil)), http.StatusOK)
			orders := walk[catfecito.Order](t, d.v, request("u-lists", http.MethodGet, "/orders", nil), 2)
			var got []string
			for _, o := range orders {
				got = append(got, o.OrderID)
			}
			if same(t, "orders", got, want); orders[2].Status != "paid" || orders[1].Status != "pending" || orders[2].Total != 50000 {
				t.Errorf("shown %+v", orders)
			}
			d.v.ExpectAsked(t, "listOrders", "USER#u-lists", "Query")
		}},
		{Says: "5.3 Obtener orden completa (metadata + items)", Holds: func(t *testing.T) {
			t.Helper()
			at := "/orders/" + d.order.OrderID
			o := must[catfecito.WholeOrder](t, d.v, request(d.juan.UserID, http.MethodGet, at, nil), http.StatusOK)
			if o.Total != 350000 || o.UserID != d.juan.UserID || len(o.Items) != 2 {
				t.Errorf("shown %+v", o)
			}
			if found := d.v.Query(t, d.table(), "", "PK = :pk", map[string]string{":pk": "ORDER#" + d.order.OrderID}); len(found) != 3 {
				t.Errorf("under the order is %v", found)
			}
			d.v.ExpectAsked(t, "getOrder", "ORDER#"+d.order.OrderID, "Query")
			refused(t, d.v, request(ana, http.MethodGet, "/orders/"+d.others.OrderID, nil), http.StatusForbidden, problem.CodeForbidden)
		}},
	}
}

// comparedLines are the comparison with SQL: one request each.
func (d *document) comparedLines() []apitest.Line {
	return []apitest.Line{
		{Says: "Obtener usuario por ID | SELECT FROM users WHERE id = ? | GetItem(PK=USER#id, SK=METADATA)", Holds: func(t *testing.T) {
			t.Helper()
			u := must[catfecito.User](t, d.v, staff(request("", http.MethodGet, "/users/"+d.juan.UserID, nil)), http.StatusOK)
			if has(t, d.item(t, "USER#"+d.juan.UserID, "METADATA"), map[string]string{"email": u.Email, "name": u.Name}); u.UserID != d.juan.UserID {
				t.Errorf("shown %+v", u)
			}
			d.v.ExpectAsked(t, "getUser", "USER#"+d.juan.UserID, "GetItem")
		}},
		{Says: "Login (por email) | SELECT FROM users WHERE email = ? | Query(GSI2PK=EMAIL#email)", Instead: "GetItem of the address's marker, then of the user and of the hash", Holds: func(t *testing.T) {
			t.Helper()
			who := must[catfecito.User](t, d.v, keyed("", "/users", "logs-in", object{"email": "eva@mail.com", "name": "Eva", "password": password}), http.StatusCreated)
			session := must[catfecito.Session](t, d.v, request("", http.MethodPost, "/login", object{"email": "EVA@mail.com", "password": password}), http.StatusOK)
			if session.User.UserID != who.UserID {
				t.Errorf("logged in as %+v", session.User)
			}
			refused(t, d.v, request("", http.MethodPost, "/login", object{"email": "eva@mail.com", "password": "un té con leche"}), http.StatusUnauthorized, "wrong_credentials")
			if got := d.v.Asked("logIn", "EMAIL#eva@mail.com"); !slices.Contains(got, "GetItem") || slices.ContainsFunc(got, func(a string) bool { return a != "GetItem" && a != "UpdateItem" && a != "DeleteItem" }) {
				t.Errorf("the address is asked for by %v", got)
			}
		}},
		{Says: "Productos de categoría | SELECT FROM products WHERE category_id = ? AND is_active = true | Query(GSI1PK=CATEGORY#id, FilterExpression)", Instead: "without a filter: what is not sold has no entry", Holds: func(t *testing.T) {
			t.Helper()
			got := names(walk[catfecito.Offer](t, d.v, request("", http.MethodGet, "/categories/cafes/products", nil), 50))
			if !slices.Contains(got, "Taza") || slices.Contains(got, "Café viejo") {
				t.Errorf("sold of cafes is %q", got)
			}
			for _, it := range d.v.Query(t, d.table(), "GSI1", "GSI1PK = :pk", map[string]string{":pk": "CATEGORY#cafes"}) {
				if it["product_id"] == d.gone.ProductID {
					t.Errorf("the index has %v", it)
				}
			}
		}},
		{Says: "Orden con items | SELECT ... FROM orders JOIN order_items ON ... JOIN products ON ... | Query(PK=ORDER#id) (1 query, sin JOINs)", Holds: func(t *testing.T) {
			t.Helper()
			created := buy(t, d.v, "u-joins", "k", d.cup.ProductID, 1)
			o := must[catfecito.WholeOrder](t, d.v, request("u-joins", http.MethodGet, "/orders/"+created.OrderID, nil), http.StatusOK)
			if len(o.Items) != 1 || o.Items[0].Name != "Taza" {
				t.Errorf("shown %+v", o)
			}
			d.v.ExpectAsked(t, "getOrder", "ORDER#"+created.OrderID, "Query")
			if got := d.v.Asked("getOrder", "PRODUCT#"+d.cup.ProductID); got != nil {
				t.Errorf("the product is asked for by %v", got)
			}
		}},
		{Says: "Crear orden + decrementar stock | BEGIN; INSERT...; UPDATE...; COMMIT; | TransactWriteCommand([Put, Update])", Holds: func(t *testing.T) {
			t.Helper()
			o := buy(t, d.v, "u-commits", "k", d.cup.ProductID, 1)
			for partition, want := range map[string]string{"ORDER#" + o.OrderID: "PutItem", "PRODUCT#" + d.cup.ProductID: "UpdateItem"} {
				if got := d.v.Asked("checkout", partition); !slices.Contains(got, want) {
					t.Errorf("the checkout does %v to %s, want %s", got, partition, want)
				}
			}
		}},
	}
}
