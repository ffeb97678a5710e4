package engine

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// The codes of cancellation reasons.
const (
	reasonNone              = "None"
	reasonConditionFailed   = "ConditionalCheckFailed"
	reasonCollectionTooBig  = "ItemCollectionSizeLimitExceeded"
	reasonTransactionInWay  = "TransactionConflict"
	reasonValidationFailure = "ValidationError"
	reasonDuplicate         = "DuplicateItem"
	reasonProvisioned       = "ProvisionedThroughputExceeded"
	reasonThrottled         = "ThrottlingError"
)

// refusalError is an error that rejects a transaction as a whole, like a malformed request, where other errors of its kind only
// cancel it.
type refusalError struct{ response error }

func (r *refusalError) Error() string { return r.response.Error() }

// noReasons returns n empty reasons.
func noReasons(n int) []api.CancellationReason {
	code := reasonNone
	reasons := make([]api.CancellationReason, n)
	for i := range reasons {
		reasons[i].Code = &code
	}
	return reasons
}

// reasonOf converts the error of one action to a cancellation reason. final means that AWS checks no further actions after it; ok
// is false for an internal error.
func reasonOf(err error) (reason api.CancellationReason, final, ok bool) {
	var failed *conditionError
	var refused *apierr.Error
	switch {
	case errors.As(err, &failed):
		reason = newReason(reasonConditionFailed, failed.Error())
		reason.Item = failed.old
		return reason, false, true
	case errors.As(err, &refused) && refused.Code == apierr.ItemCollectionSizeLimitExceededException:
		return newReason(reasonCollectionTooBig, refused.Message), false, true
	case errors.As(err, &refused) && refused.Code == apierr.DuplicateItemException:
		return newReason(reasonDuplicate, refused.Message), false, true
	case errors.As(err, &refused) && refused.Code == apierr.ProvisionedThroughputExceededException:
		return newReason(reasonProvisioned, refused.Message), false, true
	case isThrottled(err):
		errors.As(err, &refused)
		return newReason(reasonThrottled, refused.Message), false, true
	case errors.As(err, &refused) && refused.Code == apierr.ValidationException:
		return newReason(reasonValidationFailure, refused.Message), true, true
	default:
		return reason, false, false
	}
}

func newReason(code, message string) api.CancellationReason {
	return api.CancellationReason{Code: &code, Message: &message}
}

// canceled returns the error of a transaction canceled for the given reasons, one for each action.
func canceled(reasons []api.CancellationReason) error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = *r.Code
	}
	e := apierr.TransactionCanceled.With(strings.Join(codes, ", "))
	e.Details = api.TransactionCanceledDetails{CancellationReasons: reasons}
	return e
}

// canceledFor returns the error of a transaction whose actions have these errors, some of them nil.
func canceledFor(errs []error) error {
	reasons := noReasons(len(errs))
	for i, err := range errs {
		if err != nil {
			reasons[i], _, _ = reasonOf(err)
		}
	}
	return canceled(reasons)
}

// canceledBy returns the error of a transaction of n actions that was canceled by one of them.
func canceledBy(n, at int, err error) error {
	reason, _, ok := reasonOf(err)
	if !ok {
		return err
	}
	reasons := noReasons(n)
	reasons[at] = reason
	return canceled(reasons)
}

// transactionError converts the error of a commit to the client's error: a conflict becomes the reason of the action on the
// contended item.
func transactionError(err error, g writeGroup) error {
	if refused, whole := errors.AsType[*refusalError](err); whole {
		return refused.response
	}
	if refused, throttled := errors.AsType[*throttledError](err); throttled {
		return canceledFor(refused.errs)
	}
	if errors.Is(err, kv.ErrTooLarge) { // of everything the actions touch, which AWS does not limit
		return apierr.TransactionItemsTooLarge.With()
	}
	if !errors.Is(err, kv.ErrConflict) {
		return err
	}
	reasons := noReasons(len(g))
	at := 0
	if conflict, named := errors.AsType[*kv.ConflictError](err); named {
		at = max(0, slices.IndexFunc(g, func(w *write) bool { return bytes.Equal(conflict.Key, w.key) }))
	}
	reasons[at] = newReason(reasonTransactionInWay, string(apierr.TransactionConflict))
	return canceled(reasons)
}
