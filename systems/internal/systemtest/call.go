package systemtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/problem"
)

// Response is a complete response.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Call sends a request without following redirects; headers are name, value, name, value, and so on.
func Call(tb testing.TB, method, url, body string, headers ...string) Response {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return Send(tb, r)
}

// Send sends a prepared request without following redirects.
func Send(tb testing.TB, r *http.Request) Response {
	tb.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return Response{Status: response.StatusCode, Header: response.Header, Body: string(text)}
}

// Problem decodes a problem, and checks what all problems have in common.
func (a Response) Problem(tb testing.TB) problem.Problem {
	tb.Helper()
	var p problem.Problem
	if err := json.Unmarshal([]byte(a.Body), &p); err != nil {
		tb.Fatalf("status %d, no problem: %v in %q", a.Status, err, a.Body)
	}
	if got := a.Header.Get("Content-Type"); got != problem.ContentType {
		tb.Errorf("Content-Type %q, want %q", got, problem.ContentType)
	}
	if p.Status != a.Status {
		tb.Errorf("status %d in the body of a %d", p.Status, a.Status)
	}
	if id := a.Header.Get("X-Request-Id"); id == "" || p.RequestID != id {
		tb.Errorf("requestId %q, X-Request-Id %q: want the same", p.RequestID, id)
	}
	if p.Type != "about:blank" || p.Title == "" {
		tb.Errorf("type %q and title %q: want about:blank and the status in words", p.Type, p.Title)
	}
	return p
}
