package transporteapp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/once"
	"github.com/monotable/monotable/systems/internal/retry"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// request identifies a retry: its key, its purpose, and a fingerprint of its content.
type request struct{ UserID, RequestKey, Operacion, Huella, Respuesta string }

// withResponse returns the request with its response.
func (r request) withResponse(response any) request {
	text, _ := json.Marshal(response) // it was encoded as JSON before
	r.Respuesta = string(text)
	return r
}

// newRequest returns a company's request; asked is everything that a retry must have in common with it.
func newRequest(userID, key, operation string, asked any) request {
	text, _ := json.Marshal(asked) // it was decoded from JSON
	sum := sha256.Sum256(text)
	return request{UserID: userID, RequestKey: ownKey + key, Operacion: operation, Huella: hex.EncodeToString(sum[:])}
}

// The prefixes of a company's idempotency keys: for its own requests, for later parts of requests that take several transactions,
// and for requests by the back office. They differ, so that keys sent by clients cannot collide with generated keys or with each
// other.
const (
	ownKey    = "k:"
	partsKey  = "p:"
	officeKey = "o:"
)

// partKey returns the key of a later part of a request.
func partKey(key string, part int) string { return fmt.Sprintf("%s%d:%s", partsKey, part, key) }

// of marks a request as the back office's, by caller.
func (r request) of(sub, key string) request {
	r.RequestKey = fmt.Sprintf("%s%d:%s:%s", officeKey, len(sub), sub, key)
	return r
}

// keyed runs a request once per key; do passes the error of its write through overtaken. It looks for an earlier request first,
// because a stamp is requested before it is stored.
func keyed[T any](ctx context.Context, s *service, r request, do func() (T, error)) (response T, replayed bool, err error) {
	earlier := func() (T, error) { return earlier[T](ctx, s, r) }
	if response, err := earlier(); !errors.Is(err, table.ErrNotFound) {
		return response, err == nil, err
	}
	return once.Do(func() (T, bool, error) {
		response, err := do()
		if errors.Is(err, errOvertaken) {
			err = table.ErrConflict
		}
		return response, false, err
	}, earlier)
}

// overtaken converts the error of a keyed write. If the write was replayed, a concurrent request with the same key was faster,
// and its response counts.
func overtaken(replayed bool, err error) error {
	if err == nil && replayed {
		return errOvertaken
	}
	return err
}

var errOvertaken = errors.New("a concurrent request with the same key was faster")

// errorOf discards the result of a write.
func errorOf[T any](_ T, err error) error { return err }

// earlier returns the response recorded for a key, or table.ErrNotFound.
func earlier[T any](ctx context.Context, s *service, r request) (response T, err error) {
	p, err := s.db.PeticionPorClave(ctx, db.PeticionPorClaveInput{UserID: r.UserID, RequestKey: r.RequestKey})
	switch {
	case err != nil:
		return response, err
	case !p.TTL.After(s.now()): // expired but not yet deleted
		return response, table.ErrNotFound
	case p.Operacion != r.Operacion || p.Huella != r.Huella:
		return response, table.ErrReused
	}
	return response, json.Unmarshal([]byte(p.Respuesta), &response)
}

// again retries on these errors and on table.ErrConflict, which report data changed in the meantime. Of several concurrent
// requests, one succeeds each time.
func again(ctx context.Context, try func() error, when ...error) error {
	return retry.Policy{Tries: 20, First: 4 * time.Millisecond, Longest: 200 * time.Millisecond}.Do(ctx, try, append(when, table.ErrConflict)...) //nolint:mnd // as others were seen to need
}

// change calls a write that takes the version which the caller has read, and retries it, also on the given errors.
func (s *service) change(ctx context.Context, seen *api.Seen, write func() error, when ...error) error {
	return seen.Write(s.now(), storedVersion, func() error { return again(ctx, write, when...) })
}

// storedVersion returns the version of the item that a rejected write has found.
func storedVersion(err error) time.Time {
	refusal, ok := errors.AsType[*table.Refusal](err)
	if !ok {
		return time.Time{}
	}
	item, _, _ := db.Decode(refusal.Old)
	switch is := item.(type) {
	case db.Conductor:
		return is.UpdatedAt
	case db.Vehiculo:
		return is.UpdatedAt
	case db.Remolque:
		return is.UpdatedAt
	case db.Viaje:
		return is.UpdatedAt
	case db.User:
		return is.UpdatedAt
	}
	return time.Time{}
}

// moment returns the time with the tables' precision.
func (s *service) moment() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// newID returns an id that sorts by time.
func (s *service) newID() string {
	return ulid.MustNew(ulid.Timestamp(s.now()), rand.Reader).String() // our times fit, and the random source does not fail
}
