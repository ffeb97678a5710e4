package trinity_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/systems/trinity"
	"github.com/monotable/monotable/systems/trinity/films"
)

// process runs Trinity as a process would, with its workers and a development issuer. Pages of the given origins may call it.
func process(t *testing.T, address string, origins ...string) *httptest.Server {
	t.Helper()
	return publicProcess(t, address, "", origins...)
}

// publicProcess is process with a public address.
func publicProcess(t *testing.T, address, public string, origins ...string) *httptest.Server {
	t.Helper()
	return processWith(t, some(3), address, public, origins...)
}

// processWith is process with the films of a source.
func processWith(t *testing.T, source films.Source, address, public string, origins ...string) *httptest.Server {
	t.Helper()
	database := databasetest.Open(t)
	server := httptest.NewUnstartedServer(nil)
	at := func(text string) string { return strings.Replace(text, "ADDR", server.Listener.Addr().String(), 1) }
	issuer, err := auth.NewIssuer(trinity.Name, at(address), nil)
	if err != nil {
		t.Fatal(err)
	}
	host, err := run.NewHost(t.Context(), run.Options{
		Database:  &run.Database{DynamoDB: database.DynamoDB, Streams: database.Streams, Own: true, Poll: time.Millisecond},
		CursorKey: make([]byte, 32), Access: run.SignedHere(issuer), Origins: origins, PublicURL: at(public),
	}, trinity.System(trinity.Options{Films: source, CheckInterval: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Serve(t, server, host)
	return server
}

// TestQR: the picture exists if the process has a public address, and only for codes.
func TestQR(t *testing.T) {
	t.Parallel()
	public, private := publicProcess(t, "http://ADDR", "http://192.0.2.1:8080"), process(t, "http://ADDR")
	for path, want := range map[string]int{"": http.StatusOK, "?code=ABC123": http.StatusOK, "?code=abc": http.StatusBadRequest, "?code=ABC12%2F": http.StatusBadRequest} {
		if status, header := fetch(t, http.MethodGet, public.URL+"/trinity/play/qr.png"+path, ""); status != want || want == http.StatusOK && header.Get("Content-Type") != "image/png" {
			t.Errorf("%q: %d %s, want %d", path, status, header.Get("Content-Type"), want)
		}
	}
	if status, _ := fetch(t, http.MethodGet, private.URL+"/trinity/play/qr.png", ""); status != http.StatusNotFound {
		t.Errorf("without a public address: %d", status)
	}
}

// TestPageTokensInPublic: guests can sign in at the public address, whatever the issuer's address, but not at other names.
func TestPageTokensInPublic(t *testing.T) {
	t.Parallel()
	server := publicProcess(t, "https://trinity.example", "http://192.0.2.1:8080")
	wantTokens(t, server, map[string]int{"192.0.2.1:8080": http.StatusOK, "192.0.2.1": http.StatusForbidden, "localhost": http.StatusForbidden, "evil.example": http.StatusForbidden})
}

// wantTokens asks for tokens by names of the host, and compares the statuses.
func wantTokens(t *testing.T, server *httptest.Server, hosts map[string]int) {
	t.Helper()
	for host, want := range hosts {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/trinity/play/token", strings.NewReader(`{"name":"José María"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("asked as %s: %d, want %d", host, response.StatusCode, want)
		}
	}
}

// TestPage: the page needs no token, knows what it may do, may only load posters from other origins, and is still found at its
// former address.
func TestPage(t *testing.T) {
	t.Parallel()
	for public, says := range map[string]string{"": `{"guests":true}`, "http://192.0.2.1:8080": `{"public":"http://192.0.2.1:8080/trinity","guests":true}`} {
		server := publicProcess(t, "http://ADDR", public)
		response := systemtest.Call(t, http.MethodGet, server.URL+"/trinity/", "")
		policy := response.Header.Get("Content-Security-Policy")
		if response.Status != http.StatusOK || !strings.Contains(policy, "img-src 'self' https://image.tmdb.org data: blob:;") || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") {
			t.Errorf("%d with the policy %q", response.Status, policy)
		}
		if !strings.Contains(html.UnescapeString(response.Body), says) {
			t.Errorf("it is not told %s: %s", says, response.Body)
		}
		if old := systemtest.Call(t, http.MethodGet, server.URL+"/trinity/play/", ""); old.Status != http.StatusFound || old.Header.Get("Location") != "../" {
			t.Errorf("its old address: %d to %q", old.Status, old.Header.Get("Location"))
		}
	}
}

// TestPageTokens: tokens for names are signed only if the issuer is on this machine.
func TestPageTokens(t *testing.T) {
	t.Parallel()
	for issuer, cases := range map[string]map[string]int{
		"http://ADDR": {
			`{"name":"ana"}`: http.StatusOK, `{"name":"José María"}`: http.StatusOK, `{"name":"a\u0000b"}`: http.StatusBadRequest, `{"name":"<b>"}`: http.StatusBadRequest, `{"name":" "}`: http.StatusBadRequest, `{"name":""}`: http.StatusBadRequest, `name`: http.StatusBadRequest,
			`{"name":"` + strings.Repeat("a", 41) + `"}`:   http.StatusBadRequest,
			`{"name":"` + strings.Repeat("a", 2000) + `"}`: http.StatusBadRequest,
		},
		"http://localhost:8080":   {`{"name":"ana"}`: http.StatusOK},
		"https://trinity.example": {`{"name":"ana"}`: http.StatusNotFound},
		"http://192.0.2.1:8080":   {`{"name":"ana"}`: http.StatusNotFound},
	} {
		server := process(t, issuer)
		for body, want := range cases {
			if status, _ := fetch(t, http.MethodPost, server.URL+"/trinity/play/token", body); status != want {
				t.Errorf("issuer %s, %.30s: %d, want %d", issuer, body, status, want)
			}
		}
	}
}

// TestPageTokenByAnotherName: callers on another machine, who come through a proxy or by another name of this machine, get no
// token.
func TestPageTokenByAnotherName(t *testing.T) {
	t.Parallel()
	server := process(t, "http://ADDR")
	wantTokens(t, server, map[string]int{"localhost": http.StatusOK, "[::1]:80": http.StatusOK, "trinity.example": http.StatusForbidden, "192.0.2.1:80": http.StatusForbidden})
}

// TestPageTokenForAnotherOrigin: a page of another origin gets no token, even if it may call the API.
func TestPageTokenForAnotherOrigin(t *testing.T) {
	t.Parallel()
	server := process(t, "http://ADDR", "https://app.example.com")
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"Origin", server.URL, http.StatusOK},
		{"Origin", "https://app.example.com", http.StatusForbidden},
		{"Origin", "https://evil.example", http.StatusForbidden},
		{"Origin", "null", http.StatusForbidden},
		{"Sec-Fetch-Site", "same-origin", http.StatusOK},
		{"Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"Sec-Fetch-Site", "same-site", http.StatusForbidden}, // another port of this machine
	} {
		response := systemtest.Call(t, http.MethodPost, server.URL+"/trinity/play/token", `{"name":"ana"}`, c.name, c.value)
		if response.Status != c.want || strings.Contains(response.Body, `"token"`) != (c.want == http.StatusOK) {
			t.Errorf("%s %s: %d %s, want %d", c.name, c.value, response.Status, response.Body, c.want)
		}
	}
}

func fetch(t *testing.T, method, address, body string) (status int, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, response.Header
}
