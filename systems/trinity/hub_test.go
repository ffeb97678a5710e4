package trinity

import (
	"testing"

	"github.com/monotable/monotable/systems/trinity/trinitydb"
)

// TestHubIsNotHeldUp: a connection that does not read is closed when its queue is full, and the others receive everything.
func TestHubIsNotHeldUp(t *testing.T) {
	t.Parallel()
	h := newHub()
	slow, endSlow := h.subscribe("r")
	quick, endQuick := h.subscribe("r")
	other, endOther := h.subscribe("s")
	for n := range int64(2 * hubQueue) {
		h.publish("r", event{match: &trinitydb.Match{MovieID: n}})
		if e := <-quick.events; e.match.MovieID != n {
			t.Fatalf("heard of %d, want %d", e.match.MovieID, n)
		}
	}
	waiting := 0
	for range slow.events {
		waiting++
	}
	if waiting != hubQueue {
		t.Errorf("%d events waited, want %d and the end", waiting, hubQueue)
	}
	if n := len(other.events); n != 0 {
		t.Errorf("another room heard of %d events", n)
	}
	endSlow()
	endQuick()
	endOther()
	if len(h.rooms) != 0 {
		t.Errorf("the hub keeps %d rooms that nobody follows", len(h.rooms))
	}
	h.publish("r", event{})
}

// TestHubIsFollowed: the hub is ready when all of its streams are consumed, however often their consumers start.
func TestHubIsFollowed(t *testing.T) {
	t.Parallel()
	h := newHub()
	one, two := h.source(), h.source()
	one()
	one()
	select {
	case <-h.followed:
		t.Fatal("followed, though one of the streams is not")
	default:
	}
	two()
	two()
	<-h.followed
}
