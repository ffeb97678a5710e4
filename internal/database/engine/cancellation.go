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

// refusalError is an error that refuses a transaction as a whole, as if its request were malformed, where other
// errors of its kind only cancel it.
type refusalError struct{ answer error }

func (r *refusalError) Error() string { return r.answer.Error() }

// noReasons are the reasons of n actions that have none.
func noReasons(n int) []api.CancellationReason {
	code := reasonNone
	reasons := make([]api.CancellationReason, n)
	for i := range reasons {
		reasons[i].Code = &code
	}
	return reasons
}

// reasonOf turns the error of one action into its reason. final is true for a reason after which AWS looks
// at no further action; ok is false for an error that is a fault of ours.
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

// canceled is the error of a transaction that these reasons, one for each action, have stopped.
func canceled(reasons []api.CancellationReason) error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = *r.Code
	}
	e := apierr.TransactionCanceled.With(strings.Join(codes, ", "))
	e.Details = api.TransactionCanceledDetails{CancellationReasons: reasons}
	return e
}

// canceledFor is the error of a transaction some of whose actions have these errors.
func canceledFor(errs []error) error {
	reasons := noReasons(len(errs))
	for i, err := range errs {
		if err != nil {
			reasons[i], _, _ = reasonOf(err)
		}
	}
	return canceled(reasons)
}

// canceledBy is the error of a transaction of n actions that one of them has stopped.
func canceledBy(n, at int, err error) error {
	reason, _, ok := reasonOf(err)
	if !ok {
		return err
	}
	reasons := noReasons(n)
	reasons[at] = reason
	return canceled(reasons)
}

// transactionError turns the error of a commit into what the client sees: a conflict becomes the reason of
// the action whose item it was about.
func transactionError(err error, g writeGroup) error {
	if refused, whole := errors.AsType[*refusalError](err); whole {
		return refused.answer
	}
	if refused, throttled := errors.AsType[*throttledError](err); throttled {
		return canceledFor(refused.errs)
	}
	if errors.Is(err, kv.ErrTooLarge) { // with all that the actions touch, which AWS does not bound
		return apierr.TransactionTooLarge.With()
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
