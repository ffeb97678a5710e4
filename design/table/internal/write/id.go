package write

import (
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/segmentio/ksuid"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// idSource generates the IDs of one call. ULIDs of one call ascend, although their time is the
// same.
type idSource struct {
	now   time.Time
	ulids io.Reader
	// given generates them instead, as set by Config.NewID; nil if it is not set.
	given func(schema.Kind) string
}

func newIDSource(now time.Time, given func(schema.Kind) string) *idSource {
	return &idSource{now: now, ulids: ulid.Monotonic(rand.Reader, 0), given: given}
}

// newID is a new ID of a kind. Kinds without a form of their own get a ULID, which sorts by time.
func (s *idSource) newID(k schema.Kind) (types.AttributeValue, error) {
	if s.given != nil {
		return &types.AttributeValueMemberS{Value: s.given(k)}, nil
	}
	var id fmt.Stringer
	var err error
	switch k {
	case schema.KindUUID:
		id, err = uuid.NewRandom()
	case schema.KindKSUID:
		id, err = ksuid.NewRandomWithTime(s.now)
	default:
		id, err = ulid.New(ulid.Timestamp(s.now), s.ulids)
	}
	if err != nil {
		return nil, fmt.Errorf("make a new id: %w", err)
	}
	return &types.AttributeValueMemberS{Value: id.String()}, nil
}
