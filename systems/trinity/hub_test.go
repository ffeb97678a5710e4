package trinity

import "testing"

// TestHubIsFollowed when all of its streams are, however often their followers begin.
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
