package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/monotable/monotable/internal/httpguard"
)

// TestProfilesAreGuarded: a web page whose name was rebound to this machine gets no profiles and no command line.
func TestProfilesAreGuarded(t *testing.T) {
	h := profiles(new(httpguard.Guard))
	for url, status := range map[string]int{
		"http://127.0.0.1/debug/pprof/cmdline":           http.StatusOK,
		"http://localhost/debug/pprof/":                  http.StatusOK,
		"http://rebound.example.com/debug/pprof/cmdline": http.StatusForbidden,
		"http://rebound.example.com/debug/pprof/":        http.StatusForbidden,
	} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)); w.Code != status {
			t.Errorf("%s: %d, want %d", url, w.Code, status)
		}
	}
}
