package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

const (
	// bearer is the name of the security scheme.
	bearer = "bearer"
	// writeGrace is how long a client may take to read a response after the request's timeout.
	writeGrace = 20 * time.Second
	// humaBodyTimeout is huma's default time for reading a body; bodyGrace is added to the request's timeout.
	humaBodyTimeout = 5 * time.Second
	bodyGrace       = time.Second
)

// traitsKey is the metadata key of an operation's traits.
const traitsKey = "systems/api"

// traits are the properties of an operation that huma does not know.
type traits struct {
	public, tokenless, stream, acted bool
	groups                           []string
	// refusals are the operation's own errors.
	refusals []error
	timeout  time.Duration
	// tagged is set for an operation that returns 304 to callers who already have its response, versioned for one that returns
	// something Versioned.
	tagged, versioned bool
	// routed is set for an operation of a route table. location and cache are headers of a successful response. ensures means
	// that 200 is possible as well as 201.
	routed, ensures bool
	location, cache string
}

// forbidden is the error for callers who are in none of the groups.
func (t *traits) forbidden() error {
	return problem.Forbidden("", "this is for members of "+strings.Join(t.groups, ", "))
}

func traitsOf(op *huma.Operation) *traits {
	if t, ok := op.Metadata[traitsKey].(*traits); ok {
		return t
	}
	t := &traits{}
	if op.Metadata == nil {
		op.Metadata = map[string]any{}
	}
	op.Metadata[traitsKey] = t
	return t
}

// Operation is an operation with traits, for cases that a route table cannot express, such as event streams.
func Operation(op huma.Operation, with ...Option) huma.Operation {
	for _, set := range with {
		set(&op)
	}
	return op
}

// Public lets anyone call the operation. There is a principal if a token was sent. An invalid token is rejected, so that a caller
// with an expired session is not mistaken for an anonymous one.
func Public(op *huma.Operation) { traitsOf(op).public = true }

// Tokenless lets anyone call the operation and ignores tokens: for health checks, and for login, which an expired token must not
// prevent.
func Tokenless(op *huma.Operation) { t := traitsOf(op); t.public, t.tokenless = true, true }

// Stream lets the operation run until the client disconnects or the process drains: for event streams.
func Stream(op *huma.Operation) { traitsOf(op).stream = true }

// Groups lets only members of one of the groups call the operation.
func Groups(names ...string) Option {
	return func(op *huma.Operation) { traitsOf(op).groups = names }
}

// Through calls a function for each request once the caller is known. The function decides on whose behalf the request acts, or
// rejects it: it returns the operation's context, or an error that becomes the response.
func Through(decide func(huma.Context) (context.Context, error)) Option {
	return func(op *huma.Operation) {
		op.Middlewares = append(op.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
			inner, err := decide(ctx)
			if err != nil {
				requestOf(ctx.Context()).api.fail(ctx, err)
				return
			}
			next(huma.WithContext(ctx, inner))
		})
	}
}

// Timeout sets the operation's own timeout.
func Timeout(d time.Duration) Option {
	return func(op *huma.Operation) { traitsOf(op).timeout = d }
}

// About adds a description to the document, beyond the summary.
func About(text string) Option { return func(op *huma.Operation) { op.Description = text } }

// At sets the Location of a response, relative to the path up to the last slash: "posts/{postId}", with a member of the response.
func At(location string) Option { return func(op *huma.Operation) { traitsOf(op).location = location } }

// Cache sets the Cache-Control of a response.
func Cache(control string) Option { return func(op *huma.Operation) { traitsOf(op).cache = control } }

// complete documents what all operations have in common, and applies the traits.
func (a *API) complete(document *huma.OpenAPI, op *huma.Operation) {
	t := traitsOf(op)
	if op.MaxBodyBytes == defaultMaxBody { // huma's default
		op.MaxBodyBytes = a.options.MaxBody
	}
	if op.BodyReadTimeout == humaBodyTimeout && !t.stream {
		// The deadline stays on the connection after the body has been read, and when it passes net/http reports that the client
		// has disconnected. So it must be later than the end of the request.
		op.BodyReadTimeout = a.limitOf(t) + bodyGrace
	}
	switch {
	case !t.public:
		op.Security = []map[string][]string{{bearer: {}}}
	case !t.tokenless:
		op.Security = []map[string][]string{{}, {bearer: {}}} // with or without a token
	}
	if len(t.groups) > 0 {
		op.Description = strings.TrimSpace(op.Description + "\n\nFor members of: " + strings.Join(t.groups, ", ") + ".")
	}
	delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity)) // huma's for invalid requests, which are 400 here
	delete(op.Responses, "default")
	for _, parameter := range op.Parameters {
		if parameter.In == "header" && parameter.Name == idempotencyHeader {
			documentAgain(op, "The first response to this request, repeated")
		}
	}
	if t.ensures {
		documentAgain(op, "It was there already")
	}
	if t.routed {
		documentHeaders(op, t)
	}
	if t.tagged || t.versioned {
		documentTag(op, t)
	}
	a.addExamples(op)
	a.declare(document, op, document.Components.Schemas.Schema(reflect.TypeFor[problem.Problem](), true, "Problem"))
}

