package trinity

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/live"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// event is something that happened in a room. Exactly one field is set.
type event struct {
	match                 *trinitydb.Match
	joined, changed, left *trinitydb.Member
}

// hub passes events to this process's connections.
type hub struct {
	live.Topics[string, event]
	// waiting is the number of streams that are not yet consumed; followed is closed when it reaches 0.
	waiting  atomic.Int64
	followed chan struct{}
}

func newHub() *hub { return &hub{followed: make(chan struct{})} }

// source registers another stream that feeds the hub. The caller calls the returned function once the stream is being consumed.
func (h *hub) source() (begun func()) {
	h.waiting.Add(1)
	return sync.OnceFunc(func() {
		if h.waiting.Add(-1) == 0 {
			close(h.followed)
		}
	})
}

// expiryPrincipal is the principal that deletes expired items.
const expiryPrincipal = "dynamodb.amazonaws.com"

// publishMatches publishes matches.
func (s *service) publishMatches(ctx context.Context, b consumer.Batch) error {
	for match := range s.createdMatches(ctx, b) {
		s.hub.Publish(event{match: &match}, match.RoomID)
	}
	return nil
}

// publishMembers publishes joins, leaves and votes. A room's members tell that it has been closed.
func (s *service) publishMembers(ctx context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if !ofMember(r) || r.EventName == streams.OperationTypeRemove && expired(r) {
			continue
		}
		item, ok := s.decode(ctx, b.Shard, r)
		member, isMember := item.(trinitydb.Member)
		if !ok || !isMember {
			continue
		}
		switch r.EventName {
		case streams.OperationTypeInsert:
			s.hub.Publish(event{joined: &member}, member.RoomID)
		case streams.OperationTypeRemove:
			s.hub.Publish(event{left: &member}, member.RoomID)
		default:
			s.hub.Publish(event{changed: &member}, member.RoomID)
		}
	}
	return nil
}

// ofMember reports, based on its key, whether a record concerns a member. Most of the table's records are films and votes, and
// every process receives all of them.
func ofMember(r streams.Record) bool {
	key, ok := r.Dynamodb.Keys["roomId"].(*streams.AttributeValueMemberS)
	return ok && strings.HasPrefix(key.Value, "MEMBERS#")
}

// expired reports whether DynamoDB's TTL has deleted an item.
func expired(r streams.Record) bool {
	return r.UserIdentity != nil && r.UserIdentity.PrincipalId != nil && *r.UserIdentity.PrincipalId == expiryPrincipal
}
