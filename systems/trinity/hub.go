package trinity

import (
	"context"
	"strings"
	"sync"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// hubQueue is how many events may be queued for a connection. A connection that falls further behind is closed, and the client
// reconnects.
const hubQueue = 64

// event is something that happened in a room. Exactly one field is set.
type event struct {
	match                 *trinitydb.Match
	joined, changed, left *trinitydb.Member
}

// hub passes events to this process's connections.
type hub struct {
	mu    sync.Mutex
	rooms map[string]map[*subscription]bool
	// waiting counts streams that are not consumed yet; followed is closed when it reaches zero.
	waiting  int
	followed chan struct{}
}

// subscription belongs to a connection. events is closed if the connection falls too far behind.
type subscription struct{ events chan event }

func newHub() *hub {
	return &hub{rooms: map[string]map[*subscription]bool{}, followed: make(chan struct{})}
}

// source registers another stream that feeds the hub. Call the returned function once the stream is being consumed.
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

// subscribe receives a room's events until end is called.
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

// publish passes an event to all subscribers of a room without waiting for them.
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

// drop removes a subscription. The caller holds the lock.
func (h *hub) drop(roomID string, s *subscription) {
	delete(h.rooms[roomID], s)
	if len(h.rooms[roomID]) == 0 {
		delete(h.rooms, roomID)
	}
}

// expiryPrincipal is the principal that deletes expired items.
const expiryPrincipal = "dynamodb.amazonaws.com"

// tellMatches publishes matches.
func (s *service) tellMatches(ctx context.Context, b consumer.Batch) error {
	for match := range s.madeMatches(ctx, b) {
		s.hub.publish(match.RoomID, event{match: &match})
	}
	return nil
}

// tellMembers publishes joins, leaves and votes. The closing of a room is derived from its members.
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

// ofMember reports from its key whether a record concerns a member. Most of the table's records are films and votes, and every
// process receives all of them.
func ofMember(r streams.Record) bool {
	key, ok := r.Dynamodb.Keys["roomId"].(*streams.AttributeValueMemberS)
	return ok && strings.HasPrefix(key.Value, "MEMBERS#")
}

// expired reports whether DynamoDB's TTL deleted an item.
func expired(r streams.Record) bool {
	return r.UserIdentity != nil && r.UserIdentity.PrincipalId != nil && *r.UserIdentity.PrincipalId == expiryPrincipal
}
