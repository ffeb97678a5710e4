package run_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// TestProxies: behind a trusted proxy each caller has their own limit; behind any other proxy all callers share one.
func TestProxies(t *testing.T) {
	t.Parallel()
	issuer, err := auth.NewIssuer("notes", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := run.Options{
		Database: run.InProcess(monotabletest.New(t)), CursorKey: make([]byte, 32), Access: run.SignedHere(issuer),
		Rate: 0.001, Proxies: []string{"10.0.0.0/8"}, // one request, then one every quarter of an hour
	}
	host, err := run.NewHost(t.Context(), o, systemtest.Notes(systemtest.Hooks{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	for _, c := range []struct {
		proxy, caller string
		status        int
	}{
		{"10.0.0.1:1", "192.0.2.1", http.StatusOK},
		{"10.0.0.1:1", "192.0.2.2", http.StatusOK},
		{"10.0.0.2:1", "192.0.2.1", http.StatusTooManyRequests},
		{"192.0.2.80:1", "192.0.2.3", http.StatusOK},
		{"192.0.2.80:1", "192.0.2.4", http.StatusTooManyRequests},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/notes/health", http.NoBody)
		request.RemoteAddr = c.proxy
		request.Header.Set("X-Forwarded-For", c.caller)
		response := httptest.NewRecorder()
		host.Mux().ServeHTTP(response, request)
		if response.Code != c.status {
			t.Errorf("for %s from %s: %d, want %d", c.caller, c.proxy, response.Code, c.status)
		}
	}
	o.Proxies = []string{"10.0.0.0/33"}
	if _, err := run.NewHost(t.Context(), o, systemtest.Notes(systemtest.Hooks{})); err == nil || !strings.Contains(err.Error(), "--trusted-proxy") {
		t.Errorf("an invalid network: %v", err)
	}
}
