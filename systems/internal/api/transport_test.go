package api_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/ratelimit"
)

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	seen := map[string]bool{}
	for _, sent := range []string{"", "a b", "semi;colon", strings.Repeat("x", 65), "<script>"} {
		header := []string{"X-Request-Id", sent}
		if sent == "" {
			header = nil
		}
		response := s.do(t, "GET", "/pay/open", "", header...)
		id := response.Header.Get("X-Request-Id")
		if id == sent || len(id) < 20 || seen[id] {
			t.Errorf("id %q for %q: want a new one", id, sent)
		}
		seen[id] = true
	}
	response := s.do(t, "GET", "/pay/open", "", "X-Request-Id", "Root=1-67891233-abcdef012345678912345678")
	if id := response.Header.Get("X-Request-Id"); id != "Root=1-67891233-abcdef012345678912345678" {
		t.Errorf("id %q, want the one that was sent", id)
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for _, test := range []struct {
		n        int
		accept   string
		encoding string
	}{
		{100, "gzip", ""},
		{5000, "gzip", "gzip"},
		{5000, "identity", ""},
		{5000, "gzip;q=0", ""},
	} {
		response := s.do(t, "GET", fmt.Sprintf("/pay/size/%d", test.n), "", "Accept-Encoding", test.accept)
		if got := response.Header.Get("Content-Encoding"); got != test.encoding {
			t.Errorf("%d bytes, %s: encoding %q, want %q", test.n, test.accept, got, test.encoding)
			continue
		}
		if test.encoding == "gzip" {
			unzip, err := gzip.NewReader(strings.NewReader(response.Body))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(unzip)
			if err != nil {
				t.Fatal(err)
			}
			if len(response.Body) > 500 {
				t.Errorf("%d bytes of zeros in %d", test.n, len(response.Body))
			}
			response.Body = string(plain)
		}
		if want := `{"text":"` + strings.Repeat("a", test.n) + `"}`; strings.TrimSpace(response.Body) != want {
			t.Errorf("%d bytes, %s: another body", test.n, test.accept)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	s := serve(t, func(o *api.Options) { o.Origins = []string{"https://app.example"} })
	all := serve(t, func(o *api.Options) { o.Origins = []string{"*"} })
	none := serve(t, nil)
	preflight := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,idempotency-key"}
	for _, test := range []struct {
		name    string
		s       *server
		origin  string
		allowed string
	}{
		{"named", s, "https://app.example", "https://app.example"},
		{"another", s, "https://evil.example", ""},
		{"any", all, "https://evil.example", "*"},
		{"off", none, "https://app.example", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := test.s.do(t, "OPTIONS", "/pay/echo", "", append([]string{"Origin", test.origin}, preflight...)...)
			h := response.Header
			if response.Status != 204 || response.Body != "" || h.Get("Access-Control-Allow-Origin") != test.allowed {
				t.Errorf("preflight: %d, origin %q, want 204 and %q", response.Status, h.Get("Access-Control-Allow-Origin"), test.allowed)
			}
			if allowed := h.Get("Access-Control-Allow-Methods") != ""; allowed != (test.allowed != "") {
				t.Errorf("methods %q", h.Get("Access-Control-Allow-Methods"))
			}
			if test.allowed != "" && (!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Idempotency-Key") || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization")) {
				t.Errorf("headers %q", h.Get("Access-Control-Allow-Headers"))
			}
			response = test.s.do(t, "GET", "/pay/who", "", "Origin", test.origin)
			if got := response.Header.Get("Access-Control-Allow-Origin"); response.Status != 401 || got != test.allowed {
				t.Errorf("request: %d, origin %q, want a 401 that the page may read: %q", response.Status, got, test.allowed)
			}
			if !strings.Contains(strings.Join(response.Header.Values("Vary"), ","), "Origin") {
				t.Errorf("Vary %q lacks Origin", response.Header.Values("Vary"))
			}
		})
	}
	response := none.do(t, "OPTIONS", "/pay/echo", "")
	if p := response.Problem(t); p.Status != 405 {
		t.Errorf("OPTIONS that is no preflight: %d, want 405", p.Status)
	}
}

