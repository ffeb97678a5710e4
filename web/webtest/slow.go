package webtest

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Slow serves the address's server through a slow line: the first request with a method and a part of its path is held back until
// release is called, so that later ones can overtake it and the user can go on meanwhile. slow is the same address there.
func Slow(tb testing.TB, address, method, part string) (slow string, release func()) {
	tb.Helper()
	var held atomic.Bool
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	slow = Line(tb, address, func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if r.Method == method && strings.Contains(r.URL.Path, part) && held.CompareAndSwap(false, true) {
			select {
			case <-released:
			case <-r.Context().Done():
			}
		}
		server.ServeHTTP(w, r)
	})
	tb.Cleanup(release)
	return slow, release
}
