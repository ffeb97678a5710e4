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
	// keysAge is the maximum age of keys, and retryAfter the minimum time between two fetches, even if tokens have unknown keys.
	keysAge    = time.Hour
	retryAfter = 10 * time.Second
	jwksMax    = 256 << 10
)

// keySet holds the fetched keys of a provider.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex // held during a fetch, for which all users of the keys wait
	set     jwk.Set
	fetched time.Time // the last successful fetch
	tried   time.Time
	failure error
}

// keySet returns the key set of a URL.
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

// verify returns a token that is signed by one of the keys. It does not check the claims. If no key verifies the token, the keys
// are fetched again, because the provider may have new ones.
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

// fetch replaces the keys; if it fails, the previous ones are kept. It serves all waiting requests, so it does not end with the
// request that started it.
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
		if key.KeyType() == jwa.OctetSeq() { // a symmetric key must not be public
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
