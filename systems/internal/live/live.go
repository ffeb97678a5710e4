// Package live notifies open pages of changes by server-sent events.
//
// # Model
//
//	table's stream ──▶ a consumer in every process ──Publish──▶ Hub ──▶ connections of this process ──▶ pages
//
// Topics hand events to their followers, and a Stream writes them to a connection. A Hub does both, for events that a page may
// miss.
//
// A Hub has topics, which are values of a type that the system defines: a user, a company, a room. A connection follows some of
// them, and gets each of their events once. Register adds the operation, whose function returns the topics that a caller may
// follow.
//
// A connection begins with ready: all later changes are delivered. Earlier ones are not, so a page reads its list at each ready.
// ready is sent again whenever the process starts to consume the stream at a later position (Begun): at its start and after a
// failure.
//
// # Invariants
//
//	L1  Publish does not wait for connections. One that falls queue events behind is closed; the page reconnects and reads its list.
//	L2  Feed.Still is called every checkEvery: a caller whose permissions shrink is disconnected within that time. A system
//	    that learns of it earlier calls End.
//	L3  A stream ends after Life at the latest, so that the next one is authenticated with another token.
//	L4  An event is the JSON of its data as in responses. It is encoded at most once, and not by the stream consumer.
//
// All methods of a Hub are safe for concurrent use.
package live

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

// checkEvery is how often a connection's permissions are checked and a keep-alive is sent.
const checkEvery = 15 * time.Second

// errEnded is a reason to end a stream, besides the client, the process and Life.
var errEnded = errors.New("the client is too far behind, or lost access to the topic")

// Hub passes events to this process's connections.
type Hub[Topic comparable] struct {
	logger *slog.Logger
	topics Topics[Topic, event]
}

// event is a message to a page.
type event struct {
	name string
	data func() ([]byte, error)
}

// New returns a hub without followers.
func New[Topic comparable](logger *slog.Logger) *Hub[Topic] { return &Hub[Topic]{logger: logger} }

// Publish sends an event to the subscribers of the topics, once each. data must not change afterwards.
func (h *Hub[Topic]) Publish(name string, data any, topics ...Topic) {
	h.topics.Publish(event{name, sync.OnceValues(func() ([]byte, error) { return api.MarshalJSON(data) })}, topics...)
}

// WhileFollowed wraps a stream handler so that it skips batches, without decoding their records, while no page is connected. A
// page that connects later reads their effect in its list, at ready.
func (h *Hub[Topic]) WhileFollowed(handle consumer.Handler) consumer.Handler {
	return func(ctx context.Context, b consumer.Batch) error {
		if !h.topics.Followed() {
			return nil
		}
		return handle(ctx, b)
	}
}

// Begun is for system.Stream: the process consumes the table's stream from now on. All connections get ready again, because they
// may have missed earlier writes.
func (h *Hub[Topic]) Begun() {
	h.topics.PublishAll(event{readyEvent, func() ([]byte, error) { return []byte("{}"), nil }})
}

// End ends the connections that follow a topic. Clients reconnect, and their permissions are checked again.
func (h *Hub[Topic]) End(topic Topic) { h.topics.End(topic) }

// Feed describes a caller's subscription.
type Feed[Topic comparable] struct {
	Topics []Topic
	// Still fails once the caller may no longer receive the topics. It is nil if permissions cannot change during a stream.
	Still func(context.Context) error
}

// Register adds an operation that responds with events. Its description lists them; events has a value of each event's type, for
// the document. follow returns the caller's subscription, or an error.
func Register[Topic comparable](a huma.API, h *Hub[Topic], op huma.Operation, events map[string]any,
	follow func(context.Context, auth.Principal) (Feed[Topic], error), options ...api.Option,
) {
	op.Description = "Server-sent events: ready, when the stream is live; " + op.Description +
		" Events that occur while you are disconnected are not sent later: read the list after each ready."
	huma.Register(a, Operation(a, op, events, options...), func(ctx context.Context, _ *api.None) (*huma.StreamResponse, error) {
		who, err := auth.Required(ctx)
		if err != nil {
			return nil, err
		}
		feed, err := follow(ctx, who)
		if err != nil {
			return nil, err
		}
		return Respond(h.logger, func(ctx context.Context, out Stream) error { return h.serve(ctx, feed, out) }), nil
	})
}

// serve sends events until the client disconnects or loses access.
func (h *Hub[Topic]) serve(ctx context.Context, feed Feed[Topic], out Stream) error {
	events, stop := h.topics.Follow(feed.Topics...)
	defer stop()
	streaming := out.Lasts() // otherwise the response is only ready, and the client reconnects
	if err := out.Ready(); err != nil || !streaming {
		return err
	}
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	until := time.NewTimer(Life)
	defer until.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-until.C:
			return ErrLongEnough
		case e, open := <-events:
			if !open {
				return errEnded
			}
			data, err := e.data()
			if err != nil {
				return err
			}
			if err := out.Event("", e.name, data); err != nil {
				return err
			}
		case <-tick.C:
			if feed.Still != nil {
				if err := feed.Still(ctx); err != nil {
					return err
				}
			}
			if err := out.KeepOpen(); err != nil {
				return err
			}
		}
	}
}
