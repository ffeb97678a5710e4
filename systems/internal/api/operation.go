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
	// writeGrace is how long a client may take to read an answer beyond the time that the request had.
	writeGrace = 20 * time.Second
	// humaBodyTimeout is how long a body may take where nobody says anything; bodyGrace, beyond the time of the request.
	humaBodyTimeout = 5 * time.Second
	bodyGrace       = time.Second
)

// traitsKey is where an operation keeps its traits.
const traitsKey = "systems/api"

// traits are what an operation says beyond what huma knows.
type traits struct {
	public, tokenless, stream, acted bool
	groups                           []string
	// refusals are the operation's own.
	refusals []error
	timeout  time.Duration
	// tagged is set for an operation that answers 304 to who has its response, versioned for one that shows something Versioned.
	tagged, versioned bool
	// routed is set for an operation of a table of routes; location and cache are what it says of a success, ensures that 200
	// is one as well as 201.
	routed, ensures bool
	location, cache string
}

// notForCaller refuses who is in none of the groups.
func (t *traits) notForCaller() error {
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

// Operation is an operation with traits, for what no line of a table can say, such as event streams.
func Operation(op huma.Operation, with ...Option) huma.Operation {
	for _, set := range with {
		set(&op)
	}
	return op
}

// Public lets anybody call the operation. The principal is there if a token came; one that is not valid is refused, so
// that nobody whose session has ended is taken for a stranger.
func Public(op *huma.Operation) { traitsOf(op).public = true }

// Tokenless lets anybody call the operation, and ignores tokens: for log-in, which an expired token must not prevent, and
// for health checks.
func Tokenless(op *huma.Operation) { t := traitsOf(op); t.public, t.tokenless = true, true }

// Stream lets the operation go on until the client leaves or the process drains: for event streams.
func Stream(op *huma.Operation) { traitsOf(op).stream = true }

// Groups lets only members of one of the groups call the operation.
func Groups(names ...string) Option {
	return func(op *huma.Operation) { traitsOf(op).groups = names }
}

// Through lets a function decide about each request, once it is known who calls: on whose behalf, or not at all. What it returns is the
// context that the operation has; its error is the response.
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

// Timeout gives the operation a time of its own.
func Timeout(d time.Duration) Option {
	return func(op *huma.Operation) { traitsOf(op).timeout = d }
}

// About is what the document says beyond the summary.
func About(text string) Option { return func(op *huma.Operation) { op.Description = text } }

// At says where the subject of a response is, relative to the path before the last slash: "posts/{postId}", with a member of the
// response.
func At(location string) Option { return func(op *huma.Operation) { traitsOf(op).location = location } }

// Cache is the Cache-Control of a response.
func Cache(control string) Option { return func(op *huma.Operation) { traitsOf(op).cache = control } }

// Status is the status of a response that is not the usual one.
func Status(status int) Option { return func(op *huma.Operation) { op.DefaultStatus = status } }

// complete writes into the document what is true of all operations, and sets what the traits say.
func (a *API) complete(document *huma.OpenAPI, op *huma.Operation) {
	t := traitsOf(op)
	if op.MaxBodyBytes == defaultMaxBody { // huma's own default
		op.MaxBodyBytes = a.options.MaxBody
	}
	if op.BodyReadTimeout == humaBodyTimeout && !t.stream {
		// The deadline stays on the connection when the body has been read, and net/http takes its passing for the client's
		// leaving: it must be behind the end of the request's time.
		op.BodyReadTimeout = a.limitOf(t) + bodyGrace
	}
	switch {
	case !t.public:
		op.Security = []map[string][]string{{bearer: {}}}
	case !t.tokenless:
		op.Security = []map[string][]string{{}, {bearer: {}}} // with a token or without
	}
	if len(t.groups) > 0 {
		op.Description = strings.TrimSpace(op.Description + "\n\nFor members of: " + strings.Join(t.groups, ", ") + ".")
	}
	delete(op.Responses, strconv.Itoa(http.StatusUnprocessableEntity)) // huma's for invalid requests, which are 400 here
	delete(op.Responses, "default")
	for _, parameter := range op.Parameters {
		if parameter.In == "header" && parameter.Name == idempotencyHeader {
			documentAgain(op, "The first answer to this request, again")
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
	a.exemplify(op)
	a.declare(document, op, document.Components.Schemas.Schema(reflect.TypeFor[problem.Problem](), true, "Problem"))
}

// documentAgain adds 200 to an operation that creates.
func documentAgain(op *huma.Operation, why string) {
	if created := op.Responses[strconv.Itoa(http.StatusCreated)]; created != nil {
		again := *created
		again.Description = why
		op.Responses[strconv.Itoa(http.StatusOK)] = &again
	}
}

// documentHeaders leaves out the headers that an operation does not send: all responses of routes are of one Go type.
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

// admit lets only those pass who may.
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
		a.fail(ctx, t.notForCaller())
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

// authenticate is whose token came; known is false where none came and none is needed.
func (a *API) authenticate(ctx huma.Context, t *traits) (_ auth.Principal, known bool, _ error) {
	if t.tokenless {
		return auth.Principal{}, false, nil
	}
	r, _ := humago.Unwrap(ctx)
	headers := r.Header.Values("Authorization")
	switch {
	case len(headers) > 1: // a proxy may have looked at another one
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

// bound gives a request its time.
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

// limitOf is the time that an operation has.
func (a *API) limitOf(t *traits) time.Duration {
	if t.timeout > 0 {
		return t.timeout
	}
	return a.options.Timeout
}

// whenClosed calls f when a channel is closed, unless it is stopped before.
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
