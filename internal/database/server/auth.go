package server

import (
	"context"
	"net/http"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// Authenticator tells who sends a request. It is asked once a request, before anything in the body is looked at.
type Authenticator interface {
	// Authenticate returns who has signed the request, or the *apierr.Error that refuses it (MissingAuthenticationToken,
	// UnrecognizedClient, InvalidSignature …). body is the body as it was sent, which is what a signature covers; it is
	// valid until Authenticate returns.
	Authenticate(r *http.Request, body []byte) (*policy.Principal, error)
}

// Authorizer decides what an authenticated sender may do. It is asked once an operation, when the input is known to be
// valid and nothing has been looked up. It may be called by any number of goroutines at once.
type Authorizer interface {
	// Authorize returns nil, or the AccessDeniedException that refuses the operation. who is nil where the server has no
	// Authenticator. region is the name of the Region whose engine will carry the operation out, in the operation's input,
	// as package api has it.
	Authorize(ctx context.Context, who *policy.Principal, r *http.Request, region string, op api.Operation, in any) error
}

// acceptAll lets everyone in, unsigned or signed with any key: right for an address that only this machine
// reaches.
type acceptAll struct{}

func (acceptAll) Authenticate(*http.Request, []byte) (*policy.Principal, error) { return nil, nil } //nolint:nilnil // nobody in particular

// Owner returns a handler like s for the owner of the database, who is in the same process: requests are neither
// authenticated nor authorized.
func (s *Server) Owner() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil, true) })
}

// MovedTo is the error of requests for a database that is elsewhere. SDKs retry them.
func MovedTo(place string) error { return apierr.DatabaseMoved.With(place) }

// authenticate notes who sends the request. Whoever may send one hears where the database is.
func (x *exchange) authenticate(body []byte) (err error) {
	if !x.owner {
		x.who, err = x.server.options.Authenticator.Authenticate(x.r, body)
	}
	if err != nil {
		return err
	}
	return x.server.options.Moved()
}

// authorize refuses what the sender may not do.
func (x *exchange) authorize(region string, in any) error {
	a := x.server.options.Authorizer
	if a == nil || x.owner {
		return nil
	}
	return a.Authorize(x.ctx.Context, x.who, x.r, region, x.called.Operation, in)
}
