package catfecito_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/problem"
)

// together makes requests at once.
func together(tb testing.TB, v *apitest.Server, requests []apitest.Request) []*apitest.Response {
	tb.Helper()
	answers := make([]*apitest.Response, len(requests))
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() { answers[i] = v.Do(tb, requests[i]) })
	}
	all.Wait()
	return answers
}

// statuses counts answers.
func statuses(answers []*apitest.Response) map[int]int {
	n := map[int]int{}
	for _, r := range answers {
		n[r.Status]++
	}
	return n
}

// TestUniqueEmail: of many who sign up with one address at once, in any letters, one does.
func TestUniqueEmail(t *testing.T) {
	v := open(t)
	var requests []apitest.Request
	for i, email := range []string{"ana@mail.com", "ANA@mail.com", "Ana@Mail.com", "aNa@mail.COM", "ana@MAIL.com", "ANA@MAIL.COM", "anA@mail.com", "Ana@mail.com"} {
		requests = append(requests, keyed("", "/users", fmt.Sprint(i), object{"email": email, "name": "Ana", "password": "un café con leche"}))
	}
	answers := together(t, v, requests)
	if n := statuses(answers); n[http.StatusCreated] != 1 || n[http.StatusConflict] != len(requests)-1 {
		t.Errorf("answers %v, want one 201 and else 409", n)
	}
	for _, r := range answers {
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

// TestSignUpOnce: one request, sent by many at once, makes one user, and all are told so.
func TestSignUpOnce(t *testing.T) {
	v := open(t)
	one := keyed("", "/users", "k", object{"email": "ana@mail.com", "name": "Ana", "password": "un café con leche"})
	answers := together(t, v, []apitest.Request{one, one, one, one, one, one, one, one})
	if n := statuses(answers); n[http.StatusCreated] != 1 || n[http.StatusOK] != 7 {
		t.Errorf("answers %v, want one 201 and seven 200", n)
	}
	for _, r := range answers[1:] {
		if string(r.Body) != string(answers[0].Body) {
			t.Errorf("answered %s and %s", r.Body, answers[0].Body)
		}
	}
	// After a day the key is forgotten, and the address is still taken.
	v.Clock.Advance(24*time.Hour + 2*time.Second)
	refused(t, v, one, http.StatusConflict, "email_taken")
}

// TestLogInBounds: an address of e-mail is tried five times, one of the network twenty times, then after a while again.
func TestLogInBounds(t *testing.T) {
	v := open(t)
	must[catfecito.User](t, v, keyed("", "/users", "k", object{"email": "ana@mail.com", "name": "Ana", "password": "un café con leche"}), http.StatusCreated)
	try := func(email, password string) *apitest.Response {
		return v.Do(t, request("", http.MethodPost, "/login", object{"email": email, "password": password}))
	}
	limited := func(what string, r *apitest.Response, after string) {
		t.Helper()
		if r.Status != http.StatusTooManyRequests || r.Problem(t).Code != problem.CodeRateLimited || r.Header.Get("Retry-After") != after {
			t.Errorf("%s: %d %s, Retry-After %q, want 429 and %s", what, r.Status, r.Body, r.Header.Get("Retry-After"), after)
		}
	}
	for i := range 5 {
		if r := try([]string{"ana@mail.com", "ANA@mail.com"}[i%2], "wrong"); r.Status != http.StatusUnauthorized {
			t.Errorf("try %d: %d %s, want 401", i, r.Status, r.Body)
		}
	}
	limited("the sixth, with the right password", try("ana@mail.com", "un café con leche"), "30")
	if r := try("bruno@mail.com", "wrong"); r.Status != http.StatusUnauthorized {
		t.Errorf("another address: %d, want 401", r.Status)
	}
	v.Clock.Advance(30 * time.Second)
	if r := try("ana@mail.com", "un café con leche"); r.Status != http.StatusOK {
		t.Errorf("half a minute later: %d, want 200", r.Status)
	}
	limited("at once again", try("ana@mail.com", "un café con leche"), "30")
	v.Clock.Advance(time.Hour)
	for i := range 20 {
		if r := try(fmt.Sprintf("u%d@mail.com", i), "wrong"); r.Status != http.StatusUnauthorized {
			t.Errorf("the network's try %d: %d, want 401", i, r.Status)
		}
	}
	limited("the network's twenty-first", try("another@mail.com", "wrong"), "2")
	for i := range 10 {
		must[catfecito.User](t, v, keyed("", "/users", "k", object{"email": fmt.Sprintf("u%d@mail.com", i), "name": "U", "password": "12345678"}), http.StatusCreated)
	}
	limited("the eleventh sign-up", v.Do(t, keyed("", "/users", "k", object{"email": "late@mail.com", "name": "U", "password": "12345678"})), "30")
}

// TestExamples: what the demo's page shows works as it stands, on an empty database and again.
func TestExamples(t *testing.T) {
	s := catfecito.System(catFecito())
	v := apitest.Open(t, s)
	for range 2 {
		for _, e := range s.Examples {
			r := apitest.Request{Method: e.Method, Path: e.Path, As: ana, Groups: e.Groups, Header: e.Header}
			if e.Body != "" {
				r.Body = e.Body
			}
			if answer := v.Do(t, r); answer.Status >= http.StatusMultipleChoices {
				t.Errorf("%s: %d %s", e.Title, answer.Status, answer.Body)
			}
		}
	}
	found := must[page[catfecito.Offer]](t, v, request("", http.MethodGet, "/products?name=CAFE", nil), http.StatusOK)
	if len(found.Items) != 1 || !strings.HasPrefix(found.Items[0].Name, "Café") {
		t.Errorf("the examples made %+v, want one product", found.Items)
	}
}
