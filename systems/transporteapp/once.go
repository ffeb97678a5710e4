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
	"github.com/monotable/monotable/systems/internal/once"
	"github.com/monotable/monotable/systems/internal/retry"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// request is what a repetition is recognised by: its key, what it is for, and the fingerprint of what it asks.
type request struct{ UserID, RequestKey, Operacion, Huella, Respuesta string }

// answered is a request with its answer.
func (r request) answered(answer any) request {
	text, _ := json.Marshal(answer) // what is answered as JSON
	r.Respuesta = string(text)
	return r
}

// newRequest is a company's request; asked is all that must be the same in a repetition.
func newRequest(userID, key, operation string, asked any) request {
	text, _ := json.Marshal(asked) // what came as JSON
	sum := sha256.Sum256(text)
	return request{UserID: userID, RequestKey: ownKey + key, Operacion: operation, Huella: hex.EncodeToString(sum[:])}
}

// The keys of a company's records: its own requests, the later parts of those that are done in parts, and what the back office
// has done for it. They begin differently, so that no key that is sent is taken for one that is made here, or for another's.
const (
	ownKey    = "k:"
	partsKey  = "p:"
	officeKey = "o:"
)

// partKey is the key of a later part of a request.
func partKey(key string, part int) string { return fmt.Sprintf("%s%d:%s", partsKey, part, key) }

// of makes a request one of the back office's, by who sends it.
func (r request) of(sub, key string) request {
	r.RequestKey = fmt.Sprintf("%s%d:%s:%s", officeKey, len(sub), sub, key)
	return r
}

// keyed does once what a request key stands for. It looks for an earlier request first: a stamp is asked for before it is stored.
func keyed[T any](ctx context.Context, s *service, r request, do func() (answer T, replayed bool, err error)) (answer T, replayed bool, err error) {
	earlier := func() (T, error) { return earlier[T](ctx, s, r) }
	if answer, err := earlier(); !errors.Is(err, table.ErrNotFound) {
		return answer, err == nil, err
	}
	return once.Do(func() (T, bool, error) {
		answer, replayed, err := do()
		if err == nil && replayed { // another request with the key was faster, and its answer is the one
			err = table.ErrConflict
		}
		return answer, false, err
	}, earlier)
}

// earlier is the answer that a request key was given, or table.ErrNotFound.
func earlier[T any](ctx context.Context, s *service, r request) (answer T, err error) {
	p, err := s.db.PeticionPorClave(ctx, db.PeticionPorClaveInput{UserID: r.UserID, RequestKey: r.RequestKey})
	switch {
	case err != nil:
		return answer, err
	case !p.TTL.After(s.now()): // it is over, and not removed yet
		return answer, table.ErrNotFound
	case p.Operacion != r.Operacion || p.Huella != r.Huella:
		return answer, table.ErrReused
	}
	return answer, json.Unmarshal([]byte(p.Respuesta), &answer)
}

// again tries until there is none of the errors, and none of table.ErrConflict: what others changed meanwhile. Of all that meet,
// one gets through each time.
func again(ctx context.Context, try func() error, when ...error) error {
	return retry.Policy{Tries: 20, First: 4 * time.Millisecond, Longest: 200 * time.Millisecond}.Do(ctx, try, append(when, table.ErrConflict)...) //nolint:mnd // as others were seen to need
}

// moment is the time as the tables keep it.
func (s *service) moment() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// newID is an id that sorts by time.
func (s *service) newID() string {
	return ulid.MustNew(ulid.Timestamp(s.now()), rand.Reader).String() // a time of ours fits, and chance does not fail
}
