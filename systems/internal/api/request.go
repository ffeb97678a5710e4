package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/accept"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/words"
)

const (
	requestIDHeader = "X-Request-Id"
	requestIDMax    = 64
)

// Unmatched is the route label of requests that match no route.
const Unmatched = "unmatched"

// requestIDForm matches request ids from load balancers, API Gateway and people.
var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._=:-]+$`)

// request is the state of a request being served. It belongs to the request's goroutine.
type request struct {
	api    *API
	id     string
	method string
	route  string // the path of the matching pattern
	sub    string
	// language of a problem's texts.
	language string
	// known are the tags in If-None-Match.
	known string
	// address is the caller's address, for limits on anonymous callers; it is not logged.
	address string
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// RequestID returns the id of the context's request; "" outside of requests.
func RequestID(ctx context.Context) string {
	if r := requestOf(ctx); r != nil {
		return r.id
	}
	return ""
}

// Language returns the language of the context's request, one of accept.Languages; English outside of requests.
func Language(ctx context.Context) string {
	if r := requestOf(ctx); r != nil {
		return r.language
	}
	return accept.English
}

// Complete completes a problem for the context's request, with its id and in the caller's language.
func Complete(ctx context.Context, p *problem.Problem) *problem.Problem {
	r := requestOf(ctx)
	if r == nil {
		return p
	}
	return r.complete(p)
}

func (r *request) complete(p *problem.Problem) *problem.Problem {
	if r.language == accept.English {
		return p.For(r.id)
	}
	return p.For(r.id).In(func(english string) string {
		if text := r.api.options.Words.Say(r.language, english); text != english {
			return text
		}
		return words.Platform.Say(r.language, english)
	})
}

// requestID returns the caller's request id if it is safe to log.
func requestID(r *http.Request) string {
	id := r.Header.Get(requestIDHeader)
	if len(id) > requestIDMax || !requestIDForm.MatchString(id) {
		return rand.Text()
	}
	return id
}

// observe assigns the request's id, and reports its outcome to the log and metrics.
func (a *API) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		about := &request{api: a, id: requestID(r), method: knownMethod(r.Method), route: Unmatched, address: a.callerOf(r), known: r.Header.Get("If-None-Match"), language: accept.Language(r)}
		w.Header().Set(requestIDHeader, about.id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		response := &responseRecorder{ResponseWriter: w}
		a.options.Metrics.begin(a.options.Name)
		whole := false
		defer func() { // also after a panic, which aborts the response
			took := time.Since(begun)
			a.options.Metrics.end(a.options.Name, about, response, took)
			fields := []slog.Attr{
				slog.String("system", a.options.Name), slog.String("request_id", about.id),
				slog.String("method", about.method), slog.String("route", about.route), slog.Int("status", response.code()),
				slog.Int64("bytes", response.bytes), slog.Duration("took", took), slog.String("sub", about.sub),
			}
			if !whole {
				fields = append(fields, slog.Bool("aborted", true))
			}
			a.options.Logger.LogAttrs(r.Context(), slog.LevelInfo, "request", fields...)
		}()
		next.ServeHTTP(response, r.WithContext(context.WithValue(r.Context(), requestKey{}, about)))
		whole = true
	})
}

// guard turns a panic into a problem if nothing has been sent yet.
func (a *API) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := &responseRecorder{ResponseWriter: w}
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if fault == http.ErrAbortHandler { //nolint:errorlint,err113 // it is the value itself that is thrown
				panic(fault)
			}
			about, stack := requestOf(r.Context()), debug.Stack()
			if response.status == 0 && unhashable(fault, stack) {
				about.complete(problem.New(http.StatusBadRequest, problem.CodeInvalidBody, "the request body is invalid", problem.Field{
					Field: "body", Message: "a list whose items must differ has lists or objects",
				})).Write(w)
				return
			}
			a.options.Logger.ErrorContext(
				r.Context(), "panic", "system", a.options.Name, "request_id", about.id, "route", about.route,
				"panic", fault, "stack", string(stack),
			)
			if response.status != 0 {
				panic(http.ErrAbortHandler) // the client must not mistake half a response for a complete one
			}
			about.complete(a.options.Rules.Problem(errPanic)).Write(w)
		}()
		next.ServeHTTP(response, r)
	})
}

// unhashable recognises a panic in huma's validation, which checks that items are unique before it checks their types. The fault
// lies with the request, not the service.
func unhashable(fault any, stack []byte) bool {
	err, ok := fault.(runtime.Error)
	return ok && strings.Contains(err.Error(), "hash of unhashable type") && bytes.Contains(stack, []byte("huma/v2.Validate("))
}

// route finds the operation, or responds if there is none.
func (a *API) route(w http.ResponseWriter, r *http.Request) {
	about := requestOf(r.Context())
	handler, pattern := a.mux.Handler(r)
	if pattern == "" {
		refusal := &responseRecorder{ResponseWriter: discard{http.Header{}}}
		handler.ServeHTTP(refusal, r)
		p := problem.New(http.StatusNotFound, "", "this path does not exist")
		if refusal.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", refusal.Header().Get("Allow"))
			p = problem.New(http.StatusMethodNotAllowed, "", "this path does not support the method")
		}
		about.complete(p).Write(w)
		return
	}
	if _, path, found := strings.Cut(pattern, " "); found {
		pattern = path
	}
	about.route = pattern
	if !isText(r.URL) {
		about.complete(problem.New(http.StatusBadRequest, problem.CodeInvalidParameter, "the path or query is not valid UTF-8 or is not escaped correctly")).Write(w)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// isText reports whether path and query are UTF-8: anything else cannot be stored or found.
func isText(u *url.URL) bool {
	query, err := url.QueryUnescape(u.RawQuery)
	return err == nil && utf8.ValidString(query) && utf8.ValidString(u.Path)
}

// knownMethod keeps invented methods out of metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

// responseRecorder wraps a ResponseWriter and records the response.
type responseRecorder struct {
	http.ResponseWriter
	status int // 0 until a status is sent
	bytes  int64
}

// WriteHeader records the first final status.
func (a *responseRecorder) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *responseRecorder) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Flush sends buffered data if possible.
func (a *responseRecorder) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() }

// Unwrap supports http.ResponseController.
func (a *responseRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// code returns the status, or 200 if none was set.
func (a *responseRecorder) code() int {
	if a.status == 0 {
		return http.StatusOK
	}
	return a.status
}

// discard is a ResponseWriter that keeps only the header.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
