package auth

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/monotable/monotable/systems/internal/problem"
)

const (
	// skew is by how much the issuer's clock and this one may differ.
	skew = 60 * time.Second
	// tokenMax is far beyond what Cognito issues.
	tokenMax = 8 << 10
	keyBits  = 2048
)

// The claims of Cognito's access tokens beside the registered ones.
const (
	claimTokenUse = "token_use"
	claimClientID = "client_id"
	claimGroups   = "cognito:groups"
	claimSession  = "sid"
)

// ErrUnknownKey is a KeySource's, wrapped, for a kid that it does not know.
var ErrUnknownKey = errors.New("unknown key")

// KeySource has an issuer's public keys.
type KeySource interface {
	// Key is the key of a kid: ErrUnknownKey where there is none, another error where that cannot be told.
	Key(ctx context.Context, kid string) (*rsa.PublicKey, error)
}

// Verifier verifies access tokens of one issuer for its clients.
type Verifier struct {
	issuer  string
	clients []string
	keys    KeySource
	now     func() time.Time
}

// NewVerifier returns a verifier of the tokens that an issuer has given to one of the clients. A nil clock is the
// system's.
func NewVerifier(issuer string, clients []string, keys KeySource, now func() time.Time) (*Verifier, error) {
	if issuer == "" || len(clients) == 0 || slices.Contains(clients, "") || keys == nil {
		return nil, errors.New("auth: a verifier needs an issuer, the ids of its clients, and their keys")
	}
	if now == nil {
		now = time.Now
	}
	return &Verifier{issuer: issuer, clients: clients, keys: keys, now: now}, nil
}

// Verify is the principal of a token.
func (v *Verifier) Verify(ctx context.Context, token string) (Principal, error) {
	if len(token) > tokenMax || strings.Count(token, ".") != 2 {
		return Principal{}, problem.InvalidToken("the access token is not a signed JWT", nil)
	}
	var unavailable error
	provider := jws.KeyProviderFunc(func(ctx context.Context, sink jws.KeySink, signature *jws.Signature, _ *jws.Message) error {
		key, err := v.key(ctx, signature)
		if err != nil && !errors.Is(err, errUnsigned) && !errors.Is(err, ErrUnknownKey) {
			unavailable = err
		}
		if err != nil {
			return err
		}
		sink.Key(jwa.RS256(), key)
		return nil
	})
	parsed, err := jwt.ParseString(token, jwt.WithKeyProvider(provider), jwt.WithValidate(false), jwt.WithContext(ctx))
	if err != nil && ctx.Err() != nil {
		return Principal{}, ctx.Err()
	}
	if unavailable != nil {
		return Principal{}, problem.Unavailable(unavailable)
	}
	if err != nil {
		return Principal{}, problem.InvalidToken("the access token is not signed by the issuer", err)
	}
	if err := v.validate(parsed); err != nil {
		return Principal{}, err
	}
	return principal(parsed)
}

// errUnsigned is for a token whose header names no key, another algorithm, or an extension that it wants understood.
var errUnsigned = errors.New("want alg RS256, a kid, and no crit")

func (v *Verifier) key(ctx context.Context, signature *jws.Signature) (*rsa.PublicKey, error) {
	header := signature.ProtectedHeaders()
	algorithm, _ := header.Algorithm()
	kid, _ := header.KeyID()
	if algorithm != jwa.RS256() || kid == "" || header.Has(jws.CriticalKey) {
		return nil, errUnsigned
	}
	return v.keys.Key(ctx, kid)
}

// validate holds the claims against V2.
func (v *Verifier) validate(token jwt.Token) error {
	err := jwt.Validate(token, jwt.WithClock(jwt.ClockFunc(v.now)), jwt.WithAcceptableSkew(skew), jwt.WithRequiredClaim(jwt.ExpirationKey))
	switch {
	case errors.Is(err, jwt.TokenExpiredError()):
		return problem.InvalidToken("the access token has expired", err)
	case err != nil:
		return problem.InvalidToken("the access token is not valid now", err)
	}
	if issuer, _ := token.Issuer(); issuer != v.issuer {
		return problem.InvalidToken("the access token is another issuer's", fmt.Errorf("iss %q, want %q", issuer, v.issuer))
	}
	if use := text(token, claimTokenUse); use != "access" {
		return problem.InvalidToken("the token is not an access token", fmt.Errorf("token_use %q", use))
	}
	if client := text(token, claimClientID); !slices.Contains(v.clients, client) {
		return problem.InvalidToken("the access token is for another client", fmt.Errorf("client_id %q", client))
	}
	return nil
}

// subMax is what OpenID Connect allows. Whoever is longer than a key may be would be in no table.
const subMax = 255

func principal(token jwt.Token) (Principal, error) {
	sub, _ := token.Subject()
	if sub == "" {
		return Principal{}, problem.InvalidToken("the access token is nobody's", nil)
	}
	if len(sub) > subMax {
		return Principal{}, problem.InvalidToken("the access token's sub is longer than one may be", nil)
	}
	p := Principal{Sub: sub, Session: text(token, claimSession)}
	if !token.Has(claimGroups) {
		return p, nil
	}
	var groups []any
	if err := token.Get(claimGroups, &groups); err != nil {
		return Principal{}, problem.InvalidToken("the access token's groups are no list", err)
	}
	for _, g := range groups {
		name, ok := g.(string)
		if !ok {
			return Principal{}, problem.InvalidToken("the access token's groups are no list of names", nil)
		}
		p.Groups = append(p.Groups, name)
	}
	return p, nil
}

// text is a claim that is a text; "" for others.
func text(token jwt.Token, claim string) string {
	var value string
	if token.Get(claim, &value) != nil {
		return ""
	}
	return value
}
