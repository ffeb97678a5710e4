package server

import "net/http"

// Authenticator decides whether the sender of a request may make it. It is asked once a request, before
// anything in the body is looked at.
type Authenticator interface {
	// Authenticate returns nil, or the *apierr.Error that refuses the request (MissingAuthenticationToken,
	// UnrecognizedClient, InvalidSignature, AccessDenied …). body is the body as it was sent, which is what a
	// signature covers; it is valid until Authenticate returns.
	Authenticate(r *http.Request, body []byte) error
}

// acceptAll lets everyone in, unsigned or signed with any key: right for an address that only this machine
// reaches.
type acceptAll struct{}

func (acceptAll) Authenticate(*http.Request, []byte) error { return nil }
