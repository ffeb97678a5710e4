package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// slowTime is how long Slow holds a request back: longer than a page needs to send a second one.
const slowTime = 700 * time.Millisecond

// Slow serves the address's server through a slow line: the first request of a method arrives late, so that later ones can
// overtake it and the user can go on meanwhile. It returns the same address there.
func Slow(tb testing.TB, address, method string) string {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	line := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: u.Scheme, Host: u.Host})
	var held atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method && held.CompareAndSwap(false, true) {
			select {
			case <-time.After(slowTime):
			case <-r.Context().Done():
			}
		}
		line.ServeHTTP(w, r)
	}))
	tb.Cleanup(s.Close)
	return s.URL + u.RequestURI()
}
