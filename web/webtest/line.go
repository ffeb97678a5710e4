package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Line serves the address's server through a line that a test can disturb: each request goes to handle, which passes it on to
// server or does not. It returns the same address there.
func Line(tb testing.TB, address string, handle func(w http.ResponseWriter, r *http.Request, server http.Handler)) string {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	server := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: u.Scheme, Host: u.Host})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, server) }))
	tb.Cleanup(s.Close)
	return s.URL + u.RequestURI()
}
