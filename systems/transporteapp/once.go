package transporteapp

import (
	"cmp"
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
	"github.com/monotable/monotable/systems/internal/retry"
	db "github.com/monotable/monotable/systems/transporteapp/transporteappdb"
)

// request is what a repetition is recognised by: its key, what it is for, and the fingerprint of what it asks.
type request struct{ userID, key, operation, fingerprint string }

// newRequest is a company's request; asked is all that must be the same in a repetition.
func newRequest(userID, key, operation string, asked any) request {
	text, _ := json.Marshal(asked) // what came as JSON
	sum := sha256.Sum256(text)
	return request{userID: userID, key: ownKey + key, operation: operation, fingerprint: hex.EncodeToString(sum[:])}
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
	r.key = fmt.Sprintf("%s%d:%s:%s", officeKey, len(sub), sub, key)
	return r
}

// encode is an answer as it is kept.
func encode(answer any) string {
	text, _ := json.Marshal(answer) // what is answered as JSON
	return string(text)
}

// once does a thing that a request key stands for: what was done is answered as it was then, and replayed is set. do answers,
// or says that another request with the key was faster. Where do is refused, the reason may be what such a request has done since
// the first look, used up the last carta say: then too its answer is the one.
func once[T any](ctx context.Context, s *service, r request, do func() (answer T, replayed bool, err error)) (answer T, replayed bool, err error) {
	if answer, known, err := earlier[T](ctx, s, r); known || err != nil {
		return answer, known, err
	}
	answer, replayed, refusal := do()
	if refusal == nil && !replayed {
		return answer, false, nil
	}
	answer, known, err := earlier[T](ctx, s, r)
	if known || errors.Is(err, table.ErrReused) {
		return answer, known, err
	}
	return answer, false, cmp.Or(refusal, err, table.ErrConflict) // the last for a record that is gone again
}

// earlier is the answer that a request key was given, if it was.
func earlier[T any](ctx context.Context, s *service, r request) (answer T, known bool, err error) {
	p, err := s.db.PeticionPorClave(ctx, db.PeticionPorClaveInput{UserID: r.userID, RequestKey: r.key})
	switch {
	case errors.Is(err, table.ErrNotFound):
		return answer, false, nil
	case err != nil:
		return answer, false, err
	case !p.TTL.After(s.now()): // it is over, and not removed yet
		return answer, false, nil
	case p.Operacion != r.operation || p.Huella != r.fingerprint:
		return answer, false, table.ErrReused
	}
	return answer, true, json.Unmarshal([]byte(p.Respuesta), &answer)
}

// again tries until there is none of the errors, and none of table.ErrConflict: what others changed meanwhile. Of all that meet,
// one gets through each time.
func again(ctx context.Context, try func() error, when ...error) error {
	return retry.Policy{Tries: 20, First: 4 * time.Millisecond, Longest: 200 * time.Millisecond}.Do(ctx, try, append(when, table.ErrConflict)...) //nolint:mnd // as others were seen to need
}

// moment is the time as the tables keep it.
func (s *service) moment() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// newID is an id that sorts by time.
func (s *service) newID() (string, error) {
	id, err := ulid.New(ulid.Timestamp(s.now()), rand.Reader)
	return id.String(), err
}
