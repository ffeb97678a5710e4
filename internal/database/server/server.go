// Package server serves DynamoDB's API over HTTP.
//
// A request passes these stages, each of which may end it with a response:
//
//	origin        host and page that the request comes from        origin.go
//	route         method, path, content type, target               route.go
//	body          at most 16 MB, then the signature, then gzip     body.go, auth.go
//	memory        for large requests, and a turn                   memory.go
//	operation     decode, member constraints, permission, engine   operations.go, auth.go
//	response      encode, compress, checksum, headers              response.go
//
// # Invariants
//
//	I1  Every response has a request id, and every JSON response the CRC-32 of its bytes as sent.
//	I2  No client input causes a panic or a 500, except the one case in which AWS itself responds with
//	    500: a body with broken compression.
//	I3  The text of an internal error is logged with the request id; the client only gets the id.
//	I4  The total memory of requests is limited by Options.Memory, as far as it can be estimated in advance; that
//	    of connections themselves by HTTPServer and LimitConnections. A request above a limit gets
//	    ThrottlingException over a connection that stays open. It is AWS's code for a service that is busy, valid for
//	    every operation (RequestLimitExceeded is an account's quota, and for item operations only),
//	    and every SDK retries it with backoff.
//	I5  A response is complete before its first byte is sent: a client that does not read holds memory, but never
//	    a snapshot or an iterator, and only for as long as its pace allows.
//
// # Concurrency
//
// A Server serves any number of requests concurrently. Request buffers are pooled; nothing passed to the engine refers to them.
//
// # Related packages
//
// Package http1 handles connections, package wire JSON, package api member constraints. The server knows neither keys nor tables.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/httpguard"
)

// Options configure a server; the zero value is valid.
type Options struct {
	// Region is in the response to the health check. Default "us-east-1".
	Region string
	// Regions are the engines of several Regions, by name, including New's engine. Default: none, and all requests go to that
	// engine.
	Regions map[string]Engine
	// Authenticator determines who calls. Default: every caller is accepted, without an identity.
	Authenticator Authenticator
	// Authorizer decides what they may do. Default: everything.
	Authorizer Authorizer
	// Auditor records requests. Default: none.
	Auditor Auditor
	// Guard protects against web pages. Default: no additional hosts, no other origins. Hosts are only checked without an
	// Authenticator: a page with a rebound host name has no credentials to send.
	Guard *httpguard.Guard
	// Memory is the maximum memory of requests in flight, as far as it can be estimated in advance. Further requests wait, and
	// are throttled. Default 512 MB.
	Memory int64
	// Turns is how many operations that read a lot may run at once, and how many with a very large input. Default: one per
	// processor, at least two.
	Turns int
	// OnLong is called when an operation turns out to be long, and with false when it ends, from several goroutines at once. Long are
	// pages of more than 300 KB, other reads of more than 64 KB, and inputs of more than 1 MB. It must return soon. Default: no call.
	OnLong func(begins bool)
	// Timeout limits an operation's time after its input has been read; 0 means no limit.
	Timeout time.Duration
	// Logger logs internal errors. Default: discard.
	Logger *slog.Logger
	// Observe counts requests; its operations are OperationNames, and the engine must use the same one. Default: one that is not
	// exported, for an engine that does not count.
	Observe *observe.Database
	// Slow logs requests that take at least this long. Default 0: none.
	Slow time.Duration
	// Ready returns why the database accepts no writes, or nil. Default: it always does.
	Ready func() error
	// Moved returns the error of all requests once the database has been moved (see MovedTo), nil before. Default: it has not.
	Moved func() error
	// Companions are other services at the same address; the first that serves a request gets it. Default: none.
	Companions []Companion
}

func (o Options) withDefaults() Options {
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Authenticator == nil {
		o.Authenticator = acceptAll{}
	}
	if o.Guard == nil {
		o.Guard = new(httpguard.Guard)
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Turns == 0 {
		o.Turns = max(2, runtime.GOMAXPROCS(0))
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = observe.New(OperationNames()...)
	}
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	if o.Moved == nil {
		o.Moved = func() error { return nil }
	}
	return o
}

// Server is an http.Handler that serves DynamoDB's API from an engine.
type Server struct {
	engine     Engine
	options    Options
	operations map[string]*operation
	health     string
	memory     *memory
	panics     atomic.Int64
}

// New returns a server of e.
func New(e Engine, o Options) *Server {
	o = o.withDefaults()
	return &Server{
		engine: e, options: o, operations: operationsByTarget(), memory: newMemory(o.Memory, int64(o.Turns), o.OnLong),
		health: "healthy: dynamodb." + o.Region + ".amazonaws.com ",
	}
}

// Panics returns the number of requests that panicked; each was logged and got InternalServerError.
func (s *Server) Panics() int64 { return s.panics.Load() }

// exchange is one request and its response in progress.
type exchange struct {
	server    *Server
	w         http.ResponseWriter
	r         *http.Request
	id        string
	values    [3]string // of the response's header: the id, the checksum, the length
	mediaType contentType
	started   bool // the response's status has been sent

	slow bool // the body is counted in slowBodies

	owner  bool              // of the database: see Server.Owner
	who    *policy.Principal // nil for the owner, and without authentication
	called *operation        // nil while the request is not a call of an operation

	region     string          // whose engine serves it, and
	parameters json.RawMessage // what is recorded of its input: see note
	recorded   bool            // the call has been passed to the Auditor
	sampled    bool            // the call is kept for those who watch its tables, with
	input      []byte          // its input, shortened: see sample

	entry, body, inputTurn, readTurn, long, work, response reservation

	ctx       observe.Context // passed to the engine; see observe.go
	operation string          // "" while the request is not a call of an operation
	complete  time.Time       // when the body had been read
	took      time.Duration   // from then until the response was ready
	status    int             // 0 until then
	failure   observe.Failure
	fault     error // of the database
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil, false) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request, tracer Tracer, owner bool) {
	counts := s.options.Observe
	counts.Requests.Add(1)
	defer counts.Requests.Add(-1)
	x := exchange{server: s, w: w, r: r, id: newRequestID(), owner: owner}
	x.ctx.Context = r.Context()
	x.ctx.Request.Detailed = s.options.Slow > 0
	x.commonHeaders()
	if tracer != nil {
		defer x.trace(tracer)()
	}
	defer x.release()
	defer x.recover()
	if !x.checkOrigin() {
		return
	}
	surplus := isSurplus(r.Context())
	if surplus {
		w.Header().Set("Connection", "close")
	}
	if c := s.companion(r, nil); c != nil {
		x.callCompanion(c, surplus)
		return
	}
	op, ok := x.route()
	if !ok {
		return
	}
	x.calls(op)
	if surplus {
		x.fail(op, apierr.TooManyConnections.With())
		return
	}
	x.call(op)
	x.logSlow()
}

