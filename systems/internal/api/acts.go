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
	// actEndTimeout is how long it may take to keep how an act was answered, when its own time may be over.
	actEndTimeout = 5 * time.Second
	// actTargetMax is how much of a path is kept.
	actTargetMax = 400
)

// Act is what one of the staff asks for: an operation for a group that is no GET, or one that is Acted by who is in the staff's group.
type Act struct {
	// Day is that of At, in UTC: 2026-11-23.
	Day       string
	At        time.Time
	RequestID string
	// ActorID is the sub of who asks.
	ActorID string
	// Operation is the operation's id; Target method and path, as they were asked for.
	Operation, Target string
	// Status is how it was answered; nil until then.
	Status *int64
}

// Acts keep who did what. Before an act is done it is kept that it is asked for, and an act that cannot be kept is not done. Then it
// is kept how it was answered: where that is missing, as after a crash, nobody knows whether it was done.
type Acts struct {
	begin, end func(context.Context, Act) error
}

// KeepActs keeps acts by two writes of a design, whose fields are those of Act.
func KeepActs[Begin, Begun, End, Ended any](begin func(context.Context, Begin) (Begun, error), end func(context.Context, End) (Ended, error)) *Acts {
	first, last := byname.Copy[Act, Begin](), byname.Copy[Act, End]()
	return &Acts{
		begin: func(ctx context.Context, act Act) error { _, err := begin(ctx, first(act)); return err },
		end:   func(ctx context.Context, act Act) error { _, err := end(ctx, last(act)); return err },
	}
}

// ShownAct is an act as staff sees it.
type ShownAct struct {
	At        time.Time `json:"at" doc:"When it was asked for"`
	ActorID   string    `json:"actorId" doc:"Who asked: the sub of the token"`
	Operation string    `json:"operation" doc:"The operation's id" example:"createProduct"`
	Target    string    `json:"target" doc:"Method and path" example:"POST /products"`
	Status    *int64    `json:"status,omitempty" doc:"The HTTP status of the answer; where it is missing nobody knows whether it was done" example:"201"`
	RequestID string    `json:"requestId" doc:"The request's id, as in the log"`
}

// ActsPage asks for a day's acts.
type ActsPage struct {
	PageQuery
	Day string `query:"day" required:"true" format:"date" doc:"The day, in UTC" example:"2026-11-23"`
}

// ListActs adds GET /acts, for those of whom option lets it be called.
func ListActs[P, Out any](r Routes, pattern func(context.Context, P, table.PageOptions) (table.Page[Out], error), staff Option) {
	List[ShownAct](r, "/acts", "listActs", "What staff has asked for on a day, newest first", Pages[ActsPage](pattern), staff,
		About("Each request of staff that changes something, kept before it is done, and how it was answered. Entries go after a year."))
}

// Acted says that the operation is an act where one of the staff calls it. What is for a group and is no GET is one by itself.
func Acted(op *huma.Operation) { traitsOf(op).acted = true }

// acts keeps an act before it is done and when it is answered.
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
		a.options.Logger.LogAttrs(end, slog.LevelError, "it is not kept how an act was answered",
			slog.String("request_id", act.RequestID), slog.String("operation", act.Operation), slog.Int64("status", status), slog.Any("error", err))
	}
}
