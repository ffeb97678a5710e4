package catfecito_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

func categoryCases() []apitest.Case {
	put := staff(request("", http.MethodPut, "/categories/cafes", object{"name": "Cafés", "description": "Granos"}))
	bad := staff(request("", http.MethodPut, "/categories/Caf%C3%A9s", object{"name": "Cafés", "description": "Granos"}))
	again := staff(request("", http.MethodPut, "/categories/cafes", object{"name": "CAFES!", "description": ""}))
	again.Header = map[string]string{"If-None-Match": "*"}
	fresh := staff(request("", http.MethodPut, "/categories/panes", object{"name": "Panes", "description": ""}))
	fresh.Header = again.Header
	otherMatch := staff(request("", http.MethodPut, "/categories/panes", object{"name": "Panes", "description": ""}))
	otherMatch.Header = map[string]string{"If-None-Match": `"x"`}
	get := request("", http.MethodGet, "/categories/cafes", nil)
	is := func(name, description string) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			want := catfecito.Category{CategoryID: "cafes", Name: name, Description: description}
			var c catfecito.Category
			if r.JSON(tb, &c); c != want {
				tb.Errorf("got %+v, want %+v", c, want)
			}
		}
	}
	list := []apitest.Case{
		{Name: "none yet", Request: get, Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "made", Request: put, Status: http.StatusOK, Check: is("Cafés", "Granos")},
		{Name: "made twice", Request: again, Status: http.StatusConflict, Code: problem.CodeExists},
		{Name: "read", Request: get, Status: http.StatusOK, Check: is("Cafés", "Granos")},
		{Name: "made if new", Request: fresh, Status: http.StatusOK},
		{Name: "made if another version", Request: otherMatch, Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "header.If-None-Match"},
		{Name: "changed", Request: staff(request("", http.MethodPut, "/categories/cafes", object{"name": "Café", "description": "Granos y molidos"})), Status: http.StatusOK, Check: is("Café", "Granos y molidos")},
		{Name: "empty description", Request: staff(request("", http.MethodPut, "/categories/tazas", object{"name": "Tazas", "description": ""})), Status: http.StatusOK},
		{Name: "no slug", Request: bad, Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "path.categoryId"},
		badQuery("no slug to read", request("", http.MethodGet, "/categories/-", nil), "", "path.categoryId"),
		badQuery("long slug", request("", http.MethodGet, "/categories/"+strings.Repeat("a", 61), nil), "", "path.categoryId"),
		badQuery("no slug of products", request("", http.MethodGet, "/categories/CAFES/products", nil), "", "path.categoryId"),
		invalid("no name", put, object{"description": ""}, "body"),
		invalid("empty name", put, object{"name": "", "description": ""}, "body.name"),
		invalid("long name", put, object{"name": strings.Repeat("n", 101), "description": ""}, "body.name"),
		invalid("name with a tab", put, object{"name": "Ca\tfés", "description": ""}, "body.name"),
		invalid("long description", put, object{"name": "Cafés", "description": strings.Repeat("d", 2001)}, "body.description"),
		invalid("another field", put, object{"name": "Cafés", "description": "", "categoryId": "tes"}, "body.categoryId"),
		{Name: "name that is long in keys", Request: staff(request("", http.MethodPut, "/categories/cafes", object{"name": strings.Repeat("\uFDFA", 100), "description": ""})), Status: http.StatusBadRequest, Code: problem.CodeInvalidValue},
	}
	list = append(list, pages(request("", http.MethodGet, "/categories", nil))...)
	return append(list, pages(request("", http.MethodGet, "/categories/cafes/products", nil))...)
}

// described returns a product's body with one field changed; nil omits the field.
func described(field string, value any) object {
	body := object{"categoryId": "cafes", "name": "Café Premium", "description": "Tueste medio", "price": "35.00", "imageUrl": "https://example.com/1.jpg"}
	if field != "" {
		if body[field] = value; value == nil {
			delete(body, field)
		}
	}
	return body
}

// stocked is described with a stock.
func stocked(field string, value any) object {
	body := described(field, value)
	if _, given := body["stock"]; !given && field != "stock" {
		body["stock"] = 10
	}
	return body
}

func productRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	v.Run(t, createProductCases(t))
	p := stock(t, v, "Café de Olla", "12.50", 3)
	v.Run(t, productCases(p))
	v.Run(t, restockCases(t, v, p))
	v.Run(t, []apitest.Case{
		{Name: "search", Request: request("", http.MethodGet, apitest.Query("/products", "name", "CAFÉ DE"), nil), Status: http.StatusOK},
		badQuery("long search", request("", http.MethodGet, "/products", nil), "?name="+strings.Repeat("n", 101), "query.name"),
		badQuery("no product of carts", staff(request("", http.MethodGet, "/products/x/carts", nil)), "", "path.productId"),
	})
	v.Run(t, pages(request("", http.MethodGet, "/products", nil)))
	v.Run(t, pages(staff(request("", http.MethodGet, "/products/"+p.ProductID+"/carts", nil))))
}

