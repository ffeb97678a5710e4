package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/observe"
)

// unknownOperationName is the name under which requests for unknown operations are counted.
const unknownOperationName = "(unknown)"

// codeCanceled is the code under which a request is counted whose client disconnected before the response.
const codeCanceled = "(canceled)"

// OperationNames returns the names under which a server counts requests, for observe.New.
func OperationNames() []string {
	var names []string
	for _, o := range api.Operations() {
		names = append(names, o.Name)
	}
	return append(names, unknownOperationName)
}

// Tracer traces requests of the API.
type Tracer interface {
	// Begin is called when a request has arrived. The engine gets the context that it returns; end is called once, when the
	// response has been sent. A nil end means that the request is not traced.
	Begin(r *http.Request) (ctx context.Context, end func(*Exchange))
}

// Exchange is a request and its response as a Tracer sees them at the end.
type Exchange struct {
	*observe.Request
	Operation string // "" if the request was not a call of the API
	Status    int
	Failure   observe.Failure // the zero Failure if the request succeeded
	Fault     error           // the cause of a System failure, for operators
}

// Traced returns a handler like s, with a tracer.
func (s *Server) Traced(t Tracer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, t, false) })
}

// Memory returns how much of Options.Memory is reserved by requests in flight, and the total.
func (s *Server) Memory() (used, limit int64) { return s.memory.inUse(), s.options.Memory }

// trace starts to trace the request, and returns the function that ends that.
func (x *exchange) trace(t Tracer) (end func()) {
	ctx, tracerEnd := t.Begin(x.r)
	x.ctx.Continue(ctx)
	if tracerEnd == nil {
		return func() {}
	}
	x.ctx.Request.Detailed = true
	return func() {
		tracerEnd(&Exchange{Request: &x.ctx.Request, Operation: x.operation, Status: x.status, Failure: x.failure, Fault: x.fault})
	}
}

// calls records the operation that the request calls.
func (x *exchange) calls(op *operation) {
	x.called = op
	x.ctx.Request.ID, x.ctx.Request.Operation, x.operation = x.id, op.index, op.Name
	if op.Name == "" {
		x.operation = unknownOperationName
	}
}

// received records that the request has been read completely.
func (x *exchange) received() { x.complete = time.Now() }

// finish counts the request once, when its response is ready.
func (x *exchange) finish(status, bytes int) {
	if x.status != 0 || x.operation == "" {
		return
	}
	x.status = status
	if !x.complete.IsZero() {
		x.took = time.Since(x.complete)
	}
	counts := x.server.options.Observe
	counts.Sent.Add(int64(bytes))
	counts.Finish(&x.ctx.Request, x.took, x.failure)
	if x.took >= cmp.Or(x.server.options.Slow, observe.SlowDefault) {
		counts.Slow.Add(&x.ctx.Request, x.operation, x.complete, x.took, x.failure)
	}
	if x.sampled {
		counts.Sample.Add(&x.ctx.Request, observe.SampledRequest{
			Operation: x.operation, At: x.complete, Took: x.took, Failure: x.failure, Input: x.input,
		}, time.Now())
	}
}

// failed records the error that the client gets.
func (x *exchange) failed(e *apierr.Error) {
	x.failure = observe.Failure{Code: string(e.Code), Class: classOf(e)}
}

// canceled reports whether err only means that the client has disconnected.
func (x *exchange) canceled(err error) bool {
	return x.r.Context().Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// throttles are the codes that ask a client to retry later.
var throttles = []apierr.Code{apierr.ProvisionedThroughputExceededException, apierr.RequestLimitExceeded, apierr.ThrottlingException}

func classOf(e *apierr.Error) observe.Class {
	switch {
	case e == errBroken:
		return observe.User
	case slices.Contains(throttles, e.Code):
		return observe.Throttled
	case e.Status() >= http.StatusInternalServerError:
		return observe.System
	default:
		return observe.User
	}
}

// logSlow logs a slow request.
func (x *exchange) logSlow() {
	o := &x.server.options
	if o.Slow <= 0 || x.took < o.Slow {
		return
	}
	attributes := append(x.attributes(), slog.Duration("took", x.took))
	if x.failure.Code != "" {
		attributes = append(attributes, slog.String("error", x.failure.Code))
	}
	o.Logger.LogAttrs(x.r.Context(), slog.LevelWarn, "slow request", attributes...)
}

// attributes returns the log attributes of a request.
func (x *exchange) attributes() []slog.Attr {
	r := &x.ctx.Request
	attributes := []slog.Attr{slog.String("request_id", x.id), slog.String("operation", x.operation)}
	if r.Table != nil {
		names := []string{r.Table.Name}
		for _, t := range r.More {
			names = append(names, t.Name)
		}
		attributes = append(attributes, slog.Any("tables", names))
	}
	for _, wait := range []struct {
		name string
		observe.Wait
	}{{"latch_wait", r.Latch}, {"sync_wait", r.Sync}, {"read_time", r.Read}} {
		if wait.Times > 0 {
			attributes = append(attributes, slog.Duration(wait.name, wait.Total))
		}
	}
	return attributes
}
