package trinity_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
	"github.com/monotable/monotable/systems/trinity"
)

// browserWait is far more than the page takes, on a machine that does much else.
const browserWait = time.Minute

// process is Trinity as a process serves it, with its workers and a development's issuer. Pages of the origins may call it.
func process(t *testing.T, address string, origins ...string) *httptest.Server {
	t.Helper()
	return publicProcess(t, address, "", origins...)
}

// publicProcess is a process that others reach at an address.
func publicProcess(t *testing.T, address, public string, origins ...string) *httptest.Server {
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
	}, trinity.System(trinity.Options{Films: some(3), CheckInterval: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = host.Mux()
	server.Start()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		host.Work(ctx)
	}()
	t.Cleanup(func() {
		host.Drain()
		server.CloseClientConnections()
		server.Close()
		cancel()
		<-done
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// person opens a browser's tab, with a memory of its own, at an address.
func person(browser context.Context, t *testing.T, address string) context.Context {
	t.Helper()
	tab, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	do(tab, t, chromedp.Navigate(address), chromedp.WaitVisible("#name"))
	return tab
}

func do(tab context.Context, t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab, steps...); err != nil {
		t.Fatal(err)
	}
}

func shown(tab context.Context, t *testing.T, at string) string {
	t.Helper()
	text, err := chromedp.Run(tab, chromedp.Text(at))
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	return text
}

// enter says a name.
func enter(tab context.Context, t *testing.T, name string) {
	t.Helper()
	do(tab, t, chromedp.SetValue("#name", name), chromedp.Click("#enter-form button"), chromedp.WaitVisible("#genres input"))
}

// browser is one with the size of a phone.
func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(390, 844))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	ctx, cancel := context.WithTimeout(t.Context(), browserWait)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("%v (the browser is Debian's chromium: test/setup installs it)", err)
	}
	return ctx
}

// picture keeps what a tab shows, in the directory that SCREENSHOTS names.
func picture(tab context.Context, t *testing.T, name string) {
	t.Helper()
	at := os.Getenv("SCREENSHOTS")
	if at == "" {
		return
	}
	shot, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, name+".png"), shot, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOnePhone: a guest has a name with an accent and a space, is told why there is no third genre, comes back from a room with
// Back, stays in it when the page is opened again, is asked before leaving it; and the QR code opens the room on another phone.
func TestOnePhone(t *testing.T) {
	t.Parallel()
	server := publicProcess(t, "http://ADDR", "http://ADDR")
	chrome := browser(t)
	page := server.URL + "/trinity/play/"
	a := person(chrome, t, page)
	enter(a, t, "José María")
	if got := shown(a, t, "#who"); got != "José María" {
		t.Errorf("the guest is %q", got)
	}
	boxes := "#genres label:nth-child(%d) input"
	click := func(n int) { do(a, t, chromedp.Click(fmt.Sprintf(boxes, n))) }
	third := func() bool {
		disabled, err := chromedp.Run(a, chromedp.Evaluate[bool](`document.querySelector("`+fmt.Sprintf(boxes, 3)+`").disabled`))
		if err != nil {
			t.Fatal(err)
		}
		return disabled
	}
	click(1)
	click(2)
	await(a, t, "#genres-full", "That is two. To choose another, take one of them away.")
	picture(a, t, "trinity-genres")
	if !third() {
		t.Error("a third genre can be chosen")
	}
	click(2)
	await(a, t, "#genres-full", "")
	if third() {
		t.Error("a second genre cannot be chosen any more")
	}

	do(a, t, chromedp.Click("#create-form button"), chromedp.WaitVisible("#film"), chromedp.WaitVisible("#share"), chromedp.Click("#share summary"), chromedp.WaitVisible("#qr"))
	picture(a, t, "trinity-room")
	code := shown(a, t, "#room-code")
	do(a, t, chromedp.Reload(), chromedp.WaitVisible("#film"))
	do(a, t, chromedp.NavigateBack(), chromedp.WaitVisible("#rooms button"))
	do(a, t, chromedp.NavigateForward(), chromedp.WaitVisible("#film"))

	do(a, t, chromedp.Click("#leave"), chromedp.WaitVisible("#leaving"))
	picture(a, t, "trinity-leave")
	do(a, t, chromedp.Click("#leaving button:not(#leave-sure)"), chromedp.WaitNotVisible("#leaving"), chromedp.WaitVisible("#film"))

	b := person(chrome, t, page+"#join/"+code)
	do(b, t, chromedp.SetValue("#name", "Zoë O'Neil"), chromedp.Click("#enter-form button"), chromedp.WaitVisible("#film"))
	await(a, t, "#people", "2 people")
	do(b, t, chromedp.Click("#leave"), chromedp.WaitVisible("#leaving"), chromedp.Click("#leave-sure"), chromedp.WaitVisible("#create-form"))
	await(a, t, "#people", "only you")
}

// TestQR: the picture is there where the process has a public address, for codes and nothing else.
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

// TestPageTokensInPublic: guests are signed in at the public address, whatever the issuer's; not at other names.
func TestPageTokensInPublic(t *testing.T) {
	t.Parallel()
	server := publicProcess(t, "https://trinity.example", "http://192.0.2.1:8080")
	for host, want := range map[string]int{"192.0.2.1:8080": http.StatusOK, "192.0.2.1": http.StatusForbidden, "localhost": http.StatusForbidden, "evil.example": http.StatusForbidden} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/trinity/play/token", strings.NewReader(`{"name":"José María"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("asked as %s: %d, want %d", host, answer.StatusCode, want)
		}
	}
}

