package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Slow serves the address's server through a slow line: the first request with a method and a part of its path is held back until
// release is called, so that later ones can overtake it and the user can go on meanwhile. slow is the same address there.
func Slow(tb testing.TB, address, method, part string) (slow string, release func()) {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	line := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: u.Scheme, Host: u.Host})
	var held atomic.Bool
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method && strings.Contains(r.URL.Path, part) && held.CompareAndSwap(false, true) {
			select {
			case <-released:
			case <-r.Context().Done():
			}
		}
		line.ServeHTTP(w, r)
	}))
	tb.Cleanup(s.Close)
	tb.Cleanup(release)
	return s.URL + u.RequestURI(), release
}
