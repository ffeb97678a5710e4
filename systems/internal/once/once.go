// Package once answers requests that have a key, so that sending one again does nothing again.
//
// # Model
//
//	Idempotency-Key ──▶ api.Create ──▶ a write of the design that says `idempotent:`
//	                                    │ its transaction has the record of the key: what was asked, and what it made
//	                                    ╰──▶ Replayed: it was done before, and this is its response
//
// The write is the only judge: it is done or replayed whatever was read before, by however many at once. A function that
// refuses before it writes, because the cart is empty or the plan is used up, may refuse what its first try has caused. It calls
// Do, which then looks at the record.
package once

import (
	"errors"

	"github.com/monotable/monotable/design/table"
)

// Do does what a key stands for. Where it is refused, first is asked what the first request with the key made: table.ErrNotFound
// is that there was none, and table.ErrReused that it was another request.
func Do[T any](do func() (done T, replayed bool, err error), first func() (T, error)) (done T, replayed bool, err error) {
	done, replayed, refusal := do()
	if refusal == nil {
		return done, replayed, nil
	}
	made, err := first()
	if errors.Is(err, table.ErrNotFound) {
		return done, false, refusal
	}
	return made, err == nil, err
}
