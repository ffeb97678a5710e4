package apitest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// Case is a request and its expected outcome.
type Case struct {
	Name    string
	Request Request
	Status  int
	// Code is the problem's code, or "" for a success.
	Code string
	// Field is the first invalid part of the request, or "" to skip the check.
	Field string
	// Check performs further checks of the response; nil performs none.
	Check func(testing.TB, *Response)
}

// Run sends the requests one after the other.
func (v *Server) Run(t *testing.T, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			response := v.Do(t, c.Request)
			if response.Status != c.Status {
				t.Fatalf("%s %s: status %d, want %d: %s", c.Request.Method, c.Request.Path, response.Status, c.Status, response.Body)
			}
			if c.Code != "" {
				expectProblem(t, c, response)
			}
			if c.Check != nil {
				c.Check(t, response)
			}
		})
	}
}

func expectProblem(t *testing.T, c Case, response *Response) {
	t.Helper()
	p := response.Problem(t)
	if p.Code != c.Code || p.Status != c.Status {
		t.Errorf("%s %s: problem %d %s, want %d %s", c.Request.Method, c.Request.Path, p.Status, p.Code, c.Status, c.Code)
	}
	if p.RequestID == "" || p.RequestID != response.Header.Get("X-Request-Id") {
		t.Errorf("the problem's requestId is %q, the response's X-Request-Id %q", p.RequestID, response.Header.Get("X-Request-Id"))
	}
	if c.Field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != c.Field) {
		t.Errorf("the problem is about %v, want %s", p.Errors, c.Field)
	}
}

// RejectsUnauthenticated calls every operation that is not public in all ways that must be rejected.
func (v *Server) RejectsUnauthenticated(t *testing.T) {
	t.Helper()
	forger, err := auth.NewIssuer(v.system.Name, issuerBase, nil)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := forger.Mint(auth.Claims{Sub: "u-1", Groups: []string{v.system.AdminGroup}})
	if err != nil {
		t.Fatal(err)
	}
	neighbour, err := auth.OpenIssuer("another", v.keys, issuerBase, v.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	neighbours, err := neighbour.Mint(auth.Claims{Sub: "u-1", Groups: []string{v.system.AdminGroup}})
	if err != nil {
		t.Fatal(err)
	}
	ways := []Case{
		{Name: "no token", Code: problem.CodeMissingToken},
		{Name: "another scheme", Code: problem.CodeMissingToken, Request: Request{Header: map[string]string{"Authorization": "Basic dTpw"}}},
		{Name: "no JWT", Code: problem.CodeInvalidToken, Request: Request{Token: "u-1"}},
		{Name: "another key", Code: problem.CodeInvalidToken, Request: Request{Token: forged}},
		{Name: "another system's, of the same key", Code: problem.CodeInvalidToken, Request: Request{Token: neighbours}},
		{Name: "expired", Code: problem.CodeInvalidToken, Request: Request{Token: v.expired(t, "u-1")}},
	}
	for _, id := range slices.Sorted(maps.Keys(v.document.operations)) {
		operation := v.document.operations[id]
		if operation.public {
			continue
		}
		t.Run(id, func(t *testing.T) {
			for i := range ways {
				ways[i].Status = http.StatusUnauthorized
				ways[i].Request.Method, ways[i].Request.Path = operation.method, operation.example()
			}
			if operation.anonymous {
				v.Run(t, ways[1:])
				return
			}
			v.Run(t, ways)
		})
	}
}

// coverage counts an operation's responses: 2xx, and 4xx for authorised callers.
type coverage struct{ good, bad int }

func (v *Server) cover(tb testing.TB, r Request, response *Response) {
	tb.Helper()
	path, _ := cutQuery(r.Path)
	id := v.document.match(r.Method, path)
	if o := v.document.operations[id]; o != nil && response.Header.Get("Content-Type") == problem.ContentType {
		o.declares(tb, response.Problem(tb))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.seen[id]
	if c == nil {
		c = &coverage{}
		v.seen[id] = c
	}
	switch {
	case response.Status < http.StatusMultipleChoices:
		c.good++
	case response.Status != http.StatusUnauthorized:
		c.bad++
	}
}

// declares fails the test for a problem whose code the document does not list for the operation.
func (o *operation) declares(tb testing.TB, p problem.Problem) {
	tb.Helper()
	if !slices.Contains(o.codes[strconv.Itoa(p.Status)], p.Code) {
		tb.Errorf("%s: the document does not declare %d %s: give its error to api.Refuses at the route", o.id, p.Status, p.Code)
	}
}

// Covered fails the test for each operation that was never called, never successful, or never called with invalid input although
// it takes input.
func (v *Server) Covered(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(v.document.operations)) {
		operation, c := v.document.operations[id], v.seen[id]
		switch {
		case operation.process:
		case c == nil || c.good == 0:
			t.Errorf("%s (%s %s) was never called with success", id, operation.method, operation.path)
		case c.bad == 0 && operation.input:
			t.Errorf("%s (%s %s) was never called with bad input", id, operation.method, operation.path)
		}
	}
}
