// Package auth verifies access tokens issued by Amazon Cognito, and issues such tokens for development.
//
// # Model
//
//	Authorization: Bearer TOKEN ──Verifier──▶ Principal in the context ──Required──▶ handlers
//	                                 ▲
//	                             KeySource: the user pool's JWKS over HTTP (Remote), or an Issuer of this process
//
// # Invariants
//
//	V1  Only RS256 is accepted, with an RSA key of the source that the token's kid names; a token cannot choose another
//	    algorithm or key.
//	V2  issuer, client_id and token_use=access must be the configured ones; sub and exp are required; exp, nbf and iat are
//	    checked with a tolerance of 60 s.
//	V3  Keys are fetched once and cached. An unknown kid fetches them again, at most once a minute, so that a rotation is
//	    noticed and a flood of forged tokens does not reach the user pool.
//	    The signature of a recently used token is verified only once, as long as its kid names the same key; its claims
//	    are checked against V2 every time.
//	V4  An Issuer is for development and for a system's own log-in; it exists only if configured.
//	V5  An Issuer belongs to one system: its iss and client_id contain the system's name, so no other system accepts its
//	    tokens, even if two issuers share a key file. client_id is the audience: Cognito's access tokens have no aud.
//
// # Errors
//
// *problem.Error: 401 for a token that is rejected, 503 if the keys are unavailable.
//
// The package is safe for concurrent use.
package auth

import (
	"context"
	"slices"

	"github.com/monotable/monotable/systems/internal/problem"
)

// Principal is the caller according to a verified token: the user's sub and groups, and the token's session if the system has
// sessions.
type Principal struct {
	Sub     string
	Groups  []string
	Session string
	// LogIn is the log-in that a user pool issued the token for, the same for all tokens refreshed from it, or "" if the token does
	// not name one.
	LogIn string
	// Account is what a system has read about the user in order to admit this request, or nil if it reads nothing.
	Account any
}

// In reports whether the principal belongs to one of the groups.
func (p Principal) In(groups ...string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(p.Groups, g) })
}

type principalKey struct{}

// With returns a context with a principal.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Optional returns the principal, if there is one.
func Optional(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

type publicKey struct{}

// Public returns the context of a request to an operation that anyone may call.
func Public(ctx context.Context) context.Context {
	return context.WithValue(ctx, publicKey{}, true)
}

// CursorOwner returns the owner of a list's cursors: the principal's sub, or "" in a public operation. Public lists are the same
// for everyone, so a cursor stays valid when its holder signs in or out.
func CursorOwner(ctx context.Context) string {
	if public, _ := ctx.Value(publicKey{}).(bool); public {
		return ""
	}
	p, _ := Optional(ctx)
	return p.Sub
}

// Required returns the principal, or a problem if there is none.
func Required(ctx context.Context) (Principal, error) {
	if p, ok := Optional(ctx); ok {
		return p, nil
	}
	return Principal{}, problem.MissingToken()
}