func createProductCases(t *testing.T) []apitest.Case {
	t.Helper()
	post := staff(keyed("", "/products", "p-1", stocked("", nil)))
	var first []byte
	list := []apitest.Case{
		{Name: "made", Request: post, Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			first = r.Body
			var p catfecito.Product
			r.JSON(tb, &p)
			if p.Price != 3500 || p.Stock != 10 || !p.IsActive || p.Name != "Café Premium" || *p.ImageURL != "https://example.com/1.jpg" {
				tb.Errorf("created %s", r.Body)
			}
			if at := r.Header.Get("Location"); at != "products/"+p.ProductID {
				tb.Errorf("Location is %q", at)
			}
			if !strings.Contains(string(r.Body), `"price":"35.00"`) {
				tb.Errorf("the price is no text with two decimals: %s", r.Body)
			}
		}},
		{Name: "replayed", Request: post, Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if string(r.Body) != string(first) {
				tb.Errorf("the second response is %s, the first was %s", r.Body, first)
			}
		}},
		{Name: "key of another product", Request: staff(keyed("", "/products", "p-1", stocked("price", "35.01"))), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "key of somebody else's", Request: apitest.Request{Method: http.MethodPost, Path: "/products", As: "u-2", Groups: []string{catfecito.AdminGroup}, Key: "p-1", Body: stocked("name", "Café Segundo")}, Status: http.StatusCreated},
		{Name: "without a picture", Request: staff(keyed("", "/products", "p-2", stocked("imageUrl", nil))), Status: http.StatusCreated},
		{Name: "no such category", Request: staff(keyed("", "/products", "p-3", stocked("categoryId", "nada"))), Status: http.StatusConflict, Code: "no_such_category"},
		invalid("no JSON", post, `{"name":`, ""),
		invalid("no body", post, nil, ""),
		invalid("no stock", post, stocked("stock", nil), "body"),
		invalid("negative stock", post, stocked("stock", -1), "body.stock"),
		invalid("too much stock", post, stocked("stock", 1_000_001), "body.stock"),
		invalid("half a piece", post, stocked("stock", 1.5), "body.stock"),
		invalid("no name", post, stocked("name", nil), "body"),
		invalid("empty name", post, stocked("name", ""), "body.name"),
		invalid("long name", post, stocked("name", strings.Repeat("n", 101)), "body.name"),
		invalid("name with a control character", post, stocked("name", "a\x01"), "body.name"),
		invalid("long description", post, stocked("description", strings.Repeat("d", 2001)), "body.description"),
		invalid("no slug", post, stocked("categoryId", "Cafés"), "body.categoryId"),
		invalid("no URL", post, stocked("imageUrl", "javascript:alert(1)"), "body.imageUrl"),
		invalid("long URL", post, stocked("imageUrl", "https://example.com/"+strings.Repeat("u", 500)), "body.imageUrl"),
		invalid("another's id", post, stocked("productId", nowhere), "body.productId"),
	}
	for name, price := range map[string]any{
		"number": 35, "fraction": 35.5, "one decimal": "35.5", "no decimals": "35", "comma": "35,00", "negative": "-35.00", "leading zero": "035.00",
		"too much": "1000000000.00", "far too much": "99999999999999999999.00", "exponent": "1e3", "no amount": "", "none": nil,
	} {
		field := "body.price"
		if price == nil {
			field = "body"
		}
		list = append(list, invalid("price: "+name, post, stocked("price", price), field))
	}
	return append(list, badKeys(post)...)
}

