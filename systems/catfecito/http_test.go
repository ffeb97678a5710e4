package catfecito_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/mail/mailtest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// TestRoutes calls every operation with valid and invalid input over each transport.
func TestRoutes(t *testing.T) {
	t.Parallel()
	post := mailtest.Start(t)
	o := catFecito()
	var err error
	if o.Mail, err = mail.FromURL(post.URL, letterhead); err != nil {
		t.Fatal(err)
	}
	apitest.Each(t, catfecito.System(o), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v, post)
		v.Clock.Advance(time.Hour)
		v.Tick(t)
		scan(t, v).sound(t)
	})
}

// routes calls every operation with valid and invalid input.
func routes(t *testing.T, v *apitest.Server, post *mailtest.Server) {
	t.Helper()
	t.Run("accounts", func(t *testing.T) { v.Run(t, accountCases(v)) })
	t.Run("sessions", func(t *testing.T) { sessionRoutes(t, v, post) })
	t.Run("roles", func(t *testing.T) { roleRoutes(t, v) })
	t.Run("categories", func(t *testing.T) { v.Run(t, categoryCases()) })
	t.Run("products", func(t *testing.T) { productRoutes(t, v) })
	t.Run("cart", func(t *testing.T) { cartRoutes(t, v) })
	t.Run("orders", func(t *testing.T) { orderRoutes(t, v) })
	t.Run("payments", func(t *testing.T) { paymentRoutes(t, v) })
	t.Run("desk", func(t *testing.T) { deskRoutes(t, v) })
	t.Run("audit", func(t *testing.T) { auditRoutes(t, v) })
	who := must[catfecito.User](t, v, keyed("", "/users", "leaving", object{"email": "leaving@mail.com", "name": "Eva", "password": "un café con leche"}), http.StatusCreated)
	t.Run("data", func(t *testing.T) {
		v.Person(t, apitest.Person{As: who.UserID, Design: "catfecito.design.yaml", Tables: []string{"catfecito=catfecito-serverless-" + v.Stage()}, Entities: []string{"User", "Credential"}})
	})
	v.Covered(t)
}

// TestUnauthenticatedRequestsAreRejected: without a valid token only public operations are accessible.
func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, catfecito.System(catFecito()), func(t *testing.T, v *apitest.Server) {
		t.Helper()
		v.RejectsUnauthenticated(t)
	})
}

// TestStaffOnly: customers cannot call staff operations.
func TestStaffOnly(t *testing.T) {
	t.Parallel()
	v := open(t)
	for _, r := range []apitest.Request{
		{Method: http.MethodGet, Path: "/users/" + ana},
		{Method: http.MethodPut, Path: "/users/" + ana + "/role", Body: object{"role": "admin"}},
		{Method: http.MethodPut, Path: "/categories/cafes", Body: object{"name": "Cafés", "description": ""}},
		{Method: http.MethodPost, Path: "/products", Key: "k", Body: object{"categoryId": "cafes", "name": "Café", "description": "", "price": "1.00", "stock": 1}},
		{Method: http.MethodPut, Path: "/products/" + nowhere, Body: object{"categoryId": "cafes", "name": "Café", "description": "", "price": "1.00"}},
		{Method: http.MethodPut, Path: "/products/" + nowhere + "/active", Body: object{"isActive": false}},
		{Method: http.MethodPost, Path: "/products/" + nowhere + "/restocks", Key: "k", Body: object{"quantity": 1}},
		{Method: http.MethodGet, Path: "/products/" + nowhere + "/carts"},
		{Method: http.MethodPost, Path: "/orders/" + nowhere + "/pay", Key: "k"},
		{Method: http.MethodPost, Path: "/orders/" + nowhere + "/ship"},
		{Method: http.MethodPost, Path: "/orders/" + nowhere + "/deliver"},
		{Method: http.MethodGet, Path: "/audit/USER/" + ana},
		{Method: http.MethodGet, Path: "/acts?day=2026-02-11"},
		{Method: http.MethodGet, Path: "/desk/orders?status=paid"},
		{Method: http.MethodGet, Path: "/desk/products"},
		{Method: http.MethodGet, Path: "/desk/takings?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z"},
		{Method: http.MethodGet, Path: "/desk/users?email=a@example.com"},
		{Method: http.MethodGet, Path: "/desk/refunds"},
		{Method: http.MethodPost, Path: "/desk/refunds/" + nowhere},
	} {
		r.As = ana
		refused(t, v, r, http.StatusForbidden, problem.CodeForbidden)
		r.Groups = []string{"customer", "admin", "transporteapp-admin"} // not a group of this system
		refused(t, v, r, http.StatusForbidden, problem.CodeForbidden)
	}
	if s := scan(t, v); s.categories != 0 || len(s.products) != 0 {
		t.Errorf("%d categories and %d products, want none", s.categories, len(s.products))
	}
}

