// Package problem is the only place that decides what a client learns about an error.
//
// # Model
//
//	error of a handler ──Rules──▶ *Problem ──▶ application/problem+json (RFC 9457)
//
// Handlers return errors unchanged: those of the generated data access, those that a design declares, those of the SDK, or an
// *Error if the handler itself decides. Each system registers Rules that map declared errors to status and code. For all other
// errors the response follows from the kind of error.
//
// # Invariants
//
//	P1  A problem's code is stable, so programs may depend on it. Title and detail are for people.
//	P2  Internals are not revealed: a 5xx has a fixed detail; the error itself stays in Cause, for the log.
//	P3  A value that a client sent is never returned, because it may be secret.
//
// The package is safe for concurrent use; a Problem is immutable, and copied for changes.
package problem

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ContentType is the media type of a problem.
const ContentType = "application/problem+json"

// StatusClientGone is logged if the client disconnected before the response. It is never sent.
const StatusClientGone = 499

// The codes common to all systems. A system adds those of its declared errors.
const (
	CodeInvalidBody      = "invalid_body"
	CodeInvalidParameter = "invalid_parameter"
	CodeInvalidValue     = "invalid_value"
	CodeInvalidLines     = "invalid_lines"
	CodeInvalidCursor    = "invalid_cursor"
	CodeMissingToken     = "missing_token"
	CodeInvalidToken     = "invalid_token"
	CodeForbidden        = "forbidden"
	CodeNotFound         = "not_found"
	CodeMethodNotAllowed = "method_not_allowed"
	CodeBodyTimeout      = "body_timeout"
	CodeConflict         = "conflict"
	CodeExists           = "already_exists"
	CodeChanged          = "changed_since"
	CodeBodyTooLarge     = "body_too_large"
	CodeMediaType        = "unsupported_media_type"
	CodeKeyReused        = "idempotency_key_reused"
	CodeRateLimited      = "rate_limited"
	CodeClientGone       = "client_gone"
	CodeInternal         = "internal"
	CodeUnavailable      = "unavailable"
	CodeThrottled        = "throttled"
	CodeTimeout          = "timeout"
)

// Field is an invalid part of a request.
type Field struct {
	Field   string `json:"field" doc:"What is wrong: body.amount, query.limit, header.Idempotency-Key"`
	Message string `json:"message" doc:"Why"`
}

// Problem is the response: RFC 9457 with a code, the request's id, and the invalid fields.
type Problem struct { //nolint:errname // it is the document, named as it is in it
	Type      string  `json:"type" doc:"Always about:blank; code identifies the problem" example:"about:blank"`
	Title     string  `json:"title" doc:"The status in words" example:"Not Found"`
	Status    int     `json:"status" doc:"The HTTP status" example:"404"`
	Detail    string  `json:"detail,omitempty" doc:"What happened, for people"`
	Code      string  `json:"code" doc:"What happened, for programs; never changes" example:"not_found"`
	RequestID string  `json:"requestId,omitempty" doc:"The request's id, as in X-Request-Id"`
	Errors    []Field `json:"errors,omitempty" doc:"The invalid parts of the request"`

	retryAfter time.Duration
	cause      error
}

// New returns a problem with a status and a code; an empty code means the status's default.
func New(status int, code, detail string, fields ...Field) *Problem {
	if code == "" {
		code = codeOf(status)
	}
	title := http.StatusText(status)
	if status == StatusClientGone {
		title = "Client Closed Request"
	}
	return &Problem{Type: "about:blank", Title: title, Status: status, Detail: detail, Code: code, Errors: fields}
}

// Error returns the code and the detail. With GetStatus it makes a Problem an error that huma sends as the response.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType turns JSON into problem JSON, for huma.
func (p *Problem) ContentType(base string) string {
	if base == "application/json" {
		return ContentType
	}
	return base
}

// Unwrap returns Cause.
func (p *Problem) Unwrap() error { return p.cause }

// Cause returns the underlying error, only for the log.
func (p *Problem) Cause() error { return p.cause }

// For returns the problem as the response to one request.
func (p *Problem) For(requestID string) *Problem {
	out := *p
	out.RequestID = requestID
	return &out
}

// In returns the problem in the reader's language: say translates the texts for people, but not the code.
func (p *Problem) In(say func(english string) string) *Problem {
	out := *p
	out.Title, out.Detail = say(p.Title), say(p.Detail)
	out.Errors = slices.Clone(p.Errors)
	for n := range out.Errors {
		out.Errors[n].Message = say(out.Errors[n].Message)
	}
	return &out
}

// SetHeaders sets the headers of the response: how to authenticate, when to retry and, for caches, that title and detail depend
// on the caller's language.
func (p *Problem) SetHeaders(set, add func(name, value string)) {
	add("Vary", "Accept-Language")
	if p.Status == http.StatusUnauthorized {
		challenge := "Bearer"
		if p.Code == CodeInvalidToken {
			challenge = `Bearer error="invalid_token", error_description="` + strings.Map(quotable, p.Detail) + `"`
		}
		set("WWW-Authenticate", challenge)
	}
	if p.retryAfter > 0 {
		set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
}

// Write sends the problem without huma.
func (p *Problem) Write(w http.ResponseWriter) {
	h := w.Header()
	p.SetHeaders(h.Set, h.Add)
	h.Set("Content-Type", ContentType)
	h.Del("Content-Length")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client may have disconnected
}

// quotable drops characters that RFC 6750 does not allow in error_description.
func quotable(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return -1
	}
	return r
}

// codeOf returns a status's default code.
func codeOf(status int) string {
	codes := map[int]string{
		http.StatusBadRequest:            CodeInvalidBody,
		http.StatusUnauthorized:          CodeInvalidToken,
		http.StatusForbidden:             CodeForbidden,
		http.StatusNotFound:              CodeNotFound,
		http.StatusMethodNotAllowed:      CodeMethodNotAllowed,
		http.StatusRequestTimeout:        CodeBodyTimeout,
		http.StatusConflict:              CodeConflict,
		http.StatusPreconditionFailed:    CodeChanged,
		http.StatusRequestEntityTooLarge: CodeBodyTooLarge,
		http.StatusUnsupportedMediaType:  CodeMediaType,
		http.StatusUnprocessableEntity:   CodeInvalidValue,
		http.StatusTooManyRequests:       CodeRateLimited,
		http.StatusInternalServerError:   CodeInternal,
		http.StatusServiceUnavailable:    CodeUnavailable,
		http.StatusGatewayTimeout:        CodeTimeout,
	}
	if code, ok := codes[status]; ok {
		return code
	}
	if text := http.StatusText(status); text != "" {
		return strings.NewReplacer(" ", "_", "-", "_", "'", "").Replace(strings.ToLower(text))
	}
	return "error"
}
