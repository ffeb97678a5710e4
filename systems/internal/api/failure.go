package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/systems/internal/problem"
)

// errPanic stands for a panic, which is logged separately.
var errPanic = errors.New("a handler panicked")

// What huma says when it reports one of our errors, or a connection error.
const (
	humaHandlerFailed = "unexpected error occurred"
	humaBodyUnread    = "cannot read request body"
)

// Limits on how many faults of a request are reported, and on their length.
const (
	faultsMax = 20
	wordsMax  = 200
)

// settleHuma configures huma's process-wide settings: all errors become problems, and member names are case-sensitive. By default
// huma validates one of {"note":…,"NOTE":…} while encoding/json reads the other, and writes a limit of a million as 1e+06.
var settleHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.ErrorFormatter = func(format string, args ...any) string { //nolint:reassign // a variable for this purpose
		for i, arg := range args {
			if n, ok := arg.(float64); ok {
				args[i] = strconv.FormatFloat(n, 'f', -1, 64)
			}
		}
		return fmt.Sprintf(format, args...)
	}
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(nil, status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		if about := requestOf(ctx.Context()); about != nil {
			return fromHuma(about.api.options.Rules, status, message, errs)
		}
		return fromHuma(nil, status, message, errs)
	}
})

// fromHuma is the only place that decides what a client learns about an error.
func fromHuma(rules problem.Rules, status int, message string, errs []error) *problem.Problem {
	for _, err := range errs {
		var decided *problem.Error
		if message == humaHandlerFailed || errors.As(err, &decided) {
			return rules.Problem(err)
		}
	}
	fields := fieldsOf(errs)
	switch {
	case message == humaBodyUnread:
		return problem.New(http.StatusBadRequest, problem.CodeInvalidBody, "the body is incomplete")
	case status == http.StatusUnprocessableEntity, status == http.StatusBadRequest:
		return invalid(message, fields)
	case status >= http.StatusInternalServerError:
		return rules.Problem(errors.New(message))
	default:
		return problem.New(status, "", message, fields...)
	}
}

// invalid is the problem of a request that does not match its operation. Its status is always 400, because 422 means a reused key.
func invalid(message string, fields []problem.Field) *problem.Problem {
	for _, f := range fields {
		if !strings.HasPrefix(f.Field, "body") {
			return problem.New(http.StatusBadRequest, problem.CodeInvalidParameter, "a parameter is invalid", fields...)
		}
	}
	if len(fields) == 0 {
		fields = []problem.Field{{Field: "body", Message: message}}
	}
	return problem.New(http.StatusBadRequest, problem.CodeInvalidBody, "the request body is invalid", fields...)
}

// fieldsOf returns the first of huma's details, without the values, which may be secret.
func fieldsOf(errs []error) []problem.Field {
	var fields []problem.Field
	for _, err := range errs {
		var detailer huma.ErrorDetailer
		if !errors.As(err, &detailer) {
			continue
		}
		detail := detailer.ErrorDetail()
		message := detail.Message
		if strings.HasPrefix(message, "expected string to be RFC ") {
			message, _, _ = strings.Cut(message, ": ") // a parser's error, which quotes the value
		}
		fields = append(fields, problem.Field{Field: shortened(detail.Location), Message: shortened(message)})
		if len(fields) == faultsMax {
			break
		}
	}
	return fields
}

// shortened truncates a text whose length the client controls.
func shortened(text string) string {
	for n := range text { // n is the byte offset of a character
		if n > wordsMax {
			return text[:n] + "…"
		}
	}
	return text
}

// finishProblem completes a problem before it is sent: request id, headers, log.
func (a *API) finishProblem(ctx huma.Context, _ string, v any) (any, error) {
	var p *problem.Problem
	switch v := v.(type) {
	case *problem.Problem:
		p = v
	case *huma.ErrorModel: // created before the first API
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
	return about.complete(p), nil
}

// fail sends a problem from a middleware.
func (a *API) fail(ctx huma.Context, err error) {
	_ = huma.WriteErr(a, ctx, http.StatusInternalServerError, humaHandlerFailed, err)
}