// invalid is a case with a body that an operation rejects.
func invalid(name string, r apitest.Request, body any, field string) apitest.Case {
	r.Body = body
	return apitest.Case{Name: name, Request: r, Status: http.StatusBadRequest, Code: problem.CodeInvalidBody, Field: field}
}

// badQuery is a case with a query that an operation rejects.
func badQuery(name string, r apitest.Request, query, field string) apitest.Case {
	r.Path += query
	return apitest.Case{Name: name, Request: r, Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: field}
}

// badKeys are cases with invalid Idempotency-Keys.
func badKeys(r apitest.Request) []apitest.Case {
	var cases []apitest.Case
	for name, key := range map[string]string{"no key": "", "long key": strings.Repeat("k", 201), "key with other characters": "k#1"} {
		r.Key = key
		cases = append(cases, apitest.Case{
			Name: name, Request: r, Status: http.StatusBadRequest, Code: problem.CodeInvalidParameter, Field: "header.Idempotency-Key",
		})
	}
	return cases
}

// pages are cases that every list rejects.
func pages(r apitest.Request) []apitest.Case {
	cursor := r
	cursor.Path += "?cursor=AQ"
	return []apitest.Case{
		{Name: "list", Request: r, Status: http.StatusOK},
		badQuery("no limit", r, "?limit=0", "query.limit"),
		badQuery("high limit", r, "?limit=101", "query.limit"),
		badQuery("limit of another type", r, "?limit=ten", "query.limit"),
		badQuery("long cursor", r, "?cursor="+strings.Repeat("A", 5000), "query.cursor"),
		{Name: "made-up cursor", Request: cursor, Status: http.StatusBadRequest, Code: problem.CodeInvalidCursor},
	}
}

func accountCases(v *apitest.Server) []apitest.Case {
	juan := object{"email": "Juan@mail.com", "name": "Juan", "password": "un café con leche"}
	up := keyed("", "/users", "up-1", juan)
	in := func(email, password string) apitest.Request {
		return request("", http.MethodPost, "/login", object{"email": email, "password": password})
	}
	with := func(field string, value any) object {
		body := object{"email": "maria@mail.com", "name": "María", "password": "un café con leche"}
		if body[field] = value; value == nil {
			delete(body, field)
		}
		return body
	}
	var first catfecito.User
	login := request("", http.MethodPost, "/login", nil)
	list := []apitest.Case{
		{Name: "signed up", Request: up, Status: http.StatusCreated, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			if r.JSON(tb, &first); first.Email != "Juan@mail.com" || first.Role != "customer" || first.UserID == "" || strings.Contains(string(r.Body), "con leche") {
				tb.Errorf("signed up as %s", r.Body)
			}
		}},
		{Name: "replayed", Request: up, Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var again catfecito.User
			if r.JSON(tb, &again); again != first {
				tb.Errorf("got %+v, the first time %+v", again, first)
			}
		}},
		{Name: "key of another name", Request: keyed("", "/users", "up-1", object{"email": "Juan@mail.com", "name": "Ana", "password": "un café con leche"}), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "key of another password", Request: keyed("", "/users", "up-1", object{"email": "Juan@mail.com", "name": "Juan", "password": "un té con leche"}), Status: http.StatusUnprocessableEntity, Code: problem.CodeKeyReused},
		{Name: "address in other letters", Request: keyed("", "/users", "up-2", object{"email": "JUAN@mail.com", "name": "Juana", "password": "un café con leche"}), Status: http.StatusConflict, Code: "email_taken"},
		{Name: "logged in", Request: in("juan@MAIL.com", "un café con leche"), Status: http.StatusOK, Check: func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var session catfecito.Session
			if r.JSON(tb, &session); session.User != first || session.TokenType != "Bearer" || session.ExpiresIn != 900 || r.Header.Get("Cache-Control") != "no-store" {
				tb.Errorf("logged in: %+v, Cache-Control %q", session, r.Header.Get("Cache-Control"))
			}
			if me := must[catfecito.User](tb, v, apitest.Request{Method: http.MethodGet, Path: "/me", Token: session.AccessToken}, http.StatusOK); me != first {
				tb.Errorf("the token is %+v's, want %+v", me, first)
			}
		}},
		{Name: "wrong password", Request: in("juan@mail.com", "un té con leche"), Status: http.StatusUnauthorized, Code: "wrong_credentials"},
		{Name: "unknown address", Request: in("nobody@mail.com", "un café con leche"), Status: http.StatusUnauthorized, Code: "wrong_credentials"},
		invalid("log-in with nothing", login, object{}, "body"),
		invalid("log-in without password", login, object{"email": "juan@mail.com"}, "body"),
		invalid("log-in without JSON", login, "{", ""),
		invalid("log-in with a long password", login, object{"email": "juan@mail.com", "password": strings.Repeat("p", 129)}, "body.password"),
		invalid("log-in with a number", login, object{"email": "juan@mail.com", "password": 12345678}, "body.password"),
		{Name: "nobody has signed up", Request: request(bruno, http.MethodGet, "/me", nil), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		invalid("no JSON", up, "{", ""),
		invalid("no body", up, nil, ""),
		invalid("no address", up, with("email", nil), "body"),
		invalid("no password", up, with("password", nil), "body"),
		invalid("bad address", up, with("email", "maria"), "body.email"),
		invalid("long address", up, with("email", strings.Repeat("a", 250)+"@mail.com"), "body.email"),
		invalid("short password", up, with("password", "1234567"), "body.password"),
		invalid("long password", up, with("password", strings.Repeat("ñ", 129)), "body.password"),
		invalid("empty name", up, with("name", ""), "body.name"),
		invalid("long name", up, with("name", strings.Repeat("ñ", 101)), "body.name"),
		invalid("name with a line's end", up, with("name", "Ma\nría"), "body.name"),
		invalid("name of another type", up, with("name", 1), "body.name"),
		invalid("role of his own choice", up, with("role", "admin"), "body.role"),
		{Name: "address with an accent", Request: keyed("", "/users", "up-4", with("email", "maría@mail.com")), Status: http.StatusBadRequest, Code: problem.CodeInvalidValue, Field: "email"},
		{Name: "address with a name", Request: keyed("", "/users", "up-3", with("email", "María <maria@mail.com>")), Status: http.StatusBadRequest, Code: problem.CodeInvalidValue},
	}
	return append(list, badKeys(up)...)
}

