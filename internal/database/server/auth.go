package server

import (
	"context"
	"net/http"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// Authenticator determines who sends a request. It is called once for each request, before the body is parsed.
type Authenticator interface {
	// Authenticate returns who has signed the request, or the *apierr.Error that rejects it (MissingAuthenticationToken,
	// UnrecognizedClient, InvalidSignature …). body is the body as sent, which is what a signature covers; it is valid until
	// Authenticate returns.
	Authenticate(r *http.Request, body []byte) (*policy.Principal, error)
}

// Authorizer decides what an authenticated sender may do. It is called once for each operation, when the input is known to be
// valid and nothing has been looked up. It must be safe for concurrent use.
type Authorizer interface {
	// Authorize returns nil, or the AccessDeniedException that rejects the operation. who is nil if the server has no
	// Authenticator. region is the Region whose engine executes the operation, and in is the operation's input.
	Authorize(ctx context.Context, who *policy.Principal, r *http.Request, region string, op api.Operation, in any) error
}

// acceptAll accepts every request, unsigned or signed with any key. It is right for an address that only this machine can reach.
type acceptAll struct{}

func (acceptAll) Authenticate(*http.Request, []byte) (*policy.Principal, error) { return nil, nil } //nolint:nilnil // no particular sender

// Owner returns a handler like s for the owner of the database in this process: requests are neither authenticated nor
// authorized.
func (s *Server) Owner() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil, true) })
}

// MovedTo returns the error of requests for a database that has been moved. SDKs retry them.
func MovedTo(place string) error { return apierr.DatabaseMoved.With(place) }

// authenticate determines who sends the request. Only authenticated senders are told where a moved database is.
func (x *exchange) authenticate(body []byte) (err error) {
	if !x.owner {
		x.who, err = x.server.options.Authenticator.Authenticate(x.r, body)
	}
	if err != nil {
		return err
	}
	return x.server.options.Moved()
}

// authorize rejects what the sender may not do.
func (x *exchange) authorize(region string, in any) error {
	a := x.server.options.Authorizer
	if a == nil || x.owner {
		return nil
	}
	return a.Authorize(x.ctx.Context, x.who, x.r, region, x.called.Operation, in)
}
