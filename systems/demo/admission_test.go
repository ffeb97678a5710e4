package demo

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/systems/internal/systemtest"
)

// rebound is an attacker's host name that resolves to this machine.
const rebound = "page.attacker.example"

// ask sends a request with a Host and further headers; "" means the address's own host.
func ask(t *testing.T, method, url, host, body string, headers ...string) systemtest.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	r.RequestURI = ""
	if host != "" {
		r.Host = host
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return systemtest.Send(t, r)
}

// TestForeignHostNamesAreRejected: a request must use a host name that no foreign page can use, or one allowed with --allowed-host.
func TestForeignHostNamesAreRejected(t *testing.T) {
	t.Parallel()
	closed := serveAll(t, registered(), "--memory")
	open := serveAll(t, registered(), "--memory", "--allowed-host", "demo.example.com")
	for _, path := range []string{"/", "/metrics", "/health", "/appcore/docs", "/appcore/transactions", "/nothing", "/appcore_users/.well-known/jwks.json"} {
		response := ask(t, http.MethodGet, closed.web+path, "demo.example.com:8080", "")
		p := response.Problem(t)
		if response.Status != http.StatusForbidden || p.Code != "forbidden" || !strings.Contains(p.Detail, "--allowed-host demo.example.com ") {
			t.Errorf("%s: %d %s, want 403 that names the flag", path, response.Status, response.Body)
		}
		if response = ask(t, http.MethodGet, open.web+path, "demo.example.com:8080", ""); response.Status == http.StatusForbidden {
			t.Errorf("%s of the allowed host: %s", path, response.Body)
		}
	}
	for _, host := range []string{"", "localhost:8080", "demo.localhost", "demo", "demo.internal", "[::1]:8080", "192.0.2.1"} {
		if response := ask(t, http.MethodGet, closed.web+"/", host, ""); response.Status != http.StatusOK {
			t.Errorf("host %q: %d %s", host, response.Status, response.Body)
		}
	}
	// The flag applies to both addresses.
	for r, want := range map[*running]int{closed: http.StatusForbidden, open: http.StatusOK} {
		response := ask(t, http.MethodPost, r.database+"/", "demo.example.com", `{}`, "X-Amz-Target", "DynamoDB_20120810.ListTables", "Content-Type", "application/x-amz-json-1.0")
		if response.Status != want {
			t.Errorf("the database: %d %s, want %d", response.Status, response.Body, want)
		}
	}
	metrics := ask(t, http.MethodGet, closed.web+"/metrics", "", "").Body
	if !strings.Contains(metrics, `http_requests_total{method="GET",route="unmatched",status="403",system="process"} 7`) {
		t.Error("the refused requests are not counted")
	}
	closed.end(t)
	open.end(t)
}