// TestTwoPhones: two people in two browsers open a room, join it, vote, and both see the match at once.
func TestTwoPhones(t *testing.T) {
	t.Parallel()
	server := process(t, "http://ADDR")
	browser := browser(t)
	page := server.URL + "/trinity/play/"
	a, b := person(browser, t, page), person(browser, t, page)
	enter(a, t, "ana")
	enter(b, t, "bruno")

	do(a, t, chromedp.Click("#create-form button"), chromedp.WaitVisible("#film"))
	code := shown(a, t, "#room-code")
	if len(code) != 6 || shown(a, t, "#people") != "only you" {
		t.Fatalf("the room has the code %q and %q", code, shown(a, t, "#people"))
	}
	await(a, t, "#state", "live")
	do(b, t, chromedp.SetValue("#code", strings.ToLower(code)), chromedp.Click("#join-form button"), chromedp.WaitVisible("#film"))
	await(a, t, "#people", "2 people")
	await(b, t, "#state", "live")
	film := shown(a, t, "#title")
	if other := shown(b, t, "#title"); other != film {
		t.Fatalf("one is asked about %q, the other about %q", film, other)
	}
	do(a, t, chromedp.Click("#no"))
	do(b, t, chromedp.Click("#no"))
	await(a, t, "#title", "Film 2")
	await(b, t, "#title", "Film 2")
	do(a, t, chromedp.Click("#yes"))
	await(a, t, "#title", "Film 3")
	do(b, t, chromedp.Click("#yes"))
	for _, tab := range []context.Context{a, b} {
		do(tab, t, chromedp.WaitVisible("#match"))
		if got := shown(tab, t, "#match-title"); got != "Film 2" {
			t.Errorf("the match is %q", got)
		}
		await(tab, t, "#matches", "Film 2")
	}

	// A page that is opened again goes on where it was.
	do(a, t, chromedp.Reload(), chromedp.WaitVisible("#film"))
	if title, matches := shown(a, t, "#title"), shown(a, t, "#matches"); title != "Film 3" || matches != "Film 2" {
		t.Errorf("opened again it asks about %q and has the matches %q", title, matches)
	}
	do(b, t, chromedp.Click("#match-close"), chromedp.Click("#leave"), chromedp.WaitVisible("#leaving"), chromedp.Click("#leave-sure"), chromedp.WaitVisible("#create-form"))
	await(a, t, "#people", "only you")

	// Who comes while the connection is gone is seen when it is back.
	server.CloseClientConnections()
	do(b, t, chromedp.SetValue("#code", code), chromedp.Click("#join-form button"), chromedp.WaitVisible("#film"))
	await(a, t, "#people", "2 people")
	do(b, t, chromedp.Click("#back"), chromedp.WaitVisible("#create-form"))
	do(b, t, chromedp.SetValue("#code", "OOOOOO"), chromedp.Click("#join-form button"), chromedp.WaitVisible("#fault"))
	if got := shown(b, t, "#fault"); !strings.Contains(got, "no such room") {
		t.Errorf("a code of no room: %q", got)
	}
}

// await waits until an element has a text. (chromedp's own polling makes functions of texts, which the page's policy forbids.)
func await(tab context.Context, t *testing.T, at, want string) {
	t.Helper()
	apitest.Eventually(t, at+" is "+want, func() bool {
		text, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector("`+at+`").textContent.trim()`))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		return text == want
	})
}

// TestPage: the page is there without a token, and may load nothing from elsewhere but posters.
func TestPage(t *testing.T) {
	t.Parallel()
	server := process(t, "http://ADDR")
	for _, path := range []string{"", "play.js", "play.css"} {
		status, header := fetch(t, http.MethodGet, server.URL+"/trinity/play/"+path, "")
		policy := header.Get("Content-Security-Policy")
		if status != http.StatusOK || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") {
			t.Errorf("%q: %d with the policy %q", path, status, policy)
		}
	}
}

// TestPageTokens: tokens for names are signed where the issuer is of this machine, and nowhere else.
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

// TestPageTokenByAnotherName: who is on another machine, and comes through a proxy or by a name that leads here, gets none.
func TestPageTokenByAnotherName(t *testing.T) {
	t.Parallel()
	server := process(t, "http://ADDR")
	for host, want := range map[string]int{"localhost": http.StatusOK, "[::1]:80": http.StatusOK, "trinity.example": http.StatusForbidden, "192.0.2.1:80": http.StatusForbidden} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/trinity/play/token", strings.NewReader(`{"name":"ana"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("asked as %s: %d, want %d", host, answer.StatusCode, want)
		}
	}
}

// TestPageTokenForAnotherOrigin: a page of another origin gets no token, also if it may call the API.
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
		{"Sec-Fetch-Site", "same-site", http.StatusForbidden}, // of another port of this machine
	} {
		answer := systemtest.Call(t, http.MethodPost, server.URL+"/trinity/play/token", `{"name":"ana"}`, c.name, c.value)
		if answer.Status != c.want || strings.Contains(answer.Body, `"token"`) != (c.want == http.StatusOK) {
			t.Errorf("%s %s: %d %s, want %d", c.name, c.value, answer.Status, answer.Body, c.want)
		}
	}
}

func fetch(t *testing.T, method, address, body string) (status int, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode, answer.Header
}
