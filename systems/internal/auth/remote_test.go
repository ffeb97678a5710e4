package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"github.com/monotable/monotable/systems/internal/problem"
)

// pool is an issuer behind HTTP, like a user pool.
type pool struct {
	*Issuer
	server  *httptest.Server
	fetches atomic.Int64
	broken  atomic.Bool
	instead atomic.Pointer[string] // the response to send in place of the keys
	// If hold is set, a response waits for it; held signals that it waits.
	hold, held chan struct{}
}

func newPool(t *testing.T) *pool {
	t.Helper()
	p := &pool{held: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fetches.Add(1)
		if p.broken.Load() {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		if p.hold != nil {
			p.held <- struct{}{}
			<-p.hold
		}
		if text := p.instead.Load(); text != nil {
			_, _ = w.Write([]byte(*text))
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.server.Close)
	issuer, err := NewIssuer("shop", p.server.URL, clock)
	if err != nil {
		t.Fatal(err)
	}
	p.Issuer = issuer
	issuer.Register(mux)
	return p
}

// moving is a clock that the test advances.
type moving struct{ atomic.Int64 }

func (m *moving) now() time.Time       { return now.Add(time.Duration(m.Load())) }
func (m *moving) pass(d time.Duration) { m.Add(int64(d)) }

func (p *pool) remote(t *testing.T, m *moving) *Verifier {
	t.Helper()
	v, err := NewVerifier(p.URL(), []string{p.Client()}, NewRemote(p.URL(), nil, m.now), clock)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (p *pool) mint(t *testing.T) string {
	t.Helper()
	token, err := p.Mint(Claims{Sub: "u-1", Groups: []string{"admin"}})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func accepted(t *testing.T, v *Verifier, token string) {
	t.Helper()
	p, err := v.Verify(t.Context(), token)
	if diff := cmp.Diff(Principal{Sub: "u-1", Groups: []string{"admin"}}, p); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func (p *pool) fetched(t *testing.T, want int64) {
	t.Helper()
	if got := p.fetches.Load(); got != want {
		t.Errorf("keys were fetched %d times, want %d", got, want)
	}
}

func TestKeysAreFetchedOnce(t *testing.T) {
	t.Parallel()
	p, m := newPool(t), &moving{}
	v := p.remote(t, m)
	p.fetched(t, 0)
	token := p.mint(t)
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() { accepted(t, v, token) })
	}
	callers.Wait()
	m.pass(24 * time.Hour)
	accepted(t, v, token)
	p.fetched(t, 1)
}

func TestRotation(t *testing.T) {
	t.Parallel()
	p, m := newPool(t), &moving{}
	v := p.remote(t, m)
	old := p.mint(t)
	accepted(t, v, old)
	if err := p.Rotate(); err != nil {
		t.Fatal(err)
	}
	m.pass(time.Minute)
	accepted(t, v, p.mint(t))
	accepted(t, v, old) // until its key is gone
	p.fetched(t, 2)
	if err := p.Rotate(); err != nil {
		t.Fatal(err)
	}
	m.pass(time.Minute)
	accepted(t, v, p.mint(t))
	principal, err := v.Verify(t.Context(), old)
	refused(t, principal, err, "not signed by the issuer")
}

// TestUnknownKeys: forged tokens do not cause requests to the user pool.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	p, stranger, m := newPool(t), newPool(t), &moving{}
	v := p.remote(t, m)
	accepted(t, v, p.mint(t))
	for range 20 {
		principal, err := v.Verify(t.Context(), stranger.mint(t))
		refused(t, principal, err, "")
	}
	p.fetched(t, 1)
	m.pass(time.Minute)
	for range 20 {
		principal, err := v.Verify(t.Context(), stranger.mint(t))
		refused(t, principal, err, "")
	}
	p.fetched(t, 2)
}

// TestKeysRemainWhilePoolIsDown: if the pool is down, known keys stay in use; without any keys, tokens cannot be verified.
func TestKeysRemainWhilePoolIsDown(t *testing.T) {
	t.Parallel()
	p, m := newPool(t), &moving{}
	v := p.remote(t, m)
	p.broken.Store(true)
	_, err := v.Verify(t.Context(), p.mint(t))
	if decided, ok := errors.AsType[*problem.Error](err); !ok || decided.Status != 503 {
		t.Errorf("%v, want 503", err)
	}
	p.broken.Store(false)
	_, err = v.Verify(t.Context(), p.mint(t))
	if err == nil {
		t.Error("keys were fetched again at once")
	}
	m.pass(time.Second)
	accepted(t, v, p.mint(t))
	p.broken.Store(true)
	m.pass(time.Hour)
	accepted(t, v, p.mint(t))
	p.fetched(t, 2)
}

// TestNoUsableKeys: a response without a usable key counts as a failure, and removes no key.
func TestNoUsableKeys(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"keys":[]}`, `{}`, `{"keys":[{"kty":"RSA","kid":"k","use":"enc","e":"AQAB","n":"AQAB"}]}`, `<html>`} {
		p, m := newPool(t), &moving{}
		v := p.remote(t, m)
		accepted(t, v, p.mint(t))
		p.instead.Store(&text)
		m.pass(time.Hour)
		stranger := newPool(t)
		_, err := v.Verify(t.Context(), stranger.mint(t)) // causes another fetch
		if decided, ok := errors.AsType[*problem.Error](err); !ok || decided.Status != 503 {
			t.Errorf("%s: %v, want 503, because the keys are unavailable", text, err)
		}
		accepted(t, v, p.mint(t))
		p.fetched(t, 2)
	}
}

// TestWaitForKeysEnds: a cancelled request stops waiting for another request's fetch.
func TestWaitForKeysEnds(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	p.hold = make(chan struct{})
	keys := NewRemote(p.URL(), nil, clock)
	kid, _ := p.keys[0].KeyID()
	first := make(chan error, 1)
	go func() {
		_, err := keys.Key(t.Context(), kid)
		first <- err
	}()
	<-p.held
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := keys.Key(gone, kid); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the caller has disconnected", err)
	}
	close(p.hold)
	if err := <-first; err != nil {
		t.Error(err)
	}
	p.fetched(t, 1)
}

// TestFetchOutlivesItsRequest: a fetch continues for the others when the request that started it is cancelled.
func TestFetchOutlivesItsRequest(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	keys := NewRemote(p.URL(), nil, clock)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	kid, _ := p.keys[0].KeyID()
	if _, err := keys.Key(gone, kid); err != nil {
		t.Error(err)
	}
	p.fetched(t, 1)
	if _, err := p.remote(t, &moving{}).Verify(gone, p.mint(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the caller has disconnected", err)
	}
}

// TestIssuerDocuments: an OpenID Connect client finds the documents at the address in the tokens.
func TestIssuerDocuments(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+"/.well-known/openid-configuration", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := p.server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var found struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	if found.Issuer != p.URL() || found.JWKSURI != p.URL()+"/.well-known/jwks.json" {
		t.Errorf("%+v, want the issuer %s and its keys below", found, p.URL())
	}
	set, err := jwk.Fetch(t.Context(), found.JWKSURI)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 1 {
		t.Fatalf("%d keys, want 1", set.Len())
	}
	key, _ := set.Key(0)
	if private, err := jwk.IsPrivateKey(key); err != nil || private {
		t.Errorf("a private key is published (%v)", err)
	}
}

func TestKeysAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "services", "issuer.json")
	if _, err := OpenIssuer("shop", path, "", clock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want the error that there are no keys", err)
	}
	first, err := OpenIssuer("shop", path, "http://127.0.0.1:8080", clock)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v: want a file for its owner alone", err, info.Mode())
	}
	beside, err := OpenIssuer("shop", path, "", clock)
	if err != nil {
		t.Fatal(err)
	}
	token, err := beside.Mint(Claims{Sub: "u-1", Groups: []string{"admin"}})
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, first.Verifier(), token)
	if err := first.Rotate(); err != nil {
		t.Fatal(err)
	}
	moved, err := OpenIssuer("shop", path, "http://127.0.0.1:9090", clock)
	if err != nil {
		t.Fatal(err)
	}
	if want := "http://127.0.0.1:9090/shop_users"; moved.URL() != want {
		t.Errorf("issuer %s, want %s", moved.URL(), want)
	}
	principal, err := moved.Verifier().Verify(t.Context(), token)
	refused(t, principal, err, "another issuer") // the key is still known, but the address differs
	if err := os.WriteFile(path, []byte(`{"base":"http://x","keys":{"keys":[]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenIssuer("shop", path, "", clock); err == nil || !strings.Contains(err.Error(), "no keys") {
		t.Errorf("%v, want the error that there are no keys", err)
	}
}

func TestMint(t *testing.T) {
	t.Parallel()
	i, err := NewIssuer("shop", "http://x/", clock)
	if err != nil {
		t.Fatal(err)
	}
	if i.URL() != "http://x/shop_users" {
		t.Errorf("issuer %s", i.URL())
	}
	for _, c := range []Claims{{}, {Sub: "u", TTL: -time.Second}} {
		if token, err := i.Mint(c); err == nil {
			t.Errorf("%v gave %s", c, token)
		}
	}
}

// TestIssuersOfOneKeyFile: each of two systems rejects the other's tokens, even if both sign with the same key.
func TestIssuersOfOneKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "issuer.json")
	shop, err := OpenIssuer("shop", path, "http://127.0.0.1:8080", clock)
	if err != nil {
		t.Fatal(err)
	}
	blog, err := OpenIssuer("blog", path, "http://127.0.0.1:8080", clock)
	if err != nil {
		t.Fatal(err)
	}
	token, err := shop.Mint(Claims{Sub: "u-1", Groups: []string{"admin"}})
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, shop.Verifier(), token)
	principal, err := blog.Verifier().Verify(t.Context(), token)
	refused(t, principal, err, "another issuer")

	for _, test := range []struct{ pool, client, detail string }{
		{blog.pool, shop.client, "another client"},
		{shop.pool, blog.client, "another issuer"},
	} {
		forger, err := issuerOf("blog", blog.base, clock, blog.keys)
		if err != nil {
			t.Fatal(err)
		}
		forger.pool, forger.client = test.pool, test.client
		if token, err = forger.Mint(Claims{Sub: "u-1"}); err != nil {
			t.Fatal(err)
		}
		principal, err = blog.Verifier().Verify(t.Context(), token)
		refused(t, principal, err, test.detail)
	}
}
