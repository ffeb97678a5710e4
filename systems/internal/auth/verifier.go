package auth

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable/systems/internal/problem"
)

const (
	// skew is the tolerated difference between the issuer's clock and this one.
	skew = 60 * time.Second
	// tokenMax is far larger than any Cognito token.
	tokenMax = 8 << 10
	keyBits  = 2048
	// provenMost is the number of cached tokens, which take one or two kilobytes each.
	provenMost = 4096
)

// The claims of Cognito's access tokens, other than the registered ones.
const (
	claimTokenUse = "token_use"
	claimClientID = "client_id"
	claimGroups   = "cognito:groups"
	claimSession  = "sid"
	claimLogIn    = "origin_jti"
)

// ErrUnknownKey is wrapped by the error that a KeySource returns for an unknown kid.
var ErrUnknownKey = errors.New("unknown key")

// KeySource provides an issuer's public keys.
type KeySource interface {
	// Key returns the key for a kid. It returns ErrUnknownKey if there is none, and another error if that cannot be determined.
	Key(ctx context.Context, kid string) (*rsa.PublicKey, error)
}

// Verifier verifies access tokens of one issuer for its clients.
type Verifier struct {
	issuer  string
	clients []string
	keys    KeySource
	now     func() time.Time
	proven  *lru.Cache[[sha256.Size]byte, proof] // by the token's hash
}

// proof records that a token's signature was verified, with the key that its kid named at that time.
type proof struct {
	kid   string
	key   *rsa.PublicKey
	token jwt.Token // read-only
}

// NewVerifier returns a verifier of an issuer's tokens for the given clients. A nil clock means the system clock.
func NewVerifier(issuer string, clients []string, keys KeySource, now func() time.Time) (*Verifier, error) {
	if issuer == "" || len(clients) == 0 || slices.Contains(clients, "") || keys == nil {
		return nil, errors.New("auth: a verifier needs an issuer, the ids of its clients, and their keys")
	}
	if now == nil {
		now = time.Now
	}
	return newVerifier(issuer, clients, keys, now), nil
}

func newVerifier(issuer string, clients []string, keys KeySource, now func() time.Time) *Verifier {
	proven, _ := lru.New[[sha256.Size]byte, proof](provenMost) // fails only for a size below 1
	return &Verifier{issuer: issuer, clients: clients, keys: keys, now: now, proven: proven}
}

// Verify returns a token's principal.
func (v *Verifier) Verify(ctx context.Context, token string) (Principal, error) {
	if len(token) > tokenMax || strings.Count(token, ".") != 2 {
		return Principal{}, problem.InvalidToken("the access token is not a signed JWT", nil)
	}
	parsed, err := v.signed(ctx, token)
	if err != nil {
		return Principal{}, err
	}
	if err := v.validate(parsed); err != nil {
		return Principal{}, err
	}
	return principal(parsed)
}

// signed returns a token with a valid signature. Users send the same token with each request for an hour, so verified signatures
// are cached for as long as the kid names the same key. The claims are checked every time, because they depend on the time.
func (v *Verifier) signed(ctx context.Context, token string) (jwt.Token, error) {
	id := sha256.Sum256([]byte(token))
	if was, found := v.proven.Get(id); found {
		if key, err := v.keys.Key(ctx, was.kid); err == nil && key.Equal(was.key) {
			return was.token, nil
		}
	}
	var now proof
	var unavailable error
	provider := jws.KeyProviderFunc(func(ctx context.Context, sink jws.KeySink, signature *jws.Signature, _ *jws.Message) (err error) {
		if now.kid, now.key, err = v.key(ctx, signature); err != nil {
			if !errors.Is(err, errUnsigned) && !errors.Is(err, ErrUnknownKey) {
				unavailable = err
			}
			return err
		}
		sink.Key(jwa.RS256(), now.key)
		return nil
	})
	var err error
	now.token, err = jwt.ParseString(token, jwt.WithKeyProvider(provider), jwt.WithValidate(false), jwt.WithContext(ctx))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case unavailable != nil:
		return nil, problem.Unavailable(unavailable)
	case err != nil:
		return nil, problem.InvalidToken("the access token is not signed by the issuer", err)
	}
	v.proven.Add(id, now)
	return now.token, nil
}

// errUnsigned is the error for a token whose header names no key, another algorithm, or an unsupported critical extension.
var errUnsigned = errors.New("want alg RS256, a kid, and no crit")

func (v *Verifier) key(ctx context.Context, signature *jws.Signature) (kid string, key *rsa.PublicKey, err error) {
	header := signature.ProtectedHeaders()
	algorithm, _ := header.Algorithm()
	kid, _ = header.KeyID()
	if algorithm != jwa.RS256() || kid == "" || header.Has(jws.CriticalKey) {
		return "", nil, errUnsigned
	}
	key, err = v.keys.Key(ctx, kid)
	return kid, key, err
}

// validate checks the claims against V2.
func (v *Verifier) validate(token jwt.Token) error {
	err := jwt.Validate(token, jwt.WithClock(jwt.ClockFunc(v.now)), jwt.WithAcceptableSkew(skew), jwt.WithRequiredClaim(jwt.ExpirationKey))
	switch {
	case errors.Is(err, jwt.TokenExpiredError()):
		return problem.InvalidToken("the access token has expired", err)
	case err != nil:
		return problem.InvalidToken("the access token is not valid now", err)
	}
	if issuer, _ := token.Issuer(); issuer != v.issuer {
		return problem.InvalidToken("the access token is from another issuer", fmt.Errorf("iss %q, want %q", issuer, v.issuer))
	}
	if use := text(token, claimTokenUse); use != "access" {
		return problem.InvalidToken("the token is not an access token", fmt.Errorf("token_use %q", use))
	}
	if client := text(token, claimClientID); !slices.Contains(v.clients, client) {
		return problem.InvalidToken("the access token is for another client", fmt.Errorf("client_id %q", client))
	}
	return nil
}

// subMax is OpenID Connect's limit. Anything longer would not fit into a table's keys.
const subMax = 255

func principal(token jwt.Token) (Principal, error) {
	sub, _ := token.Subject()
	if sub == "" {
		return Principal{}, problem.InvalidToken("the access token has no subject", nil)
	}
	if len(sub) > subMax {
		return Principal{}, problem.InvalidToken("the access token's sub is too long", nil)
	}
	p := Principal{Sub: sub, Session: text(token, claimSession), LogIn: text(token, claimLogIn)}
	if !token.Has(claimGroups) {
		return p, nil
	}
	var groups []any
	if err := token.Get(claimGroups, &groups); err != nil {
		return Principal{}, problem.InvalidToken("the access token's groups are not a list", err)
	}
	for _, g := range groups {
		name, ok := g.(string)
		if !ok {
			return Principal{}, problem.InvalidToken("the access token's groups are not a list of names", nil)
		}
		p.Groups = append(p.Groups, name)
	}
	return p, nil
}

// text returns a string claim, or "" if it is missing or not a string.
func text(token jwt.Token, claim string) string {
	var value string
	if token.Get(claim, &value) != nil {
		return ""
	}
	return value
}
