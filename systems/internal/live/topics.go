package live

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// queue is how many events can wait for one follower.
const queue = 64

// Topics hand events to their followers, each through its own queue. The zero value has no followers. All methods are safe for
// concurrent use.
type Topics[Topic comparable, Event any] struct {
	mu        sync.Mutex
	followers map[Topic]map[*follower[Topic, Event]]bool
}

// follower follows topics. Its channel is closed when the follower is ended.
type follower[Topic comparable, Event any] struct {
	topics []Topic
	events chan Event
}

// Publish gives an event to the followers of topics, once to each. It does not block: a follower whose queue is full is ended.
func (t *Topics[Topic, Event]) Publish(e Event, topics ...Topic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notify(e, slices.Values(topics))
}

// PublishAll gives an event to all followers.
func (t *Topics[Topic, Event]) PublishAll(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notify(e, maps.Keys(t.followers))
}

// notify requires the lock.
func (t *Topics[Topic, Event]) notify(e Event, topics iter.Seq[Topic]) {
	notified := map[*follower[Topic, Event]]bool{}
	for topic := range topics {
		for f := range t.followers[topic] {
			if notified[f] {
				continue
			}
			notified[f] = true
			select {
			case f.events <- e:
			default:
				t.end(f)
			}
		}
	}
}

// Followed reports whether there are any followers.
func (t *Topics[Topic, Event]) Followed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.followers) > 0
}

// Follow follows topics until stop is called. The channel is closed when the follower is too far behind, or when one of its
// topics is ended.
func (t *Topics[Topic, Event]) Follow(topics ...Topic) (events <-chan Event, stop func()) {
	f := &follower[Topic, Event]{topics: topics, events: make(chan Event, queue)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.followers == nil {
		t.followers = map[Topic]map[*follower[Topic, Event]]bool{}
	}
	for _, topic := range topics {
		if t.followers[topic] == nil {
			t.followers[topic] = map[*follower[Topic, Event]]bool{}
		}
		t.followers[topic][f] = true
	}
	return f.events, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forget(f)
	}
}

// End ends the followers of a topic.
func (t *Topics[Topic, Event]) End(topic Topic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for f := range t.followers[topic] {
		t.end(f)
	}
}

// end closes a follower's channel. It requires the lock.
func (t *Topics[Topic, Event]) end(f *follower[Topic, Event]) {
	close(f.events)
	t.forget(f)
}

// forget removes a follower. It requires the lock.
func (t *Topics[Topic, Event]) forget(f *follower[Topic, Event]) {
	for _, topic := range f.topics {
		delete(t.followers[topic], f)
		if len(t.followers[topic]) == 0 {
			delete(t.followers, topic)
		}
	}
}
