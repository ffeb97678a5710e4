package auth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

// DefaultTTL is the default lifetime of Cognito's access tokens.
const DefaultTTL = time.Hour

// Issuer signs the access tokens of one system like a user pool, and serves a pool's URLs: /{pool}/.well-known/jwks.json and
// openid-configuration. It does not check passwords: callers of Mint can act as any user.
type Issuer struct {
	system string
	base   string
	pool   string // in the URL, in place of a user pool's id
	client string
	now    func() time.Time
	path   string // of the key file, or "" if the keys are only in memory

	mu   sync.RWMutex
	keys []jwk.Key // private; the first signs, the others only verify
	// set and verifying are the public keys.
	set       jwk.Set
	verifying map[string]*rsa.PublicKey
}

// Claims of a token.
type Claims struct {
	Sub    string
	Groups []string
	// Session is the token's session in the system, or "" if it has none.
	Session string
	// LogIn is the log-in that the token was issued for, or "" for none.
	LogIn string
	// TTL is the token's lifetime; 0 means DefaultTTL.
	TTL time.Duration
}

// NewIssuer creates a system's issuer with a new key, in memory. base begins its URLs, such as http://127.0.0.1:8080. A nil clock
// means the system clock.
func NewIssuer(system, base string, now func() time.Time) (*Issuer, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return issuerOf(system, base, now, []jwk.Key{key})
}

func issuerOf(system, base string, now func() time.Time, keys []jwk.Key) (*Issuer, error) {
	if now == nil {
		now = time.Now
	}
	i := &Issuer{system: system, base: strings.TrimSuffix(base, "/"), pool: system + "_users", client: system + "-client", now: now}
	return i, i.use(keys)
}

// use switches to these keys; the caller holds the lock.
func (i *Issuer) use(keys []jwk.Key) error {
	set := jwk.NewSet()
	for _, private := range keys {
		key, err := private.PublicKey()
		if err == nil {
			err = set.AddKey(key)
		}
		if err != nil {
			return fmt.Errorf("auth: public key: %w", err)
		}
	}
	i.keys, i.set, i.verifying = keys, set, publicKeys(set)
	return nil
}

func newKey() (jwk.Key, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("auth: make a key: %w", err)
	}
	key, err := jwk.Import(private)
	if err != nil {
		return nil, fmt.Errorf("auth: make a key: %w", err)
	}
	return key, errors.Join(key.Set(jwk.KeyIDKey, rand.Text()), key.Set(jwk.AlgorithmKey, jwa.RS256()), key.Set(jwk.KeyUsageKey, jwk.ForSignature))
}

// System returns the name of the system whose tokens it signs.
func (i *Issuer) System() string { return i.system }

// URL returns the iss claim.
func (i *Issuer) URL() string { return i.base + "/" + i.pool }

// Client returns the client_id claim.
func (i *Issuer) Client() string { return i.client }

// Verifier returns a verifier of the issuer's tokens that sends no requests.
func (i *Issuer) Verifier() *Verifier {
	return newVerifier(i.URL(), []string{i.client}, i, i.now)
}

// Key implements KeySource.
func (i *Issuer) Key(_ context.Context, kid string) (*rsa.PublicKey, error) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	if key := i.verifying[kid]; key != nil {
		return key, nil
	}
	return nil, fmt.Errorf("%w %q", ErrUnknownKey, kid)
}

// Mint signs an access token.
func (i *Issuer) Mint(c Claims) (string, error) {
	if c.Sub == "" {
		return "", errors.New("auth: a token needs a sub")
	}
	if c.TTL == 0 {
		c.TTL = DefaultTTL
	}
	if c.TTL < 0 {
		return "", fmt.Errorf("auth: a token cannot be valid for %v", c.TTL)
	}
	now := i.now()
	builder := jwt.NewBuilder().
		Subject(c.Sub).Issuer(i.URL()).IssuedAt(now).Expiration(now.Add(c.TTL)).JwtID(rand.Text()).
		Claim(claimTokenUse, "access").Claim(claimClientID, i.client).Claim("username", c.Sub).
		Claim("scope", "aws.cognito.signin.user.admin").Claim("auth_time", now.Unix()).Claim("version", 2)
	if len(c.Groups) > 0 {
		builder.Claim(claimGroups, c.Groups)
	}
	if c.Session != "" {
		builder.Claim(claimSession, c.Session)
	}
	if c.LogIn != "" {
		builder.Claim(claimLogIn, c.LogIn)
	}
	token, err := builder.Build()
	if err != nil {
		return "", fmt.Errorf("auth: make a token: %w", err)
	}
	i.mu.RLock()
	key := i.keys[0]
	i.mu.RUnlock()
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.RS256(), key))
	if err != nil {
		return "", fmt.Errorf("auth: sign a token: %w", err)
	}
	return string(signed), nil
}

// Rotate switches to a new key. Tokens signed with the previous key are still accepted, older ones are not.
func (i *Issuer) Rotate() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.use([]jwk.Key{key, i.keys[0]}); err != nil {
		return err
	}
	return i.save()
}

// Register serves the issuer's documents at a user pool's paths, on an *http.ServeMux or similar.
func (i *Issuer) Register(mux interface{ Handle(string, http.Handler) }) {
	mux.Handle("GET /"+i.pool+keysPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i.mu.RLock()
		set := i.set
		i.mu.RUnlock()
		writeJSON(w, set)
	}))
	mux.Handle("GET /"+i.pool+"/.well-known/openid-configuration", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{
			"issuer": i.URL(), "jwks_uri": i.URL() + keysPath,
			"id_token_signing_alg_values_supported": []string{"RS256"},
			"response_types_supported":              []string{"token"},
			"subject_types_supported":               []string{"public"},
		})
	}))
}

func writeJSON(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document) // the client may have disconnected
}
