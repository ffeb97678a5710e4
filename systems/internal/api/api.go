// Package api is what the HTTP APIs of all systems have in common: where they live, who may call them, what is measured,
// and what an answer and a problem look like.
//
// # Model
//
//	request ─▶ id, log, metrics ─▶ CORS ─▶ gzip ─▶ route ─▶ principal, rate, time-out ─▶ huma ─▶ handler
//	                                                                                       │
//	                         problem+json ◀── problem.Rules ◀── any error, of anything ◀───┘
//
// A system registers its operations with huma, and from them come validation and the document at PREFIX/openapi.json, which
// the page at PREFIX/docs shows. A handler is a function of a typed input; it returns errors as it meets them.
//
// # Invariants
//
//	A1  An operation needs an access token unless it says that it is Public or Tokenless. A token that came is valid or refused.
//	A2  Every answer has X-Request-Id; every problem says it; the log line of every request has it.
//	A3  The log has no bodies, no headers, no addresses: a route instead of a path, a sub instead of a name.
//	A4  Every error leaves as a problem with a code, those of the router and of validation too.
//	A5  A request that takes too long is ended through its context; only a Stream may take longer, and ends when the process
//	    drains.
//	A6  What was validated is what a handler gets: a body that could be read in two ways is refused.
//	A7  Where a system keeps acts, nothing that is for staff and changes something is done before it is kept who asks for it.
//
// An API may be used from any number of goroutines once its operations are registered.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzhttp"

	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/ratelimit"
	"github.com/monotable/monotable/systems/internal/words"
)

const (
	// defaultTimeout is below the 29 s that API Gateway waits.
	defaultTimeout = 10 * time.Second
	defaultMaxBody = 1 << 20
	// compressFrom is the size from which answers are compressed.
	compressFrom = 1 << 10
)

// Verifier tells whose token it is; *auth.Verifier is one.
type Verifier interface {
	Verify(ctx context.Context, token string) (auth.Principal, error)
}

// Options of an API. Name, Title and Verifier must be given.
type Options struct {
	// Name is the system's, in metrics and logs.
	Name string
	// Title, About and Version are the document's.
	Title, About, Version string
	// Prefix is what all paths begin with: "/appcore", or "" where the API has a host of its own.
	Prefix string
	// Page is what people see at the prefix: it answers GET / and what is below /assets/. Nil sends them to Docs.
	Page http.Handler
	// Docs is the page at PREFIX/docs, which shows the document beside it: it answers GET / and what is below /assets/. Nil is none.
	Docs http.Handler
	// Examples stand in the document at their operations.
	Examples []Example
	// Rules are the answers to the errors that the system's design declares.
	Rules problem.Rules
	// Words translate what the system says to people; what all systems say is known.
	Words    *words.Catalogue
	Verifier Verifier
	// Ready tells whether the database can be used; nil is always.
	Ready func(context.Context) error
	// Logger is told of requests; nil tells no one.
	Logger *slog.Logger
	// Metrics counts; nil does not.
	Metrics *Metrics
	// Origins are the origins whose pages may call; "*" allows all.
	Origins []string
	// Timeout ends a request; 0 is 10 s.
	Timeout time.Duration
	// MaxBody is the largest body that is read; 0 is 1 MB.
	MaxBody int64
	// Limiter bounds the requests of one user, or of one address where nobody has signed in; nil does not.
	Limiter *ratelimit.Limiter
	// Proxies are the networks of those in front, who are believed when they say for whom they call.
	Proxies []netip.Prefix
	// Acts keep what Staff, a group, asks for; nil keeps nothing.
	Acts  *Acts
	Staff string
	// Clock tells when something is asked for; nil is the machine's.
	Clock func() time.Time
	// Draining ends event streams when it is closed.
	Draining <-chan struct{}
}

// API is one system's: a huma.API to register operations with, and the handler of it all.
type API struct {
	huma.API
	options  Options
	origins  *httpguard.Guard
	mux      *http.ServeMux
	handler  http.Handler
	document func() ([]byte, error)
	problems []declared // those of all operations
}

// New makes an API without operations, but for health, readiness, document and page.
func New(o Options) (*API, error) {
	if o.Name == "" || o.Title == "" || o.Verifier == nil {
		return nil, errors.New("api: Name, Title and Verifier must be given")
	}
	origins, err := httpguard.New(nil, o.Origins)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	settleHuma()
	a := &API{options: o, origins: origins, mux: http.NewServeMux()}
	config := huma.DefaultConfig(o.Title, o.Version)
	config.Info.Description, config.Extensions = o.About, map[string]any{}
	config.Formats = formats()
	config.OpenAPIPath, config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", "", nil // served here
	config.Transformers = []huma.Transformer{a.tell}
	config.OnAddOperation = []huma.AddOpFunc{a.complete}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearer: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "An access token of the user pool."},
	}
	if o.Prefix == "" {
		a.API = humago.New(a.mux, config)
	} else {
		a.API = humago.NewWithPrefix(a.mux, o.Prefix, config)
	}
	a.UseMiddleware(a.admit, a.preread, a.bound, a.acts)
	a.document = sync.OnceValues(func() ([]byte, error) { return json.Marshal(a.OpenAPI()) })
	a.registerDocument()
	a.registerHealth()
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.EnableZstd(false), gzhttp.ContentTypeFilter(compressible), gzhttp.SuffixETag(gzipSuffix))
	if err != nil {
		return nil, fmt.Errorf("api: compression: %w", err)
	}
	a.handler = a.observe(a.cors(compress(a.guard(http.HandlerFunc(a.route)))))
	return a, nil
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxBody == 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Version == "" {
		o.Version = "1.0.0"
	}
	return o
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Handle adds pages, which are no part of the document: pattern is "GET /play/", without the prefix, and so are the paths
// that the handler sees.
func (a *API) Handle(pattern string, handler http.Handler) {
	method, path, found := strings.Cut(pattern, " ")
	if !found {
		method, path = "", pattern
	} else {
		method += " "
	}
	a.mux.Handle(method+a.options.Prefix+path, http.StripPrefix(a.options.Prefix, handler))
}

// compressible leaves event streams alone: each event has to leave at once.
func compressible(contentType string) bool {
	return gzhttp.DefaultContentTypeFilter(contentType) && !strings.HasPrefix(contentType, "text/event-stream")
}