func productCases(p catfecito.Product) []apitest.Case {
	at := "/products/" + p.ProductID
	put := staff(request("", http.MethodPut, at, described("", nil)))
	active := staff(request("", http.MethodPut, at+"/active", object{"isActive": false}))
	is := func(change func(*catfecito.Product)) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			change(&p)
			var got catfecito.Product
			r.JSON(tb, &got)
			if (got.ImageURL == nil) != (p.ImageURL == nil) || got.ImageURL != nil && *got.ImageURL != *p.ImageURL {
				tb.Errorf("the picture is %v, want %v", got.ImageURL, p.ImageURL)
			}
			if (got.ChangedAt == nil) != (p.ChangedAt == nil) {
				tb.Errorf("it was changed at %v, want %v", got.ChangedAt, p.ChangedAt)
			}
			if got.ImageURL, got.ChangedAt = p.ImageURL, p.ChangedAt; got != p {
				tb.Errorf("got %+v, want %+v", got, p)
			}
		}
	}
	picture := "https://example.com/1.jpg"
	return []apitest.Case{
		{Name: "read", Request: request("", http.MethodGet, at, nil), Status: http.StatusOK, Check: is(func(*catfecito.Product) {})},
		{Name: "changed", Request: put, Status: http.StatusOK, Check: is(func(p *catfecito.Product) {
			p.Name, p.Description, p.Price, p.ImageURL, p.ChangedAt = "Café Premium", "Tueste medio", 3500, &picture, &p.CreatedAt
		})},
		{Name: "not sold any more", Request: active, Status: http.StatusOK, Check: is(func(p *catfecito.Product) { p.IsActive = false })},
		{Name: "again", Request: active, Status: http.StatusOK, Check: is(func(*catfecito.Product) {})},
		{Name: "changed though not sold", Request: staff(request("", http.MethodPut, at, described("imageUrl", nil))), Status: http.StatusOK, Check: is(func(p *catfecito.Product) { p.ImageURL = nil })},
		{Name: "sold again", Request: staff(request("", http.MethodPut, at+"/active", object{"isActive": true})), Status: http.StatusOK, Check: is(func(p *catfecito.Product) { p.IsActive = true })},
		{Name: "read again", Request: request("", http.MethodGet, at, nil), Status: http.StatusOK, Check: is(func(*catfecito.Product) {})},
		{Name: "nothing there", Request: request("", http.MethodGet, "/products/"+nowhere, nil), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "nothing to change", Request: staff(request("", http.MethodPut, "/products/"+nowhere, described("", nil))), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "nothing to sell", Request: staff(request("", http.MethodPut, "/products/"+nowhere+"/active", object{"isActive": true})), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "no such category", Request: staff(request("", http.MethodPut, at, described("categoryId", "nada"))), Status: http.StatusConflict, Code: "no_such_category"},
		badQuery("no id", request("", http.MethodGet, "/products/1", nil), "", "path.productId"),
		badQuery("id in capitals", request("", http.MethodGet, "/products/"+strings.ToUpper(nowhere), nil), "", "path.productId"),
		badQuery("no id to change", staff(request("", http.MethodPut, "/products/1", described("", nil))), "", "path.productId"),
		invalid("stock is not changed so", put, stocked("", nil), "body.stock"),
		invalid("price as a number", put, described("price", 35), "body.price"),
		invalid("nothing to set", active, object{}, "body"),
		invalid("neither true nor false", active, object{"isActive": "no"}, "body.isActive"),
	}
}

func restockCases(t *testing.T, v *apitest.Server, p catfecito.Product) []apitest.Case {
	t.Helper()
	path := "/products/" + p.ProductID + "/restocks"
	post := staff(keyed("", path, "r-1", object{"quantity": 5}))
	stock := func(want int64) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var created catfecito.Pieces
			if r.JSON(tb, &created); created != (catfecito.Pieces{ProductID: p.ProductID, Quantity: 5}) {
				tb.Errorf("got %+v, want 5 of %s", created, p.ProductID)
			}
			if got := product(tb, v, p.ProductID).Stock; got != want {
				tb.Errorf("there are %d, want %d", got, want)
			}
		}
	}
	list := []apitest.Case{
		{Name: "restocked", Request: post, Status: http.StatusCreated, Check: stock(8)},
		{Name: "replayed", Request: post, Status: http.StatusOK, Check: stock(8)},
		{Name: "key of another number", Request: staff(keyed("", path, "r-1", object{"quantity": 6})), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "key of another product", Request: staff(keyed("", "/products/"+nowhere+"/restocks", "r-1", object{"quantity": 5})), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "restocked again", Request: staff(keyed("", path, "r-2", object{"quantity": 5})), Status: http.StatusCreated, Check: stock(13)},
		{Name: "nothing there", Request: staff(keyed("", "/products/"+nowhere+"/restocks", "r-3", object{"quantity": 5})), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		invalid("none", post, object{"quantity": 0}, "body.quantity"),
		invalid("negative", post, object{"quantity": -5}, "body.quantity"),
		invalid("too many", post, object{"quantity": 1_000_001}, "body.quantity"),
		invalid("a text", post, object{"quantity": "5"}, "body.quantity"),
		invalid("no number", post, object{}, "body"),
		badQuery("no id", staff(keyed("", "/products/1/restocks", "r-1", object{"quantity": 5})), "", "path.productId"),
	}
	return append(list, badKeys(post)...)
}
