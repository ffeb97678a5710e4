// Package auth verifies access tokens as Amazon Cognito issues them, and issues such tokens for development.
//
// # Model
//
//	Authorization: Bearer TOKEN ──Verifier──▶ Principal in the context ──Required──▶ handlers
//	                                 ▲
//	                             KeySource: the user pool's JWKS over HTTP (Remote), or an Issuer of this process
//
// # Invariants
//
//	V1  Only RS256, with an RSA key of the source that the token's kid names; a token's own words choose neither another
//	    algorithm nor another key.
//	V2  issuer, client_id and token_use=access must be the configured ones; sub and exp must be there; exp, nbf and iat hold
//	    within 60 s.
//	V3  Keys are fetched once and kept. An unknown kid fetches them again, at most once a minute, so that a rotation is seen
//	    and a flood of forged tokens is not passed on to the user pool.
//	    The signatures of the tokens that were used last are verified once, as long as their kid names the same key; what they
//	    say is held against V2 each time.
//	V4  An Issuer is for development and for a system's own log-in; it exists only where it was asked for.
//	V5  An Issuer belongs to one system: its iss and client_id contain the system's name, so no other system accepts its
//	    tokens, even if two issuers share a key file. client_id is the audience: Cognito's access tokens have no aud.
//
// # Errors
//
// *problem.Error: 401 for a token that is not accepted, 503 where the keys cannot be had.
//
// All of the package may be used from any number of goroutines.
package auth

import (
	"context"
	"slices"

	"github.com/monotable/monotable/systems/internal/problem"
)

// Principal is who calls, from a verified token: the user's sub and groups, and the session that the token is of where the
// system keeps sessions.
type Principal struct {
	Sub     string
	Groups  []string
	Session string
	// Account is what a system has read of the user in order to admit this request; nil where it reads nothing.
	Account any
}

// In tells whether the principal belongs to one of the groups.
func (p Principal) In(groups ...string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(p.Groups, g) })
}

type principalKey struct{}

// With is a context of a principal's request.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Optional is the principal, if there is one.
func Optional(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

type publicKey struct{}

// Public is a context of a request to an operation that anybody may call.
func Public(ctx context.Context) context.Context {
	return context.WithValue(ctx, publicKey{}, true)
}

// CursorOwner is whom a list's cursors belong to: the principal's sub, or "" in a public operation, whose lists are the
// same for everybody, so that a cursor stays valid when its holder signs in or out.
func CursorOwner(ctx context.Context) string {
	if public, _ := ctx.Value(publicKey{}).(bool); public {
		return ""
	}
	p, _ := Optional(ctx)
	return p.Sub
}

// Required is the principal, or the problem that there is none.
func Required(ctx context.Context) (Principal, error) {
	if p, ok := Optional(ctx); ok {
		return p, nil
	}
	return Principal{}, problem.MissingToken()
}
