package trinity

import "testing"

// TestHubIsReadyOnceStreamsAreConsumed: the hub is ready when all of its streams are consumed, however often their consumers start.
func TestHubIsReadyOnceStreamsAreConsumed(t *testing.T) {
	t.Parallel()
	h := newHub()
	one, two := h.source(), h.source()
	one()
	one()
	select {
	case <-h.followed:
		t.Fatal("ready, although one of the streams is not consumed")
	default:
	}
	two()
	two()
	<-h.followed
}