func roleRoutes(t *testing.T, v *apitest.Server) {
	t.Helper()
	if !v.Built() {
		v.Clock.Advance(time.Hour)
	}
	who := must[catfecito.User](t, v, keyed("", "/users", "k", object{"email": "ana@mail.com", "name": "Ana", "password": "un café con leche"}), http.StatusCreated)
	get := staff(request("", http.MethodGet, "/users/"+who.UserID, nil))
	role := staff(request("", http.MethodPut, "/users/"+who.UserID+"/role", object{"role": "admin"}))
	own := staff(request("", http.MethodPut, "/users/"+boss+"/role", object{"role": "customer"}))
	is := func(role string) func(testing.TB, *apitest.Response) {
		return func(tb testing.TB, r *apitest.Response) {
			tb.Helper()
			var u catfecito.User
			if r.JSON(tb, &u); u.UserID != who.UserID || string(u.Role) != role || u.Email != who.Email || u.Name != who.Name || !u.CreatedAt.Equal(who.CreatedAt) {
				tb.Errorf("got %+v, want %+v as %s", u, who, role)
			}
		}
	}
	login := request("", http.MethodPost, "/login", object{"email": "ana@mail.com", "password": "un café con leche"})
	token := func() string { return must[catfecito.Session](t, v, login, http.StatusOK).AccessToken }
	before := token()
	v.Run(t, []apitest.Case{
		{Name: "customer", Request: get, Status: http.StatusOK, Check: is("customer")},
		{Name: "made staff", Request: role, Status: http.StatusOK, Check: is("admin")},
		{Name: "again", Request: role, Status: http.StatusOK, Check: is("admin")},
		{Name: "staff", Request: get, Status: http.StatusOK, Check: is("admin")},
		{Name: "one's own", Request: own, Status: http.StatusConflict, Code: "own_role"},
		{Name: "nobody's", Request: staff(request("", http.MethodPut, "/users/u-999/role", object{"role": "admin"})), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		{Name: "nobody", Request: staff(request("", http.MethodGet, "/users/u-999", nil)), Status: http.StatusNotFound, Code: problem.CodeNotFound},
		badQuery("no id", staff(request("", http.MethodGet, "/users/u%23", nil)), "", "path.userId"),
		badQuery("no id's role", staff(request("", http.MethodPut, "/users/u%23/role", object{"role": "admin"})), "", "path.userId"),
		invalid("another role", role, object{"role": "root"}, "body.role"),
		invalid("no role", role, object{}, "body"),
	})
	list := apitest.Request{Method: http.MethodGet, Path: "/audit/USER/" + who.UserID}
	for _, given := range []string{before, token()} {
		list.Token = given
		must[any](t, v, list, http.StatusOK)
	}
	// A repeated sign-up gets the first response, although the user has become staff since.
	again := must[catfecito.User](t, v, keyed("", "/users", "k", object{"email": "ana@mail.com", "name": "Ana", "password": "un café con leche"}), http.StatusOK)
	if again != who {
		t.Errorf("got %+v, the first time %+v", again, who)
	}
}
