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

// event is something that has happened in a room: one of its fields is set.
type event struct {
	match                 *trinitydb.Match
	joined, changed, left *trinitydb.Member
}

// hub hands the events of rooms to the connections of this process that follow them.
type hub struct {
	live.Topics[string, event]
	// waiting is how many streams are not followed yet; followed is closed when none is.
	waiting  atomic.Int64
	followed chan struct{}
}

func newHub() *hub { return &hub{followed: make(chan struct{})} }

// source counts one more stream that the hub is told by. What it returns says that the stream is followed from now on.
func (h *hub) source() (begun func()) {
	h.waiting.Add(1)
	return sync.OnceFunc(func() {
		if h.waiting.Add(-1) == 0 {
			close(h.followed)
		}
	})
}

// expiryPrincipal is who removes items whose time is over.
const expiryPrincipal = "dynamodb.amazonaws.com"

// tellMatches tells the hub of matches.
func (s *service) tellMatches(ctx context.Context, b consumer.Batch) error {
	for match := range s.madeMatches(ctx, b) {
		s.hub.Tell(event{match: &match}, match.RoomID)
	}
	return nil
}

// tellMembers tells the hub who has come and gone, and who has voted. That a room is closed its members tell.
func (s *service) tellMembers(ctx context.Context, b consumer.Batch) error {
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
			s.hub.Tell(event{joined: &member}, member.RoomID)
		case streams.OperationTypeRemove:
			s.hub.Tell(event{left: &member}, member.RoomID)
		default:
			s.hub.Tell(event{changed: &member}, member.RoomID)
		}
	}
	return nil
}

// ofMember tells by its key whether a record is about a member: most of the table's are about films and votes, and each
// process hears of all of them.
func ofMember(r streams.Record) bool {
	key, ok := r.Dynamodb.Keys["roomId"].(*streams.AttributeValueMemberS)
	return ok && strings.HasPrefix(key.Value, "MEMBERS#")
}

// expired tells whether it was DynamoDB that removed an item.
func expired(r streams.Record) bool {
	return r.UserIdentity != nil && r.UserIdentity.PrincipalId != nil && *r.UserIdentity.PrincipalId == expiryPrincipal
}
