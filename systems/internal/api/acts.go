package api

import (
	"context"
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
	// actEndTimeout is how long recording an act's response may take; the request's own time may be over by then.
	actEndTimeout = 5 * time.Second
	// actTargetMax is the longest path that is recorded.
	actTargetMax = 400
)

// Act is an audit record of a staff request: an operation for a group other than GET, or an operation with Acted called by a
// member of the staff group.
type Act struct {
	// Day is the day of At, in UTC: 2026-11-23.
	Day       string
	At        time.Time
	RequestID string
	// ActorID is the caller's sub.
	ActorID string
	// Operation is the operation's id; Target is the request's method and path.
	Operation, Target string
	// Status of the response; nil until there is one.
	Status *int64
}

// Acts records who did what. An act is recorded before it runs, and does not run if it cannot be recorded. Its response is
// recorded afterwards: if that is missing, for example after a crash, it is unknown whether the act took effect.
type Acts struct {
	begin, end func(context.Context, Act) error
}

// KeepActs records acts with two writes of a design whose fields are those of Act.
func KeepActs[Begin, Begun, End, Ended any](begin func(context.Context, Begin) (Begun, error), end func(context.Context, End) (Ended, error)) *Acts {
	first, last := byname.Copy[Act, Begin](), byname.Copy[Act, End]()
	return &Acts{
		begin: func(ctx context.Context, act Act) error { _, err := begin(ctx, first(act)); return err },
		end:   func(ctx context.Context, act Act) error { _, err := end(ctx, last(act)); return err },
	}
}

// ShownAct is an act as staff sees it.
type ShownAct struct {
	At        time.Time `json:"at" doc:"When it was requested"`
	ActorID   string    `json:"actorId" doc:"Who asked: the sub of the token"`
	Operation string    `json:"operation" doc:"The operation's id" example:"createProduct"`
	Target    string    `json:"target" doc:"Method and path" example:"POST /products"`
	Status    *int64    `json:"status,omitempty" doc:"The HTTP status of the response; if absent, it is unknown whether the request took effect" example:"201"`
	RequestID string    `json:"requestId" doc:"The request's id, as in the log"`
}

// ActsPage requests the acts of a day.
type ActsPage struct {
	PageQuery
	Day string `query:"day" required:"true" format:"date" doc:"The day, in UTC" example:"2026-11-23"`
}

// ListActs adds GET /acts; option says who may call it.
func ListActs[P, Out any](r Routes, pattern func(context.Context, P, table.PageOptions) (table.Page[Out], error), staff Option) {
	List[ShownAct](r, "/acts", "listActs", "Staff requests of a day, newest first", Pages[ActsPage](pattern), staff,
		About("Each staff request that changes data is recorded before it is executed, and so is its outcome. Entries expire after a year."))
}

// Acted makes the operation an act when staff calls it. An operation for a group other than GET is one anyway.
func Acted(op *huma.Operation) { traitsOf(op).acted = true }

// acts records an act before it runs and after its response.
func (a *API) acts(ctx huma.Context, next func(huma.Context)) {
	op := ctx.Operation()
	t := traitsOf(op)
	who, _ := auth.Optional(ctx.Context())
	if keep := a.options.Acts; keep == nil || op.Method == http.MethodGet || (len(t.groups) == 0 && (!t.acted || !who.In(a.options.Staff))) {
		next(ctx)
		return
	}
	r, _ := humago.Unwrap(ctx)
	target := op.Method + " " + strings.TrimPrefix(r.URL.EscapedPath(), a.options.Prefix)
	at := a.options.Clock().UTC().Truncate(time.Millisecond)
	act := Act{
		Day: at.Format(time.DateOnly), At: at, RequestID: RequestID(ctx.Context()), ActorID: who.Sub,
		Operation: op.OperationID, Target: target[:min(len(target), actTargetMax)],
	}
	if err := a.options.Acts.begin(ctx.Context(), act); err != nil {
		a.fail(ctx, err)
		return
	}
	next(ctx)
	status := int64(ctx.Status())
	act.Status = &status
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx.Context()), actEndTimeout)
	defer cancel()
	if err := a.options.Acts.end(end, act); err != nil {
		a.options.Logger.LogAttrs(end, slog.LevelError, "the outcome of a staff request was not recorded",
			slog.String("request_id", act.RequestID), slog.String("operation", act.Operation), slog.Int64("status", status), slog.Any("error", err))
	}
}
