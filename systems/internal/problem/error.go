package problem

import (
	"net/http"
	"time"
)

// Error is an error together with its response, chosen by a handler or a function that it calls.
type Error struct {
	Status int
	// Code is the problem's code; "" means the status's default.
	Code   string
	Detail string
	Fields []Field
	// RetryAfter is when to retry; 0 means unspecified.
	RetryAfter time.Duration
	// Err is logged but not returned to the client.
	Err error
}

func (e *Error) Error() string {
	text := e.Code
	if text == "" {
		text = codeOf(e.Status)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// With returns the error with a request's invalid fields and the same code.
func (e *Error) With(detail string, fields ...Field) *Error {
	out := *e
	out.Detail, out.Fields = detail, fields
	return &out
}

// Changed is for a change to something that has changed since the caller read it.
func Changed() *Error {
	return &Error{Status: http.StatusPreconditionFailed, Code: CodeChanged, Detail: detailChanged}
}

// BadRequest is for invalid parameters or an invalid body.
func BadRequest(code, detail string, fields ...Field) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Detail: detail, Fields: fields}
}

// MissingToken is for a request that needs a token and has none.
func MissingToken() *Error {
	return &Error{Status: http.StatusUnauthorized, Code: CodeMissingToken, Detail: "send an access token: Authorization: Bearer TOKEN"}
}

// InvalidToken is for a rejected access token; err is the reason, for the log.
func InvalidToken(detail string, err error) *Error {
	return &Error{Status: http.StatusUnauthorized, Code: CodeInvalidToken, Detail: detail, Err: err}
}

// Forbidden is for something that belongs to another user.
func Forbidden(code, detail string) *Error {
	return &Error{Status: http.StatusForbidden, Code: code, Detail: detail}
}

// NotFound is for something that does not exist.
func NotFound(code, detail string) *Error {
	return &Error{Status: http.StatusNotFound, Code: code, Detail: detail}
}

// Conflict is for something that the current state does not allow.
func Conflict(code, detail string) *Error {
	return &Error{Status: http.StatusConflict, Code: code, Detail: detail}
}

// TooMany is for a caller who has exceeded their limit.
func TooMany(detail string, retryAfter time.Duration) *Error {
	return &Error{Status: http.StatusTooManyRequests, Code: CodeRateLimited, Detail: detail, RetryAfter: max(retryAfter, time.Second)}
}

// Unavailable is for a dependency that does not respond.
func Unavailable(err error) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Detail: detailUnavailable, RetryAfter: time.Second, Err: err}
}
