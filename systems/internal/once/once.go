// Package once makes requests with an idempotency key safe to retry.
//
// # Model
//
//	Idempotency-Key ──▶ api.Create ──▶ a write of the design with `idempotent:`
//	                                    │ its transaction has the key's record: the request's fingerprint and the result
//	                                    ╰──▶ Replayed: it was done before, and this is its response
//
// Only the write decides: it is done or replayed whatever was read before, and however many requests are concurrent. A function
// that rejects a request before its write, because the cart is empty or the plan is used up, may be seeing the effect of its own
// first attempt. It calls Do, which then checks the record.
package once

import (
	"errors"

	"github.com/monotable/monotable/design/table"
)

// Do runs a keyed operation. If it is rejected, Do calls first, which returns the result of the first request with the key,
// table.ErrNotFound if there was none, or table.ErrReused if it was a different request.
func Do[T any](do func() (done T, replayed bool, err error), first func() (T, error)) (done T, replayed bool, err error) {
	done, replayed, refusal := do()
	if refusal == nil {
		return done, replayed, nil
	}
	result, err := first()
	if errors.Is(err, table.ErrNotFound) {
		return done, false, refusal
	}
	return result, err == nil, err
}
