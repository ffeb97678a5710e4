package api

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/byname"
)

const (
	// actTimeout limits how long recording an act may take if its change did not record it. The request's own timeout may have
	// passed by then.
	actTimeout = 5 * time.Second
	// actTargetMax is the longest path that is recorded.
	actTargetMax = 400
	// actRandom is the number of random characters after the id of a request.
	actRandom = 10
)

// Act is an audit record of a staff request: an operation for a group other than GET, or an operation with Acted called by a
// member of the staff group.
type Act struct {
	// Day is the day of At, in UTC: 2026-11-23.
	Day string
	At  time.Time
	// RequestID is the id of the request, a slash and a random part: callers choose the ids of their requests, and one must not
	// overwrite the record of another by repeating its id.
	RequestID string
	// ActorID is the caller's sub.
	ActorID string
	// Operation is the operation's id; Target is the request's method and path.
	Operation, Target string
	// Status of the response.
	Status *int64
}

// Acts keeps an audit trail: who did what. The record of an act is part of the transaction that makes its change, and contains
// the status of a success. So nothing changes without a record, even if the process crashes, and a success needs no extra write.
// Any other response is recorded before it is sent: a rejection, an act that changed nothing, and a failure, after which it is
// unknown whether the act took effect.
type Acts struct {
	// write returns the write that stores an act's record; make executes it on its own.
	write func(Act) table.TxWrite
	make  func(context.Context, ...table.TxWrite) error
}

// KeepActs records acts with a write of a design. The write's fields are those of Act, and it is a put, because a record may be
// overwritten with another status.
func KeepActs[In, Out any](write func(In) *table.Op[Out], tx func(context.Context, ...table.TxWrite) error) *Acts {
	input := byname.Copy[Act, In]()
	return &Acts{write: func(act Act) table.TxWrite { return write(input(act)) }, make: tx}
}

// ShownAct is an act as staff see it.
type ShownAct struct {
	At        time.Time `json:"at" doc:"When it was requested"`
	ActorID   string    `json:"actorId" doc:"Who asked: the sub of the token"`
	Operation string    `json:"operation" doc:"The operation's id" example:"createProduct"`
	Target    string    `json:"target" doc:"Method and path" example:"POST /products"`
	Status    *int64    `json:"status,omitempty" doc:"The HTTP status of the response; if absent, it is unknown whether the request took effect" example:"201"`
	RequestID string    `json:"requestId" doc:"The request's id, as in the log, followed by / and a random part"`
}

// ActsPage is the input for listing the acts of a day.
type ActsPage struct {
	PageQuery
	Day string `query:"day" required:"true" format:"date" doc:"The day, in UTC" example:"2026-11-23"`
}

// ListActs adds GET /acts; option says who may call it.
func ListActs[P, Out any](r Routes, pattern func(context.Context, P, table.PageOptions) (table.Page[Out], error), staff Option) {
	List[ShownAct](r, "/acts", "listActs", "Staff requests of a day, newest first", Pages[ActsPage](pattern), staff,
		About("Each staff request that changes data, recorded in the same transaction as its change, with its status. Entries expire after a year."))
}

// Acted makes the operation an act when staff call it. An operation restricted to a group other than GET is always one.
func Acted(op *huma.Operation) { traitsOf(op).acted = true }

// acts records a request if it is an act: the record joins the first write, and such an operation makes only one. A second write
// fails with table.ErrAccompanied, because the record would report a success that is only half done.
func (a *API) acts(ctx huma.Context, next func(huma.Context)) {
	op := ctx.Operation()
	t := traitsOf(op)
	who, _ := auth.Optional(ctx.Context())
	keep := a.options.Acts
	if keep == nil || op.Method == http.MethodGet || (len(t.groups) == 0 && (!t.acted || !who.In(a.options.Staff))) {
		next(ctx)
		return
	}
	r, _ := humago.Unwrap(ctx)
	target := op.Method + " " + strings.TrimPrefix(r.URL.EscapedPath(), a.options.Prefix)
	at := a.options.Clock().UTC().Truncate(time.Millisecond)
	status := int64(op.DefaultStatus)
	act := Act{
		Day: at.Format(time.DateOnly), At: at, RequestID: RequestID(ctx.Context()) + "/" + rand.Text()[:actRandom], ActorID: who.Sub,
		Operation: op.OperationID, Target: target[:min(len(target), actTargetMax)], Status: &status,
	}
	inner, record := table.WithCompanion(ctx.Context(), keep.write(act))
	next(huma.WithContext(ctx, inner))
	if actual := int64(ctx.Status()); !record.Done() || actual != status {
		act.Status = &actual
		a.keep(ctx.Context(), act)
	}
}

// keep records an act that its change did not record, or recorded with another status.
func (a *API) keep(ctx context.Context, act Act) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
	defer cancel()
	if err := a.options.Acts.make(ctx, a.options.Acts.write(act)); err != nil {
		a.options.Logger.LogAttrs(ctx, slog.LevelError, "the outcome of a staff request was not recorded",
			slog.String("request_id", act.RequestID), slog.String("operation", act.Operation), slog.Int64("status", *act.Status), slog.Any("error", err))
	}
}
