package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/identity/policy"
)

// Companion is another service at the same address, such as CloudWatch. Its requests are subject to the same limits and the same
// Authenticator. They are not counted: counts are of DynamoDB's operations.
type Companion interface {
	// Serves reports whether a request is the companion's. body is nil until it has been read; if only the body can tell, Serves
	// is true without it.
	Serves(r *http.Request, body []byte) bool
	// Public reports whether a request needs no signature.
	Public(r *http.Request, body []byte) bool
	// Serve responds to such a request. who is nil for the owner of the database, and without authentication; it is the zero
	// Principal for a public request.
	Serve(ctx context.Context, who *policy.Principal, r *http.Request, id string, body []byte) (status int, header http.Header, response []byte)
	// Recorded returns the parameters of a request as Serve reads them, for the Auditor, or nil if the request is not recorded.
	Recorded(r *http.Request, body []byte) url.Values
	// Refuse returns the response to a request that the server rejects.
	Refuse(r *http.Request, id string, e *apierr.Error) (int, http.Header, []byte)
}

// companion returns the companion that serves a request, or nil.
func (s *Server) companion(r *http.Request, body []byte) Companion {
	for _, c := range s.options.Companions {
		if c.Serves(r, body) {
			return c
		}
	}
	return nil
}

// callCompanion serves a request of a companion.
func (x *exchange) callCompanion(c Companion, surplus bool) {
	status, header, response := x.serveCompanion(c, surplus)
	if n := int64(cap(response)); n > entryBytes {
		if err := x.response.grow(x.r.Context(), &x.server.memory.responses, n, responseWait); err != nil {
			status, header, response = x.refuseFor(c, err)
		}
	}
	x.work.release()
	for name, values := range header {
		if name == headerContentType {
			x.mediaType = values
			continue
		}
		x.w.Header()[name] = values
	}
	x.send(status, response)
}

func (x *exchange) serveCompanion(c Companion, surplus bool) (status int, header http.Header, response []byte) {
	if surplus {
		return x.refuseFor(c, apierr.TooManyConnections.With())
	}
	body := smallBuffers.get()
	defer returnBody(body)
	if err := x.readBody(body); err != nil {
		return x.refuseFor(c, err)
	}
	if found := x.server.companion(x.r, *body); found != nil {
		c = found
	}
	if err := x.admit(c, body); err != nil {
		status, header, response = x.refuseFor(c, err)
		_ = x.auditForm(c, *body, response) // nothing has happened
		return status, header, response
	}
	ctx := x.ctx.Context
	if x.server.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, x.server.options.Timeout, errTimeout)
		defer cancel()
	}
	defer x.body.release()
	status, header, response = c.Serve(ctx, x.who, x.r, x.id, *body)
	if err := x.auditForm(c, *body, response); err != nil {
		return x.refuseFor(c, apierr.InternalFault.With())
	}
	return status, header, response
}

// admit authenticates a request of a companion, unless it is public, and decompresses its body. A compressed request is never
// public, because what was checked would not be what is served. The sender of a public request is the zero Principal, which may
// do nothing, if others have to authenticate.
func (x *exchange) admit(c Companion, body *[]byte) error {
	_, everyone := x.server.options.Authenticator.(acceptAll)
	if !everyone && !x.owner && x.r.Header.Get(headerEncoding) == "" && c.Public(x.r, *body) {
		x.who = new(policy.Principal)
		return nil
	}
	if err := x.authenticate(*body); err != nil {
		return err
	}
	return x.decompressBody(body)
}

// refuseFor responds with an error of the server itself.
func (x *exchange) refuseFor(c Companion, err error) (status int, header http.Header, response []byte) {
	e, known := errors.AsType[*apierr.Error](err)
	if !known {
		x.logFault(err)
		e = apierr.InternalFault.With()
	}
	return c.Refuse(x.r, x.id, e)
}