// call executes an operation and responds.
func (x *exchange) call(op *operation) {
	out, err := x.perform(op)
	if err = x.audit(op, out, err); err != nil {
		x.fail(op, err)
		return
	}
	x.succeed(op, out)
}

// perform reads the operation's input and executes it. The input's memory is free when it returns.
func (x *exchange) perform(op *operation) (out any, err error) {
	body := smallBuffers.get()
	defer returnBody(body)
	if err := x.readBody(body); err != nil {
		return nil, err
	}
	if err := x.authenticate(*body); err != nil {
		return nil, err
	}
	if err := x.admitAudit(op); err != nil {
		return nil, err
	}
	if err := x.decompressBody(body); err != nil {
		return nil, err
	}
	x.received()
	ctx := x.ctx.Context
	if x.server.options.Timeout > 0 {
		timed := newDeadline(ctx, x.server.options.Timeout)
		defer timed.end()
		ctx = timed
		x.ctx.Continue(ctx)
	}
	if err := x.largeInput(ctx, *body); err != nil {
		return nil, err
	}
	x.ctx.Continue(api.WithRoom(ctx, func(bytes int64, long bool) error { return x.largeRead(ctx, bytes, long) }))
	out, err = op.serve(&x.ctx, x, *body)
	x.body.release()
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) && errors.Is(err, context.DeadlineExceeded) {
		err = apierr.TimedOut.With(x.server.options.Timeout)
	}
	return out, err
}

// errTimeout is the cancellation cause of an operation that took longer than Options.Timeout.
var errTimeout = errors.New("server: request timeout")

// release returns what the request has reserved.
func (x *exchange) release() {
	x.entry.release()
	x.body.release()
	x.inputTurn.release()
	x.readTurn.release()
	x.long.release()
	x.work.release()
	x.response.release()
}

// fail responds with err if it is meant for the client, else with InternalServerError.
func (x *exchange) fail(op *operation, err error) {
	e, ok := errors.AsType[*apierr.Error](err)
	if ok && e.Code == apierr.ThrottlingException {
		x.drain()
	}
	switch {
	case !ok && x.canceled(err):
		e = apierr.InternalFault.With()
		x.failure = observe.Failure{Code: codeCanceled, Class: observe.User}
		x.send(e.Status(), wire.AppendError(nil, e))
		return
	case !ok:
		x.logFault(err)
		e = apierr.InternalFault.With()
	case !op.MayReturn(e.Code):
		x.logFault(fmt.Errorf("not among the operation's errors: %w", err))
	}
	if e != errTooLarge {
		x.sendError(e)
		return
	}
	// The response goes first, for a sender that looks for one and stops.
	control := http.NewResponseController(x.w)
	_ = control.EnableFullDuplex()
	x.sendError(e)
	_ = control.Flush()
	x.release()
	x.drain()
}

// logFault logs an internal error.
func (x *exchange) logFault(err error) {
	x.fault = err
	x.server.options.Logger.LogAttrs(x.r.Context(), slog.LevelError, "request failed", append(x.attributes(), slog.Any("error", err))...)
}

// recover converts a panic to an internal error, except net/http's own way to abort a response.
func (x *exchange) recover() {
	reason := recover()
	if reason == nil {
		return
	}
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(reason)
	}
	x.server.panics.Add(1)
	x.server.options.Logger.ErrorContext(x.r.Context(), "request panicked",
		slog.String("target", x.r.Header.Get(headerTarget)), slog.String("request_id", x.id),
		slog.Any("panic", reason), slog.String("stack", string(debug.Stack())))
	x.fault = fmt.Errorf("panic: %v", reason)
	if x.called != nil && !x.recorded { // what it did may have happened
		_ = x.audit(x.called, nil, x.fault)
	}
	if !x.started {
		x.sendError(apierr.InternalFault.With())
	}
}
