// Package server answers DynamoDB's API over HTTP.
//
// A request passes these stages, each of which may end it with an answer:
//
//	origin        host and page that the request is from       origin.go
//	route         method, path, content type, target          route.go
//	body          at most 16 MB, then the signature, then gzip  body.go, auth.go
//	room          memory for what is large, and a turn          memory.go
//	operation     decode, member constraints, permission, engine   operations.go, auth.go
//	answer        encode, compress, checksum, headers           answer.go
//
// # Invariants
//
//	I1  Every answer has a request id, and every JSON answer the CRC-32 of its bytes as sent.
//	I2  What a client sends never causes a panic or a 500, but for the one case where AWS answers 500
//	    itself: a body whose compression is broken.
//	I3  The text of an internal fault goes to the log, with the request id; the client gets the id only.
//
//	I4  What requests take at once is bounded by Options.Memory, as far as it can be told before they take it; what
//	    a connection takes by itself, by HTTPServer and LimitConnections. A request beyond a bound gets
//	    ThrottlingException over a connection that stays open. It is AWS's code for a service that is busy, every
//	    operation may answer with it (RequestLimitExceeded is an account's quota, and of item operations only),
//	    and every SDK retries it with backoff.
//	I5  A response is built before its first byte is sent: a client that does not read holds memory, never a
//	    snapshot or an iterator, and only for as long as its pace allows.
//
// # Concurrency
//
// A Server serves any number of requests at once. Buffers of requests are pooled; nothing that the engine is
// given refers to them.
//
// # What it leaves to others
//
// Connections are package http1's, JSON is package wire's, member constraints are package api's. The server knows no keys and no tables.
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

// Options of a server; the zero value works.
type Options struct {
	// Region stands in the answer to the health check. Default "us-east-1".
	Region string
	// Regions are the engines of several Regions, by name, that of New's engine among them. Default: none, and every request
	// is for that one.
	Regions map[string]Engine
	// Authenticator tells who calls. Default: everyone may, and it is nobody in particular.
	Authenticator Authenticator
	// Authorizer decides what they may do. Default: everything.
	Authorizer Authorizer
	// Auditor records requests. Default: nobody does.
	Auditor Auditor
	// Guard protects from web pages. Default: no additional hosts, no other origins. Hosts are checked only without an
	// Authenticator: a page that rebinds its name has no credentials to send.
	Guard *httpguard.Guard
	// Memory is the most that requests in flight may take, as far as it can be told before they take it. Beyond it
	// requests wait, and are throttled. Default 512 MB.
	Memory int64
	// Turns is how many operations that read much may run at once, and how many with a very large input. Default: one for
	// each processor, and two at least.
	Turns int
	// Turn is called when an operation takes a turn, and with false when it gives it back, from several goroutines at once.
	// It must return soon. Default: nobody is notified.
	Turn func(taken bool)
	// Timeout is how long an operation may take once its input is there; 0 is for ever.
	Timeout time.Duration
	// Logger hears of internal faults. Default: discard.
	Logger *slog.Logger
	// Observe counts requests; its operations are OperationNames, and the engine counts in the same one. Default: one that
	// nobody sees, for an engine that does not count.
	Observe *observe.Database
	// Slow logs requests that take this long or longer. Default 0: none.
	Slow time.Duration
	// Ready returns why the database takes no writes, nil if it does. Default: it always does.
	Ready func() error
	// Moved returns the error of all requests once the database is elsewhere (see MovedTo), nil before. Default: it stays.
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
		engine: e, options: o, operations: operationsByTarget(), memory: newMemory(o.Memory, int64(o.Turns), o.Turn),
		health: "healthy: dynamodb." + o.Region + ".amazonaws.com ",
	}
}

// Panics is the number of requests that ended in a panic, each of which was logged and answered with
// InternalServerError.
func (s *Server) Panics() int64 { return s.panics.Load() }

// exchange is one request and its answer under way.
type exchange struct {
	server  *Server
	w       http.ResponseWriter
	r       *http.Request
	id      string
	values  [3]string // of the response's header: the id, the checksum, the length
	answer  contentType
	started bool // the answer's status has been sent

	slow bool // the body is among slowBodies

	owner  bool              // of the database: see Server.Owner
	who    *policy.Principal // nil for the owner, and where nobody is authenticated
	called *operation        // nil while the request is no call of an operation

	region     string          // whose engine serves it, and
	parameters json.RawMessage // what is recorded of its input: see note
	recorded   bool            // the call has been handed to the Auditor

	entry, body, inputTurn, readTurn, work, response reservation

	ctx       observe.Context // what the engine gets; see observe.go
	operation string          // "" while the request is no call of an operation
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

// call carries an operation out and responds.
func (x *exchange) call(op *operation) {
	out, err := x.perform(op)
	if err = x.audit(op, out, err); err != nil {
		x.fail(op, err)
		return
	}
	x.succeed(op, out)
}

// perform reads the operation's input and carries it out. The input's memory is free when it returns.
func (x *exchange) perform(op *operation) (out any, err error) {
	body := smallBuffers.get()
	defer smallBuffers.put(body)
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
	x.ctx.Continue(api.WithRoom(ctx, func(bytes int64) error { return x.largeRead(ctx, bytes) }))
	out, err = op.serve(&x.ctx, x, *body)
	x.body.release()
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) && errors.Is(err, context.DeadlineExceeded) {
		err = apierr.TimedOut.With(x.server.options.Timeout)
	}
	return out, err
}

// errTimeout is why the context of an operation ended that took longer than Options.Timeout.
var errTimeout = errors.New("server: request timeout")

// release gives back what the request has reserved.
func (x *exchange) release() {
	x.entry.release()
	x.body.release()
	x.inputTurn.release()
	x.readTurn.release()
	x.work.release()
	x.response.release()
}

// fail answers with err: as it is where it is meant for the client, else as InternalServerError.
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
	case !op.MayAnswer(e.Code):
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

// logFault logs an internal fault.
func (x *exchange) logFault(err error) {
	x.fault = err
	x.server.options.Logger.LogAttrs(x.r.Context(), slog.LevelError, "request failed", append(x.attributes(), slog.Any("error", err))...)
}

// recover turns a panic into an internal fault, except net/http's own way to break off an answer.
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
