package problem

import (
	"net/http"
	"time"
)

// Error is what a handler, or what it calls, decides by itself.
type Error struct {
	Status int
	// Code is the problem's; "" is the status's own.
	Code   string
	Detail string
	Fields []Field
	// RetryAfter says when to come again; 0 says nothing.
	RetryAfter time.Duration
	// Err is logged and not told.
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

// Unwrap is what is behind it.
func (e *Error) Unwrap() error { return e.Err }

// With is the error with what one request has wrong; its code stays.
func (e *Error) With(detail string, fields ...Field) *Error {
	told := *e
	told.Detail, told.Fields = detail, fields
	return &told
}

// Changed is for a request that changes what is no longer what its caller has read.
func Changed() *Error {
	return &Error{Status: http.StatusPreconditionFailed, Code: CodeChanged, Detail: detailChanged}
}

// BadRequest is for a request whose parameters or body are not valid.
func BadRequest(code, detail string, fields ...Field) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Detail: detail, Fields: fields}
}

// MissingToken is for a request that has to say whose it is.
func MissingToken() *Error {
	return &Error{Status: http.StatusUnauthorized, Code: CodeMissingToken, Detail: "send an access token: Authorization: Bearer TOKEN"}
}

// InvalidToken is for an access token that is not accepted; err says why, to the log.
func InvalidToken(detail string, err error) *Error {
	return &Error{Status: http.StatusUnauthorized, Code: CodeInvalidToken, Detail: detail, Err: err}
}

// Forbidden is for what is somebody else's.
func Forbidden(code, detail string) *Error {
	return &Error{Status: http.StatusForbidden, Code: code, Detail: detail}
}

// NotFound is for what is not there.
func NotFound(code, detail string) *Error {
	return &Error{Status: http.StatusNotFound, Code: code, Detail: detail}
}

// Conflict is for what the present state does not allow.
func Conflict(code, detail string) *Error {
	return &Error{Status: http.StatusConflict, Code: code, Detail: detail}
}

// TooMany is for who asks too often.
func TooMany(detail string, retryAfter time.Duration) *Error {
	return &Error{Status: http.StatusTooManyRequests, Code: CodeRateLimited, Detail: detail, RetryAfter: max(retryAfter, time.Second)}
}

// Unavailable is for what something else, that does not answer, is needed for.
func Unavailable(err error) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Detail: detailUnavailable, RetryAfter: time.Second, Err: err}
}
