// Package api is the common part of all systems' HTTP APIs: paths, authentication, metrics, and the form of responses and
// problems.
//
// # Model
//
//	request ─▶ id, log, metrics ─▶ CORS ─▶ gzip ─▶ route ─▶ principal, rate, time-out ─▶ huma ─▶ handler
//	                                                                                       │
//	                         problem+json ◀── problem.Rules ◀── any error, of anything ◀───┘
//
// A system registers its operations with huma, which validates requests and produces the document at PREFIX/openapi.json, shown
// by the page at PREFIX/docs. A handler is a function of a typed input, and returns errors unchanged.
//
// # Invariants
//
//	A1  An operation requires an access token unless it is Public or Tokenless. If a token is sent it must be valid.
//	A2  Every response has X-Request-Id; every problem contains it; every request's log line has it.
//	A3  The log contains no bodies, headers or addresses: a route instead of a path, a sub instead of a name.
//	A4  Every error becomes a problem with a code, including those of routing and validation.
//	A5  A request that takes too long is cancelled through its context. Only a Stream may take longer; it ends when the
//	    process drains.
//	A6  A handler gets exactly what was validated: a body that could be read in two ways is rejected.
//	A7  If a system keeps acts, staff changes nothing without a record of who requested it: one transaction makes both.
//
// An API is safe for concurrent use once its operations are registered.
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
	// defaultTimeout is below API Gateway's limit of 29 s.
	defaultTimeout = 10 * time.Second
	defaultMaxBody = 1 << 20
	// compressFrom is the size from which responses are compressed.
	compressFrom = 1 << 10
)

// Verifier verifies a token and returns its principal; *auth.Verifier is one.
type Verifier interface {
	Verify(ctx context.Context, token string) (auth.Principal, error)
}

// Options of an API. Name, Title and Verifier are required.
type Options struct {
	// Name is the system's name, in metrics and logs.
	Name string
	// Title, About and Version are those of the OpenAPI document.
	Title, About, Version string
	// Prefix begins all paths: "/appcore", or "" if the API has its own host.
	Prefix string
	// Page is the page at the prefix: it serves GET / and the files below /assets/. Nil redirects to Docs.
	Page http.Handler
	// Docs is the page at PREFIX/docs, which shows the document: it serves GET / and the files below /assets/. Nil serves none.
	Docs http.Handler
	// Examples are added to their operations in the document.
	Examples []Example
	// Rules map the errors that the system's design declares to responses.
	Rules problem.Rules
	// Words translate the system's own messages; messages common to all systems are built in.
	Words    *words.Catalogue
	Verifier Verifier
	// Ready reports whether the database is available; nil means always.
	Ready func(context.Context) error
	// Logger logs requests; nil logs nothing.
	Logger *slog.Logger
	// Metrics counts requests; nil counts nothing.
	Metrics *Metrics
	// Origins are the web origins that may call the API; "*" allows all.
	Origins []string
	// Timeout of a request; 0 is 10 s.
	Timeout time.Duration
	// MaxBody is the largest request body; 0 is 1 MB.
	MaxBody int64
	// Limiter limits requests per user, or per address for anonymous callers; nil does not.
	Limiter *ratelimit.Limiter
	// Proxies are the networks of trusted proxies, whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	// Acts records the requests of the group Staff; nil records nothing.
	Acts  *Acts
	Staff string
	// Clock dates acts; nil is the system clock.
	Clock func() time.Time
	// Draining ends event streams when it is closed.
	Draining <-chan struct{}
}

// API is one system's API: a huma.API to register operations with, and the handler that serves it.
type API struct {
	huma.API
	options  Options
	origins  *httpguard.Guard
	mux      *http.ServeMux
	handler  http.Handler
	document func() ([]byte, error)
	problems []declared // of all operations
}

// New creates an API with health, readiness, document and page, and no other operations.
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
	config.Transformers = []huma.Transformer{a.finishProblem}
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

// ServeHTTP serves a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Handle adds a page outside of the document. Pattern is for example "GET /play/", without the prefix; the handler sees paths
// without it too.
func (a *API) Handle(pattern string, handler http.Handler) {
	method, path, found := strings.Cut(pattern, " ")
	if !found {
		method, path = "", pattern
	} else {
		method += " "
	}
	a.mux.Handle(method+a.options.Prefix+path, http.StripPrefix(a.options.Prefix, handler))
}

// compressible excludes event streams: each event must be sent immediately.
func compressible(contentType string) bool {
	return gzhttp.DefaultContentTypeFilter(contentType) && !strings.HasPrefix(contentType, "text/event-stream")
}
