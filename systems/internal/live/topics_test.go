package live

import "testing"

// TestPublishDoesNotBlock: a follower that does not read is ended when its queue is full; the others receive every event.
func TestPublishDoesNotBlock(t *testing.T) {
	t.Parallel()
	var topics Topics[string, int]
	slow, endSlow := topics.Follow("a")
	quick, endQuick := topics.Follow("a")
	other, endOther := topics.Follow("b")
	for n := range 2 * queue {
		topics.Publish(n, "a")
		if received := <-quick; received != n {
			t.Fatalf("got event %d, want %d", received, n)
		}
	}
	waiting := 0
	for range slow {
		waiting++
	}
	if waiting != queue {
		t.Errorf("%d events waited, want %d and the end", waiting, queue)
	}
	if n := len(other); n != 0 {
		t.Errorf("a follower of another topic got %d events", n)
	}
	endSlow()
	endQuick()
	endOther()
	if topics.Followed() {
		t.Error("topics without followers are kept")
	}
	topics.Publish(0, "a")
}