// TestBodyDeadline: the connection's deadline for the body, which ends the request, is later than the request's own timeout.
func TestBodyDeadline(t *testing.T) {
	t.Parallel()
	a, err := api.New(api.Options{Name: "n", Title: "N", Verifier: &auth.Verifier{}, Timeout: 40 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	take := func(context.Context, *echoInput) (*echoOutput, error) { return &echoOutput{}, nil }
	huma.Post(a, "/usual", take)
	huma.Post(a, "/long", take, api.Timeout(2*time.Minute))
	for path, least := range map[string]time.Duration{"/usual": 40 * time.Second, "/long": 2 * time.Minute} {
		if got := a.OpenAPI().Paths[path].Post.BodyReadTimeout; got <= least {
			t.Errorf("%s: the body may take %v, the request %v", path, got, least)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	response := s.do(t, "GET", "/pay/slow", "")
	if p := response.Problem(t); p.Status != 504 || p.Code != "timeout" {
		t.Errorf("%d %s, want 504 timeout", p.Status, p.Code)
	}
}

// TestClientGone: a client that disconnects is not an error of the service.
func TestClientGone(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/pay/wait", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-s.entered
		cancel()
	}()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body.Close()
		t.Fatalf("status %d although the client had disconnected", response.StatusCode)
	}
	s.Close() // waits for the handler
	if !strings.Contains(s.log.String(), `"status":499`) || strings.Contains(s.log.String(), "ERROR") {
		t.Errorf("a client that left is to be logged as that, and as no fault:\n%s", s.log)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := serve(t, func(o *api.Options) {
		o.Limiter = ratelimit.New(0.5, 2, 100, func() time.Time { return now })
	})
	token := s.token(t)
	for n, want := range []int{200, 200, 429} {
		response := s.do(t, "GET", "/pay/who", "", "Authorization", token)
		if response.Status != want {
			t.Fatalf("request %d: %d, want %d", n, response.Status, want)
		}
		if want == 429 {
			if p := response.Problem(t); p.Code != "rate_limited" || response.Header.Get("Retry-After") != "2" {
				t.Errorf("%s, Retry-After %q, want rate_limited and 2", p.Code, response.Header.Get("Retry-After"))
			}
		}
	}
	if response := s.do(t, "GET", "/pay/open", ""); response.Status != 200 {
		t.Errorf("another caller: %d, want 200", response.Status)
	}
}

// TestAddress: an operation can get its caller's address; outside of a request there is none.
func TestAddress(t *testing.T) {
	t.Parallel()
	issuer, err := auth.NewIssuer("pay", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	proxies, err := api.Networks([]string{"10.0.0.0/8", "192.0.2.80", "fd00::/8", "fe80::1%eth0", "::ffff:198.51.100.1", "::ffff:203.0.113.0/120"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Options{Name: "pay", Title: "Pay", Verifier: issuer.Verifier(), Proxies: proxies})
	if err != nil {
		t.Fatal(err)
	}
	huma.Get(a, "/address", func(ctx context.Context, _ *struct{}) (*textOutput, error) {
		out := &textOutput{}
		out.Body.Text = api.Address(ctx)
		return out, nil
	}, api.Public)
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"192.0.2.7:4711", nil, "192.0.2.7"},
		{"192.0.2.7", nil, "192.0.2.7"},
		{"[::ffff:192.0.2.7]:80", nil, "192.0.2.7"},
		{"[2001:db8::1]:80", nil, "2001:db8::/64"},
		{"[2001:db8::ffff:1%eth0]:80", nil, "2001:db8::/64"},
		{"@", nil, "@"}, // a Unix socket
		{"192.0.2.7:1", []string{"192.0.2.8"}, "192.0.2.7"}, // forged
		{"10.1.2.3:1", []string{"192.0.2.8"}, "192.0.2.8"},
		{"10.1.2.3:1", nil, "10.1.2.3"},
		{"192.0.2.80:1", []string{" 192.0.2.9 , 192.0.2.8"}, "192.0.2.8"}, // entries before the trusted proxies can be forged
		{"[fd00::1]:1", []string{"192.0.2.9, 192.0.2.8", "10.0.0.2"}, "192.0.2.8"},
		{"10.1.2.3:1", []string{"10.0.0.1, 10.0.0.2"}, "10.0.0.1"},
		{"10.1.2.3:1", []string{"192.0.2.9, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"10.1.2.3:1", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:1", []string{"192.0.2.8"}, "192.0.2.8"}, // a proxy on a link-local address
		{"198.51.100.1:1", []string{"192.0.2.8"}, "192.0.2.8"},   // IPv4 in IPv6 form
		{"[::ffff:203.0.113.9]:1", []string{"192.0.2.8"}, "192.0.2.8"},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/address", http.NoBody)
		request.RemoteAddr = c.remote
		request.Header["X-Forwarded-For"] = c.forwarded
		w := httptest.NewRecorder()
		a.ServeHTTP(w, request)
		if !strings.Contains(w.Body.String(), `"text":"`+c.want+`"`) {
			t.Errorf("from %s for %q: %s, want %s", c.remote, c.forwarded, w.Body, c.want)
		}
	}
	if _, err := api.Networks([]string{"10.0.0.0/33"}); err == nil || !strings.Contains(err.Error(), `"10.0.0.0/33"`) {
		t.Errorf("an invalid network: %v", err)
	}
	if got := api.Address(t.Context()); got != "" {
		t.Errorf("outside of requests: %q", got)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	s := serve(t, func(o *api.Options) {
		o.Ready = func(context.Context) error { return errors.New("table pay is CREATING") }
	})
	response := s.do(t, "GET", "/pay/ready", "")
	if p := response.Problem(t); p.Status != 503 || p.Code != "unavailable" || strings.Contains(response.Body, "CREATING") {
		t.Errorf("ready: %s", response.Body)
	}
	for _, path := range []string{"/pay/health"} {
		if response := s.do(t, "GET", path, ""); response.Status != 200 || strings.TrimSpace(response.Body) != `{"status":"ok"}` {
			t.Errorf("%s: %d %s", path, response.Status, response.Body)
		}
	}
}

// TestLog: each request logs one line, with the route instead of the path, and nothing that the caller sent.
func TestLog(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	token := s.token(t)
	s.do(t, "POST", "/pay/echo?mail=ana@example.com", `{"amount":1,"note":"pssst"}`, "Authorization", token, "Idempotency-Key", "key-1", "X-Request-Id", "one")
	s.do(t, "GET", "/pay/nothing/ana@example.com", "", "X-Request-Id", "two")
	s.Close()
	var lines []map[string]any
	for line := range strings.Lines(s.log.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "time")
		delete(fields, "took")
		delete(fields, "bytes")
		lines = append(lines, fields)
	}
	want := []map[string]any{
		{"level": "INFO", "msg": "request", "system": "pay", "request_id": "one", "method": "POST", "route": "/pay/echo", "status": 200.0, "sub": "u-1"},
		{"level": "INFO", "msg": "request", "system": "pay", "request_id": "two", "method": "GET", "route": "unmatched", "status": 404.0, "sub": ""},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	for _, secret := range []string{"ana@", "pssst", "key-1", token} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}
