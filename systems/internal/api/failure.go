package api

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/problem"
)

// errPanic stands for a panic, which has its own log line.
var errPanic = errors.New("a handler panicked")

// What huma says where it hands over an error of ours, or of the connection.
const (
	humaHandlerFailed = "unexpected error occurred"
	humaBodyUnread    = "cannot read request body"
)

// What a client is told of the faults of one request: the first of them, each in few words.
const (
	faultsMax = 20
	wordsMax  = 200
)

// settleHuma sets what huma knows one way of for the whole process: all its errors become problems, and a member of a body has
// the name that the document says, letter by letter. Left to itself huma validates one of {"note":…,"NOTE":…}, and encoding/json
// reads the other.
var settleHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return ofHuma(nil, status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		if about := requestOf(ctx.Context()); about != nil {
			return ofHuma(about.api.options.Rules, status, message, errs)
		}
		return ofHuma(nil, status, message, errs)
	}
})

// ofHuma is the one place where it is decided what a client is told.
func ofHuma(rules problem.Rules, status int, message string, errs []error) *problem.Problem {
	for _, err := range errs {
		var decided *problem.Error
		if message == humaHandlerFailed || errors.As(err, &decided) {
			return rules.Problem(err)
		}
	}
	fields := fieldsOf(errs)
	switch {
	case message == humaBodyUnread:
		return problem.New(http.StatusBadRequest, problem.CodeInvalidBody, "the body did not arrive whole")
	case status == http.StatusUnprocessableEntity, status == http.StatusBadRequest:
		return invalid(message, fields)
	case status >= http.StatusInternalServerError:
		return rules.Problem(errors.New(message))
	default:
		return problem.New(status, "", message, fields...)
	}
}

// invalid is for a request that does not fit its operation: always 400, for 422 is a key that was reused.
func invalid(message string, fields []problem.Field) *problem.Problem {
	for _, f := range fields {
		if !strings.HasPrefix(f.Field, "body") {
			return problem.New(http.StatusBadRequest, problem.CodeInvalidParameter, "a parameter is not what this operation takes", fields...)
		}
	}
	if len(fields) == 0 {
		fields = []problem.Field{{Field: "body", Message: message}}
	}
	return problem.New(http.StatusBadRequest, problem.CodeInvalidBody, "the body is not what this operation takes", fields...)
}

// fieldsOf are the first of huma's details without the values, which may be secrets.
func fieldsOf(errs []error) []problem.Field {
	var fields []problem.Field
	for _, err := range errs {
		var detailer huma.ErrorDetailer
		if !errors.As(err, &detailer) {
			continue
		}
		detail := detailer.ErrorDetail()
		fields = append(fields, problem.Field{Field: shortened(detail.Location), Message: shortened(detail.Message)})
		if len(fields) == faultsMax {
			break
		}
	}
	return fields
}

// shortened is the beginning of a text that a client may have made as long as it liked.
func shortened(text string) string {
	for n := range text { // the bytes at which characters begin
		if n > wordsMax {
			return text[:n] + "…"
		}
	}
	return text
}

// tell completes a problem on its way out: the request's id, its headers, the log.
func (a *API) tell(ctx huma.Context, _ string, v any) (any, error) {
	var p *problem.Problem
	switch v := v.(type) {
	case *problem.Problem:
		p = v
	case *huma.ErrorModel: // made before the first API was
		p = problem.New(v.Status, "", v.Detail)
	default:
		return v, nil
	}
	about := requestOf(ctx.Context())
	if p.Status >= http.StatusInternalServerError {
		a.options.Logger.ErrorContext(
			ctx.Context(), "request failed", "system", a.options.Name, "request_id", about.id, "method", about.method,
			"route", about.route, "code", p.Code, "error", p.Cause(),
		)
	} else if p.Cause() != nil {
		a.options.Logger.DebugContext(
			ctx.Context(), "request refused", "system", a.options.Name, "request_id", about.id, "method", about.method,
			"route", about.route, "code", p.Code, "error", p.Cause(),
		)
	}
	p.SetHeaders(ctx.SetHeader, ctx.AppendHeader)
	return about.told(p), nil
}

// fail answers with a problem from a middleware.
func (a *API) fail(ctx huma.Context, err error) {
	_ = huma.WriteErr(a, ctx, http.StatusInternalServerError, humaHandlerFailed, err)
}
