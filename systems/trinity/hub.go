package trinity

import (
	"context"
	"strings"
	"sync"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// hubQueue is how many events may wait for one connection. One that is further behind is ended, and asks again.
const hubQueue = 64

// event is something that has happened in a room: one of its fields is set.
type event struct {
	match                 *trinitydb.Match
	joined, changed, left *trinitydb.Member
}

// hub hands the events of rooms to the connections of this process that follow them.
type hub struct {
	mu    sync.Mutex
	rooms map[string]map[*subscription]bool
	// waiting is how many streams are not followed yet; followed is closed when none is.
	waiting  int
	followed chan struct{}
}

// subscription is a connection's: its events are closed when it is too far behind.
type subscription struct{ events chan event }

func newHub() *hub {
	return &hub{rooms: map[string]map[*subscription]bool{}, followed: make(chan struct{})}
}

// source counts one more stream that the hub is told by. What it returns says that the stream is followed from now on.
func (h *hub) source() (begun func()) {
	h.waiting++
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.waiting--; h.waiting == 0 {
			close(h.followed)
		}
	})
}

// subscribe follows a room until end is called.
func (h *hub) subscribe(roomID string) (s *subscription, end func()) {
	s = &subscription{events: make(chan event, hubQueue)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rooms[roomID] == nil {
		h.rooms[roomID] = map[*subscription]bool{}
	}
	h.rooms[roomID][s] = true
	return s, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drop(roomID, s)
	}
}

// publish tells all who follow a room. It does not wait for any of them.
func (h *hub) publish(roomID string, e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.rooms[roomID] {
		select {
		case s.events <- e:
		default:
			close(s.events)
			h.drop(roomID, s)
		}
	}
}

// drop forgets a subscription. The caller has the lock.
func (h *hub) drop(roomID string, s *subscription) {
	delete(h.rooms[roomID], s)
	if len(h.rooms[roomID]) == 0 {
		delete(h.rooms, roomID)
	}
}

// expiryPrincipal is who removes items whose time is over.
const expiryPrincipal = "dynamodb.amazonaws.com"

// tellMatches tells the hub of matches.
func (s *service) tellMatches(ctx context.Context, b consumer.Batch) error {
	for match := range s.madeMatches(ctx, b) {
		s.hub.publish(match.RoomID, event{match: &match})
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
			s.hub.publish(member.RoomID, event{joined: &member})
		case streams.OperationTypeRemove:
			s.hub.publish(member.RoomID, event{left: &member})
		default:
			s.hub.publish(member.RoomID, event{changed: &member})
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