// documentAgain documents 200 for an operation that creates something.
func documentAgain(op *huma.Operation, why string) {
	if created := op.Responses[strconv.Itoa(http.StatusCreated)]; created != nil {
		again := *created
		again.Description = why
		op.Responses[strconv.Itoa(http.StatusOK)] = &again
	}
}

// documentHeaders removes headers that the operation does not send, because all responses of routes share one Go type.
func documentHeaders(op *huma.Operation, t *traits) {
	for _, response := range op.Responses {
		if t.location == "" {
			delete(response.Headers, "Location")
		}
		if t.cache == "" {
			delete(response.Headers, "Cache-Control")
		}
		delete(response.Headers, "ETag")
	}
}

// admit rejects callers who lack permission.
func (a *API) admit(ctx huma.Context, next func(huma.Context)) {
	t := traitsOf(ctx.Operation())
	principal, known, err := a.authenticate(ctx, t)
	if err != nil {
		a.fail(ctx, err)
		return
	}
	caller := "address " + requestOf(ctx.Context()).address
	if known {
		requestOf(ctx.Context()).sub, caller = principal.Sub, "sub "+principal.Sub
	}
	if len(t.groups) > 0 && !principal.In(t.groups...) {
		a.fail(ctx, t.forbidden())
		return
	}
	if err := a.options.Limiter.Allow(caller); err != nil {
		a.fail(ctx, err)
		return
	}
	if known {
		ctx = huma.WithContext(ctx, auth.With(ctx.Context(), principal))
	}
	if t.public {
		ctx = huma.WithContext(ctx, auth.Public(ctx.Context()))
	}
	next(ctx)
}

// authenticate returns the principal of the token; known is false if there is no token and none is required.
func (a *API) authenticate(ctx huma.Context, t *traits) (_ auth.Principal, known bool, _ error) {
	if t.tokenless {
		return auth.Principal{}, false, nil
	}
	r, _ := humago.Unwrap(ctx)
	headers := r.Header.Values("Authorization")
	switch {
	case len(headers) > 1: // a proxy may have used the other one
		return auth.Principal{}, false, problem.InvalidToken("there are several Authorization headers", nil)
	case len(headers) == 0 && t.public:
		return auth.Principal{}, false, nil
	case len(headers) == 0:
		return auth.Principal{}, false, problem.MissingToken()
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return auth.Principal{}, false, problem.MissingToken()
	}
	p, err := a.options.Verifier.Verify(ctx.Context(), strings.TrimSpace(token))
	return p, err == nil, err
}

// bound applies the request's timeout.
func (a *API) bound(ctx huma.Context, next func(huma.Context)) {
	t := traitsOf(ctx.Operation())
	_, w := humago.Unwrap(ctx)
	connection := http.NewResponseController(w)
	if t.stream {
		_ = connection.SetReadDeadline(time.Time{}) // not every connection has deadlines
		_ = connection.SetWriteDeadline(time.Time{})
		bounded, cancel := context.WithCancel(ctx.Context())
		defer cancel()
		stop := whenClosed(a.options.Draining, cancel)
		defer stop()
		next(huma.WithContext(ctx, bounded))
		return
	}
	limit := a.limitOf(t)
	_ = connection.SetWriteDeadline(time.Now().Add(limit + writeGrace))
	bounded, cancel := context.WithTimeout(ctx.Context(), limit)
	defer cancel()
	next(huma.WithContext(ctx, bounded))
}

// limitOf is an operation's timeout.
func (a *API) limitOf(t *traits) time.Duration {
	if t.timeout > 0 {
		return t.timeout
	}
	return a.options.Timeout
}

// whenClosed calls f when a channel is closed, unless it is stopped first.
func whenClosed(closed <-chan struct{}, f func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-closed:
			f()
		case <-done:
		}
	}()
	return func() { close(done) }
}
