package auth

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
)

const (
	// fetchTimeout limits how long fetching the keys may take.
	fetchTimeout = 5 * time.Second
	// fetchInterval is the minimum time between fetches after a success, retryInterval after a failure.
	fetchInterval = time.Minute
	retryInterval = time.Second
	// jwksMax limits the response: two keys take less than 2 KB.
	jwksMax = 256 << 10
	// keysPath is the path of a user pool's keys, below the issuer's URL.
	keysPath = "/.well-known/jwks.json"
)

// errNoKeys is the error for a user pool whose response has no usable key.
var errNoKeys = errors.New("the response has no key for RS256")

// Remote is the KeySource of a user pool: it fetches the JWKS over HTTP.
type Remote struct {
	url    string
	client *http.Client
	now    func() time.Time

	fetching chan struct{} // a semaphore held during a fetch; waiting requests may give up
	next     time.Time     // when the next fetch is allowed
	failure  error         // of the last fetch

	mu   sync.RWMutex
	keys map[string]*rsa.PublicKey // nil before the first fetch
}

// NewRemote returns the keys of an issuer. Nothing is fetched before the first token. A nil client means one with reasonable
// timeouts, a nil clock the system clock.
func NewRemote(issuer string, client *http.Client, now func() time.Time) *Remote {
	if client == nil {
		client = &http.Client{Timeout: fetchTimeout}
	}
	if now == nil {
		now = time.Now
	}
	return &Remote{url: issuer + keysPath, client: client, now: now, fetching: make(chan struct{}, 1)}
}

// Key returns the key for a kid, and fetches the keys if the kid is unknown.
func (r *Remote) Key(ctx context.Context, kid string) (*rsa.PublicKey, error) {
	if key := r.known(kid); key != nil {
		return key, nil
	}
	if err := r.turn(ctx); err != nil {
		return nil, err
	}
	defer func() { <-r.fetching }()
	if key := r.known(kid); key != nil { // fetched while this request waited
		return key, nil
	}
	if !r.now().Before(r.next) {
		r.fetch(ctx)
	}
	if key := r.known(kid); key != nil {
		return key, nil
	}
	if r.failure != nil {
		return nil, r.failure
	}
	return nil, fmt.Errorf("%w %q", ErrUnknownKey, kid)
}

// turn acquires the right to fetch. It waits no longer than the request lasts.
func (r *Remote) turn(ctx context.Context) error {
	select {
	case r.fetching <- struct{}{}:
		return nil
	default:
	}
	select {
	case r.fetching <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Remote) known(kid string) *rsa.PublicKey {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.keys[kid]
}

// fetch replaces the keys; after a failure the old ones stay. Since all waiting requests depend on it, it outlives the request
// that has started it. The caller holds fetching.
func (r *Remote) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	set, err := jwk.Fetch(ctx, r.url, jwk.WithHTTPClient(r.client), jwk.WithMaxFetchBodySize(jwksMax))
	if err != nil {
		r.failure, r.next = fmt.Errorf("auth: fetch %s: %w", r.url, err), r.now().Add(retryInterval)
		return
	}
	keys := publicKeys(set)
	if len(keys) == 0 { // never the case for a user pool
		r.failure, r.next = fmt.Errorf("auth: fetch %s: %w", r.url, errNoKeys), r.now().Add(retryInterval)
		return
	}
	r.failure, r.next = nil, r.now().Add(fetchInterval)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = keys
}

// publicKeys returns the keys of a set that can verify RS256 signatures.
func publicKeys(set jwk.Set) map[string]*rsa.PublicKey {
	keys := map[string]*rsa.PublicKey{}
	for i := range set.Len() {
		key, _ := set.Key(i)
		kid, _ := key.KeyID()
		if use, ok := key.KeyUsage(); kid == "" || ok && use != jwk.ForSignature.String() {
			continue
		}
		if algorithm, ok := key.Algorithm(); ok && algorithm.String() != "RS256" {
			continue
		}
		var public rsa.PublicKey
		if jwk.Export(key, &public) != nil || public.N.BitLen() < keyBits {
			continue
		}
		keys[kid] = &public
	}
	return keys
}
