package catfecito_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// together sends requests concurrently.
func together(tb testing.TB, v *apitest.Server, requests []apitest.Request) []*apitest.Response {
	tb.Helper()
	responses := make([]*apitest.Response, len(requests))
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() { responses[i] = v.Do(tb, requests[i]) })
	}
	all.Wait()
	return responses
}

// statuses counts responses by status.
func statuses(responses []*apitest.Response) map[int]int {
	n := map[int]int{}
	for _, r := range responses {
		n[r.Status]++
	}
	return n
}

// TestUniqueEmail: of many concurrent sign-ups with one address, in any spelling, exactly one succeeds.
func TestUniqueEmail(t *testing.T) {
	t.Parallel()
	v := open(t)
	var requests []apitest.Request
	for i, email := range []string{"ana@mail.com", "ANA@mail.com", "Ana@Mail.com", "aNa@mail.COM", "ana@MAIL.com", "ANA@MAIL.COM", "anA@mail.com", "Ana@mail.com"} {
		requests = append(requests, keyed("", "/users", fmt.Sprint(i), object{"email": email, "name": "Ana", "password": "un café con leche"}))
	}
	responses := together(t, v, requests)
	if n := statuses(responses); n[http.StatusCreated] != 1 || n[http.StatusConflict] != len(requests)-1 {
		t.Errorf("responses %v, want one 201 and else 409", n)
	}
	for _, r := range responses {
		if r.Status == http.StatusConflict && r.Problem(t).Code != "email_taken" {
			t.Errorf("refused with %s", r.Body)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.users) != 1 || len(s.credentials) != 1 {
		t.Errorf("%d users with %d passwords, want one", len(s.users), len(s.credentials))
	}
}

// TestSignUpOnce: one request, sent many times concurrently, creates one user, and all senders get the same response.
func TestSignUpOnce(t *testing.T) {
	t.Parallel()
	v := open(t)
	one := keyed("", "/users", "k", object{"email": "ana@mail.com", "name": "Ana", "password": "un café con leche"})
	responses := together(t, v, []apitest.Request{one, one, one, one, one, one, one, one})
	if n := statuses(responses); n[http.StatusCreated] != 1 || n[http.StatusOK] != 7 {
		t.Errorf("responses %v, want one 201 and seven 200", n)
	}
	for _, r := range responses[1:] {
		if string(r.Body) != string(responses[0].Body) {
			t.Errorf("got %s and %s", r.Body, responses[0].Body)
		}
	}
	// After a day the key is forgotten, but the address is still taken.
	v.Clock.Advance(24*time.Hour + 2*time.Second)
	refused(t, v, one, http.StatusConflict, "email_taken")
}

// wrongly is a log-in with a wrong password.
func wrongly(email string) apitest.Request {
	return request("", http.MethodPost, "/login", object{"email": email, "password": "wrong"})
}

// limited sends a request over the limit; the response must say when to retry.
func limited(tb testing.TB, v *apitest.Server, what string, r apitest.Request, after time.Duration) {
	tb.Helper()
	response := v.Do(tb, r)
	if response.Status != http.StatusTooManyRequests || response.Problem(tb).Code != problem.CodeRateLimited || response.Header.Get("Retry-After") != fmt.Sprint(after.Seconds()) {
		tb.Errorf("%s: %d %s, Retry-After %q, want 429 and %v", what, response.Status, response.Body, response.Header.Get("Retry-After"), after)
	}
}

// window returns the rest of the five minutes in which attempts are counted.
func window(v *apitest.Server) time.Duration {
	now := v.Clock.Now().UTC()
	return now.Truncate(5 * time.Minute).Add(5 * time.Minute).Sub(now)
}

// TestLogInTries: an address allows ten wrong passwords in five minutes, whether or not the user exists and in any spelling, and
// ten more in the next five minutes. Successful log-ins are not limited, and reset the count.
func TestLogInTries(t *testing.T) {
	t.Parallel()
	v := open(t)
	up := keyed("", "/users", "k", object{"email": "ana@mail.com", "name": "Ana", "password": "un café con leche"})
	must[catfecito.User](t, v, up, http.StatusCreated)
	right := request("", http.MethodPost, "/login", object{"email": "Ana@mail.com", "password": "un café con leche"})
	for range 2 {
		for range 9 {
			refused(t, v, wrongly("ana@mail.com"), http.StatusUnauthorized, "wrong_credentials")
		}
		for range 25 {
			must[catfecito.Session](t, v, right, http.StatusOK)
		}
		v.Clock.Advance(20 * time.Second) // for the network's limit, which 18 attempts have almost reached
	}
	for _, email := range []string{"ana@mail.com", "nobody@mail.com"} {
		v.Clock.Advance(time.Hour)
		for i := range 10 {
			refused(t, v, wrongly([]string{email, strings.ToUpper(email)}[i%2]), http.StatusUnauthorized, "wrong_credentials")
		}
		limited(t, v, "the eleventh with "+email, wrongly(email), window(v))
	}
	must[catfecito.Session](t, v, right, http.StatusOK)
	v.Clock.Advance(time.Hour)
	for range 10 {
		refused(t, v, wrongly("ana@mail.com"), http.StatusUnauthorized, "wrong_credentials")
	}
	limited(t, v, "the right password after ten wrong ones", right, window(v))
	limited(t, v, "the password of a repeated sign-up", up, window(v))
	v.Clock.Advance(window(v))
	must[catfecito.Session](t, v, right, http.StatusOK)
	must[catfecito.User](t, v, up, http.StatusOK)
	if tries := scan(t, v).tries["ana@mail.com"]; tries != 20 {
		t.Errorf("%d tries are counted, want those of two times that were in vain: 20", tries)
	}
}

// TestManyTries: concurrent attempts are limited like sequential ones.
func TestManyTries(t *testing.T) {
	t.Parallel()
	v := open(t)
	responses := together(t, v, slices.Repeat([]apitest.Request{wrongly("ana@mail.com")}, 20))
	if n := statuses(responses); n[http.StatusUnauthorized] != 10 || n[http.StatusTooManyRequests] != 10 {
		t.Errorf("responses %v, want ten 401 and ten 429", n)
	}
}

// TestNetworkBounds: a network address may fail twenty log-ins, of any users, and sign up ten users; more are possible after a
// while.
func TestNetworkBounds(t *testing.T) {
	t.Parallel()
	v := open(t)
	for i := range 20 {
		refused(t, v, wrongly(fmt.Sprintf("u%d@mail.com", i)), http.StatusUnauthorized, "wrong_credentials")
	}
	limited(t, v, "the twenty-first", wrongly("another@mail.com"), 2*time.Second)
	v.Clock.Advance(2 * time.Second)
	refused(t, v, wrongly("another@mail.com"), http.StatusUnauthorized, "wrong_credentials")
	up := func(i int) apitest.Request {
		return keyed("", "/users", "k", object{"email": fmt.Sprintf("u%d@mail.com", i), "name": "U", "password": "un café con leche"})
	}
	for i := range 10 {
		must[catfecito.User](t, v, up(i), http.StatusCreated)
	}
	limited(t, v, "the eleventh sign-up", up(10), 30*time.Second)
	v.Clock.Advance(30 * time.Second)
	must[catfecito.User](t, v, up(10), http.StatusCreated)
}

// TestExamples: the demo page's examples work on an empty database, and repeatedly.
func TestExamples(t *testing.T) {
	t.Parallel()
	s := catfecito.System(catFecito())
	v := apitest.Open(t, s)
	for range 2 {
		for _, e := range s.Examples {
			r := apitest.Request{Method: e.Method, Path: e.Path, As: ana, Groups: e.Groups, Header: e.Header}
			if e.Body != "" {
				r.Body = e.Body
			}
			if response := v.Do(t, r); response.Status >= http.StatusMultipleChoices {
				t.Errorf("%s: %d %s", e.Title, response.Status, response.Body)
			}
		}
	}
	found := must[page[catfecito.Offer]](t, v, request("", http.MethodGet, "/products?name=CAFE", nil), http.StatusOK)
	if len(found.Items) != 1 || !strings.HasPrefix(found.Items[0].Name, "Café") {
		t.Errorf("the examples created %+v, want one product", found.Items)
	}
}

// TestSignUpAfterErasure: an address is free after its user has been erased, but not the key of the first sign-up.
func TestSignUpAfterErasure(t *testing.T) {
	t.Parallel()
	v := open(t)
	const email = "eva@mail.com"
	first := signUp(t, v, email)
	erase := request(first.UserID, http.MethodDelete, "/me", nil)
	erase.Header = map[string]string{"Confirm": "erase"}
	must[object](t, v, erase, http.StatusOK)
	body := object{"email": email, "name": "Eva", "password": "un café con leche"}
	again := keyed("", "/users", "eva", body)
	must[catfecito.User](t, v, again, http.StatusCreated)
	must[catfecito.User](t, v, again, http.StatusOK)
	erase.As = logIn(t, v, email, "un café con leche").User.UserID
	must[object](t, v, erase, http.StatusOK)
	refused(t, v, again, http.StatusUnprocessableEntity, problem.CodeKeyReused)
	must[catfecito.User](t, v, keyed("", "/users", "eva-3", body), http.StatusCreated)
}

// TestErasureWaitsForOrders: a user is not erased before all of their orders are delivered or cancelled, because an order cannot be
// delivered without its address, which the erasure removes.
func TestErasureWaitsForOrders(t *testing.T) {
	t.Parallel()
	v := open(t)
	p := stock(t, v, "Taza", "10.00", 99)
	erase := request(ana, http.MethodDelete, "/me", nil)
	erase.Header = map[string]string{"Confirm": "erase"}
	put(t, v, ana, p.ProductID, 1)
	o := must[catfecito.WholeOrder](t, v, keyed(ana, "/orders", "first", object{"total": "10.00", "delivery": at()}), http.StatusCreated)
	step := func(name string, r apitest.Request) {
		must[catfecito.Order](t, v, r, http.StatusOK)
		stored := scan(t, v).truth[o.OrderID]
		if stored.Delivery == nil {
			t.Errorf("the order has no address before it is %s", name)
		}
	}
	refused(t, v, erase, http.StatusConflict, "open_orders")
	step("paid", staff(keyed("", "/orders/"+o.OrderID+"/pay", "k", nil)))
	for i := range 21 { // a page of newer orders
		later := buy(t, v, ana, fmt.Sprint(i), p.ProductID, 1)
		must[catfecito.Order](t, v, keyed(ana, "/orders/"+later.OrderID+"/cancel", fmt.Sprint(i), nil), http.StatusOK)
	}
	refused(t, v, erase, http.StatusConflict, "open_orders")
	step("shipped", staff(request("", http.MethodPost, "/orders/"+o.OrderID+"/ship", nil)))
	refused(t, v, erase, http.StatusConflict, "open_orders")
	step("delivered", staff(request("", http.MethodPost, "/orders/"+o.OrderID+"/deliver", nil)))
	must[object](t, v, erase, http.StatusOK)
	if stored := scan(t, v).truth[o.OrderID]; stored.Delivery != nil || stored.UserID == ana {
		t.Errorf("after the erasure the order is %+v", stored)
	}
}
