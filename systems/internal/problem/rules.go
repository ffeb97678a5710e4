package problem

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/monotable/monotable/design/table"
)

// Details of internal errors.
const (
	detailInternal    = "an internal error occurred; use the request id to find it in the log"
	detailUnavailable = "the service is temporarily unavailable; try again"
	detailTimeout     = "the request timed out; it may or may not have taken effect"
	detailChanged     = "it has changed since you read it: read it again before you change it"
)

// Rule maps an error that a system's design declares to a response.
type Rule struct {
	Err error
	// Status is the response's status; 0 means 409.
	Status int
	Code   string
	// Detail is the problem's detail; "" means Err's text.
	Detail string
}

// Rules are a system's rules. The first one whose Err is in an error's chain applies.
type Rules []Rule

// ChangedSince is the rule for the error with which a design rejects a change to something that has changed since the caller read
// it (If-Match).
func ChangedSince(err error) Rule {
	return Rule{Err: err, Status: http.StatusPreconditionFailed, Code: CodeChanged, Detail: detailChanged}
}

// Problem returns what a client learns about an error.
func (r Rules) Problem(err error) *Problem {
	p := r.problem(err)
	out := *p
	out.cause = err
	return &out
}

func (r Rules) problem(err error) *Problem {
	if decided, ok := errors.AsType[*Error](err); ok {
		p := New(decided.Status, decided.Code, decided.Detail, decided.Fields...)
		p.retryAfter = decided.RetryAfter
		return p
	}
	for _, rule := range r {
		if errors.Is(err, rule.Err) {
			return rule.problem()
		}
	}
	if known, ok := errors.AsType[*Problem](err); ok {
		return known
	}
	if p := ofTable(err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return New(http.StatusGatewayTimeout, CodeTimeout, detailTimeout)
	case errors.Is(err, context.Canceled):
		return New(StatusClientGone, CodeClientGone, "")
	}
	if p := ofService(err); p != nil {
		return p
	}
	return New(http.StatusInternalServerError, CodeInternal, detailInternal)
}

func (r Rule) problem() *Problem {
	status, detail := r.Status, r.Detail
	if status == 0 {
		status = http.StatusConflict
	}
	if detail == "" {
		detail = r.Err.Error()
	}
	return New(status, r.Code, detail)
}

// ofTable maps errors of data access, and returns nil for others.
func ofTable(err error) *Problem {
	var value *table.ValueError
	var refusal *table.Refusal
	switch {
	case errors.As(err, &value):
		return New(http.StatusBadRequest, CodeInvalidValue, "a value cannot be stored", Field{value.Field, value.Reason})
	case errors.Is(err, table.ErrLines):
		return New(http.StatusBadRequest, CodeInvalidLines, "there are no lines, too many, or two for the same item")
	case errors.Is(err, table.ErrCursor):
		return New(http.StatusBadRequest, CodeInvalidCursor, "the cursor is invalid, or belongs to another list or caller", Field{"query.cursor", "is not a cursor of this list and caller"})
	case errors.Is(err, table.ErrReused):
		return New(http.StatusUnprocessableEntity, CodeKeyReused, "the Idempotency-Key was used with another request: use a new one")
	case errors.Is(err, table.ErrNotFound):
		return New(http.StatusNotFound, CodeNotFound, "it does not exist, or it is not yours")
	case errors.Is(err, table.ErrExists):
		return New(http.StatusConflict, CodeExists, "it already exists")
	case errors.Is(err, table.ErrConflict):
		p := New(http.StatusConflict, CodeConflict, "it is being changed by others: try again")
		p.retryAfter = time.Second
		return p
	case errors.As(err, &refusal):
		return New(http.StatusConflict, CodeConflict, "its current state does not allow that")
	}
	return nil
}

// ofService maps DynamoDB's errors, after the SDK's retries, and returns nil for others.
func ofService(err error) *Problem {
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return ofReasons(canceled.CancellationReasons)
	}
	if response, ok := errors.AsType[smithy.APIError](err); ok {
		code := response.ErrorCode()
		switch _, throttle := retry.DefaultThrottleErrorCodes[code]; {
		case throttle:
			return Throttled()
		case code == "TransactionConflictException", code == "TransactionInProgressException":
			return ofTable(table.ErrConflict)
		case response.ErrorFault() == smithy.FaultServer:
			return unavailable()
		}
	}
	if noResponse(err) {
		return unavailable()
	}
	return nil
}

// noResponse reports whether the outcome of a request is unknown: DynamoDB was unreachable, the connection broke, or an
// intermediary has responded.
func noResponse(err error) bool {
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && response.HTTPStatusCode() >= http.StatusInternalServerError {
		return true
	}
	_, unsent := errors.AsType[*smithyhttp.RequestSendError](err)
	_, unread := errors.AsType[*smithy.DeserializationError](err)
	return unsent || unread
}

// ofReasons maps a cancelled transaction for whose reasons data access has no error.
func ofReasons(reasons []types.CancellationReason) *Problem {
	for _, reason := range reasons {
		if reason.Code == nil {
			continue
		}
		switch *reason.Code {
		case "ThrottlingError", "ProvisionedThroughputExceeded":
			return Throttled()
		case "TransactionConflict":
			return ofTable(table.ErrConflict)
		}
	}
	return nil
}

// Throttled is for a throttled database request.
func Throttled() *Problem {
	p := New(http.StatusServiceUnavailable, CodeThrottled, detailUnavailable)
	p.retryAfter = time.Second
	return p
}

func unavailable() *Problem {
	p := New(http.StatusServiceUnavailable, CodeUnavailable, detailUnavailable)
	p.retryAfter = time.Second
	return p
}