// TestOrigins: pages of other origins cannot use the demo unless --web-cors-origin allows their origin. Even then they get no
// tokens: neither from the page nor from the endpoint that signs tokens for any name.
func TestOrigins(t *testing.T) {
	t.Parallel()
	const app = "https://app.example.com"
	closed := serveAll(t, registered(), "--memory")
	open := serveAll(t, registered(), "--memory", "--web-cors-origin", app)
	const name = `{"name":"ana"}`
	preflight := []string{"Origin", app, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization"}
	for _, c := range []struct {
		what               string
		r                  *running
		method, path, body string
		headers            []string
		status             int
		allowed            string
	}{
		{"page", closed, "GET", "/", "", []string{"Origin", app}, 403, ""},
		{"call", closed, "GET", "/catfecito/products", "", []string{"Origin", app}, 403, ""},
		{"preflight", closed, "OPTIONS", "/appcore/transactions", "", preflight, 403, ""},
		{"token", closed, "POST", "/trinity/play/token", name, []string{"Origin", app, "Content-Type", "application/json"}, 403, ""},
		{"token for a form", closed, "POST", "/trinity/play/token", name, []string{"Origin", "null", "Content-Type", "text/plain"}, 403, ""},
		{"token, by Sec-Fetch-Site alone", closed, "POST", "/trinity/play/token", name, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"token for its own page", closed, "POST", "/trinity/play/token", name, []string{"Origin", closed.web, "Sec-Fetch-Site", "same-origin"}, 200, ""},
		{"token for curl", closed, "POST", "/trinity/play/token", name, nil, 200, ""},
		{"any token for a page of another origin", closed, "POST", "/token", "system=appcore", []string{"Origin", app}, 403, ""},
		{"any token, by Sec-Fetch-Site alone", closed, "POST", "/token", "system=appcore", []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"any token for a shell", closed, "POST", "/token", "system=appcore", []string{"Content-Type", "application/x-www-form-urlencoded"}, 200, ""},
		{"an admin's token", closed, "POST", "/token", `{"system":"catfecito","admin":true}`, []string{"Content-Type", "application/json"}, 200, ""},
		{"an admin's token where there are none", closed, "POST", "/token", `{"system":"trinity","admin":true}`, []string{"Content-Type", "application/json"}, 400, ""},
		{"a token of no system", closed, "POST", "/token", `{"system":"x"}`, []string{"Content-Type", "application/json"}, 400, ""},
		{"a token for no body", closed, "POST", "/token", `{`, []string{"Content-Type", "application/json"}, 400, ""},

		{"allowed call", open, "GET", "/catfecito/products", "", []string{"Origin", app}, 200, app},
		{"allowed preflight", open, "OPTIONS", "/appcore/transactions", "", preflight, 204, app},
		{"page, which the browser keeps from the other origin", open, "GET", "/", "", []string{"Origin", app}, 200, ""},
		{"token for the allowed origin", open, "POST", "/trinity/play/token", name, []string{"Origin", app, "Content-Type", "application/json"}, 403, app},
		{"another origin", open, "GET", "/catfecito/products", "", []string{"Origin", "https://evil.example"}, 403, ""},
	} {
		response := ask(t, c.method, c.r.web+c.path, "", c.body, c.headers...)
		if response.Status != c.status || response.Header.Get("Access-Control-Allow-Origin") != c.allowed {
			t.Errorf("%s: %d for %q, want %d for %q: %s", c.what, response.Status, response.Header.Get("Access-Control-Allow-Origin"), c.status, c.allowed, response.Body)
		}
		if c.status == http.StatusForbidden && strings.Contains(response.Body, `"token"`) {
			t.Errorf("%s: a token is given away", c.what)
		}
	}
	if p := ask(t, http.MethodGet, closed.web+"/", "", "", "Origin", app).Problem(t); !strings.Contains(p.Detail, "--web-cors-origin "+app+" ") {
		t.Errorf("the refusal does not name the flag: %s", p.Detail)
	}
	closed.end(t)
	open.end(t)
}

// stealing is the script of an attacker's page. It tries to get tokens from a demo and returns the responses.
const stealing = `(async (web) => {
	const call = async (path, options) => {
		try {
			const response = await fetch(web + path, options);
			return response.status + " " + await response.text();
		} catch (e) {
			return String(e);
		}
	};
	const body = JSON.stringify({name: "ana"});
	return {
		page: await call("/", {}),
		plain: await call("/trinity/play/token", {method: "POST", body}),
		json: await call("/trinity/play/token", {method: "POST", body, headers: {"Content-Type": "application/json"}}),
	};
})`

// TestForeignPagesGetNoToken: in a browser, neither a page of another origin nor one whose name resolves to this machine gets a token. If
// the name is allowed it does, which proves that the attack works.
func TestForeignPagesGetNoToken(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>a page</title>"))
	}))
	defer page.Close()
	closed := serveAll(t, registered(), "--memory")
	open := serveAll(t, registered(), "--memory", "--allowed-host", rebound)
	ctx := browser(t, chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"))
	reboundTo := func(r *running) string {
		_, port, err := net.SplitHostPort(strings.TrimPrefix(r.web, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		return "http://" + net.JoinHostPort(rebound, port)
	}
	for _, c := range []struct {
		name, page, web string
		stolen          bool
	}{
		{"another origin", page.URL, closed.web, false},
		// A page from the attacker's server has no content policy, and neither has /health.
		{"rebound name", reboundTo(closed) + "/health", reboundTo(closed), false},
		{"rebound name, allowed", reboundTo(open) + "/health", reboundTo(open), true},
	} {
		got := attack(ctx, t, c.page, c.web)
		if stolen := strings.Contains(got.Page, `&#34;token&#34;`); stolen != c.stolen {
			t.Errorf("%s: the page's tokens are read: %t, want %t: %.300s", c.name, stolen, c.stolen, got.Page)
		}
		for _, signed := range []string{got.Plain, got.JSON} { // only for names of this machine, whatever is allowed
			if strings.Contains(signed, `"token"`) {
				t.Errorf("%s: a token was signed: %s", c.name, signed)
			}
		}
	}
}

// stolen is the script's result.
type stolen struct{ Page, Plain, JSON string }

func attack(ctx context.Context, t *testing.T, page, web string) stolen {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
	}
	got, err := chromedp.Run(ctx, chromedp.Evaluate[stolen](stealing+`("`+web+`")`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// browserWait far exceeds what a page takes here, even on a busy machine.
const browserWait = time.Minute

// browser opens a tab that closes with the test.
func browser(t *testing.T, extra ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	options := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], extra, []chromedp.ExecAllocatorOption{chromedp.UserDataDir(t.TempDir())})
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox when run as root
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), browserWait)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx
}
