package sts

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

const (
	fetchTimeout = 5 * time.Second
	// keysAge is how old keys may get, and retryAfter the least time between two fetches: tokens of unknown keys do not make more.
	keysAge    = time.Hour
	retryAfter = 10 * time.Second
	jwksMax    = 256 << 10
)

// keySet has the keys of a provider, as fetched.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex // held during a fetch: whoever needs the keys waits for it
	set     jwk.Set
	fetched time.Time // the last fetch that succeeded
	tried   time.Time
	failure error
}

// keySet returns the keys at a URL.
func (h *Handler) keySet(url string) *keySet {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.keys[url]
	if k == nil {
		k = &keySet{url: url, client: h.options.Client, now: h.options.Now}
		h.keys[url] = k
	}
	return k
}

// verify returns a token that one of the keys has signed. Its claims are not looked at. The keys are fetched again for one that they
// do not verify: the provider may have new ones.
func (k *keySet) verify(ctx context.Context, token string) (jwt.Token, error) {
	set, err := k.get(ctx, false)
	if err != nil {
		return nil, err
	}
	verified, err := parse(token, set)
	if err == nil {
		return verified, nil
	}
	again, failed := k.get(ctx, true)
	if failed != nil || again == set {
		return nil, err
	}
	return parse(token, again)
}

func parse(token string, set jwk.Set) (jwt.Token, error) {
	return jwt.ParseString(token, jwt.WithKeySet(set, jws.WithInferAlgorithmFromKey(true), jws.WithRequireKid(false)), jwt.WithValidate(false))
}

func (k *keySet) get(ctx context.Context, newer bool) (jwk.Set, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.set != nil && !newer && now.Sub(k.fetched) < keysAge {
		return k.set, nil
	}
	if k.tried.IsZero() || now.Sub(k.tried) >= retryAfter {
		k.tried = now
		k.fetch(ctx)
	}
	if k.set == nil {
		return nil, errors.Join(errUnavailable, k.failure)
	}
	return k.set, nil
}

// fetch replaces the keys; where that fails, those that are there stay. It is for all who wait, so it does not end with the request
// that began it.
func (k *keySet) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	set, err := jwk.Fetch(ctx, k.url, jwk.WithHTTPClient(k.client), jwk.WithMaxFetchBodySize(jwksMax))
	if err != nil {
		k.failure = err
		return
	}
	public := jwk.NewSet()
	for i := range set.Len() {
		key, _ := set.Key(i)
		if key.KeyType() == jwa.OctetSeq() { // a secret is no key that anyone may know
			continue
		}
		if use, ok := key.KeyUsage(); ok && use != jwk.ForSignature.String() {
			continue
		}
		if k.failure = public.AddKey(key); k.failure != nil {
			return
		}
	}
	k.set, k.fetched, k.failure = public, k.now(), nil
}
