// Package live notifies open pages of changes by server-sent events.
//
// # Model
//
//	table's stream ──▶ a consumer in every process ──Publish──▶ Hub ──▶ connections of this process ──▶ pages
//
// A Hub has topics, which are values of a type that the system chooses: a user, a company, a room. A connection subscribes to
// some of them and receives each of their events once. Register adds the operation; its function decides which topics a caller
// may subscribe to.
//
// A connection begins with ready: all later changes are delivered. Earlier ones are not, so a page reads its list at each ready.
// ready is sent again when the process resumes the stream at a later position (Begun): at its start and after a failure.
//
// # Invariants
//
//	L1  Publish does not wait for connections. One that falls queue events behind is closed; the page reconnects and reads its list.
//	L2  Feed.Still is called every checkEvery: a caller whose permissions shrink is disconnected within that time. A system
//	    that learns of it earlier calls End.
//	L3  A stream ends after life at the latest, so that the next one has a new token.
//	L4  An event is the JSON of its data in the form of responses, encoded at most once, and not by the stream consumer.
//
// All methods of a Hub are safe for concurrent use.
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

const (
	// queue is how many events may be queued for a connection.
	queue = 64
	// retry tells clients when to reconnect, in milliseconds.
	retry = 1000
	// writeTime is how long a client may take to read an event.
	writeTime = 10 * time.Second
	// checkEvery is the interval of permission checks and keep-alives.
	checkEvery = 15 * time.Second
	// life limits a stream's duration.
	life = 15 * time.Minute
)

// Reasons to end a stream, besides the client and the process ending.
var (
	errEnded      = errors.New("the client is too far behind, or may not see the topic any more")
	errLongEnough = errors.New("the stream has lasted as long as streams do")
)

// Hub passes events to this process's connections.
type Hub[Topic comparable] struct {
	logger *slog.Logger
	mu     sync.Mutex
	topics map[Topic]map[*follower[Topic]]bool
}

// event is a message to a page.
type event struct {
	name string
	data func() ([]byte, error)
}

// follower is a connection. Its events channel is closed to end it.
type follower[Topic comparable] struct {
	topics []Topic
	events chan event
}

// readyEvent says that all later changes are delivered.
const readyEvent = "ready"

// New returns a hub without connections.
func New[Topic comparable](logger *slog.Logger) *Hub[Topic] {
	return &Hub[Topic]{logger: logger, topics: map[Topic]map[*follower[Topic]]bool{}}
}

// Publish sends an event to the subscribers of the topics, once each. data must not change afterwards.
func (h *Hub[Topic]) Publish(name string, data any, topics ...Topic) {
	e := event{name, sync.OnceValues(func() ([]byte, error) { return api.MarshalJSON(data) })}
	h.mu.Lock()
	defer h.mu.Unlock()
	told := map[*follower[Topic]]bool{}
	for _, topic := range topics {
		h.tell(e, topic, told)
	}
}

// WhileFollowed wraps a stream handler so that it skips batches while nobody is connected and need not decode their records. A
// page that connects later reads their effect in its list, at ready.
func (h *Hub[Topic]) WhileFollowed(handle consumer.Handler) consumer.Handler {
	return func(ctx context.Context, b consumer.Batch) error {
		h.mu.Lock()
		followed := len(h.topics) > 0
		h.mu.Unlock()
		if !followed {
			return nil
		}
		return handle(ctx, b)
	}
}

// Begun is for system.Stream: the process is consuming the table's stream from now on. All connections get ready again, because
// they may have missed earlier writes.
func (h *Hub[Topic]) Begun() {
	e := event{readyEvent, func() ([]byte, error) { return []byte("{}"), nil }}
	h.mu.Lock()
	defer h.mu.Unlock()
	told := map[*follower[Topic]]bool{}
	for topic := range h.topics {
		h.tell(e, topic, told)
	}
}

// tell sends an event to the subscribers of a topic that do not have it yet. The caller holds the lock.
func (h *Hub[Topic]) tell(e event, topic Topic, told map[*follower[Topic]]bool) {
	for f := range h.topics[topic] {
		if told[f] {
			continue
		}
		told[f] = true
		select {
		case f.events <- e:
		default:
			h.end(f)
		}
	}
}

// End closes the connections subscribed to a topic. Clients reconnect, and their permissions are checked again.
func (h *Hub[Topic]) End(topic Topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.topics[topic] {
		h.end(f)
	}
}

// follow subscribes until stop is called.
func (h *Hub[Topic]) follow(topics []Topic) (f *follower[Topic], stop func()) {
	f = &follower[Topic]{topics: topics, events: make(chan event, queue)}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range topics {
		if h.topics[topic] == nil {
			h.topics[topic] = map[*follower[Topic]]bool{}
		}
		h.topics[topic][f] = true
	}
	return f, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.forget(f)
	}
}

// end closes a connection's events. The caller holds the lock.
func (h *Hub[Topic]) end(f *follower[Topic]) {
	close(f.events)
	h.forget(f)
}

// forget removes a connection. The caller holds the lock.
func (h *Hub[Topic]) forget(f *follower[Topic]) {
	for _, topic := range f.topics {
		delete(h.topics[topic], f)
		if len(h.topics[topic]) == 0 {
			delete(h.topics, topic)
		}
	}
}

// Feed describes a caller's subscription.
type Feed[Topic comparable] struct {
	Topics []Topic
	// Still fails once the caller may no longer receive the topics; nil if that cannot change during a stream.
	Still func(context.Context) error
}

// Register adds an operation that responds with events. Its description lists them; events has a value of each event's type, for
// the document. follow returns the caller's subscription, or an error.
func Register[Topic comparable](a huma.API, h *Hub[Topic], op huma.Operation, events map[string]any,
	follow func(context.Context, auth.Principal) (Feed[Topic], error), options ...api.Option,
) {
	schemas := map[string]any{}
	for name, data := range events {
		schemas[name] = a.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(data), true, "")
	}
	op.Method = http.MethodGet
	op.Description = "Server-sent events: ready, when changes are told from now on; " + op.Description +
		" What happened while nobody was connected is not told: read the list at each ready."
	op.Responses = map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{
		Type: huma.TypeString, Description: "data is JSON.", Extensions: map[string]any{"x-events": schemas},
	}}}}}
	huma.Register(a, api.Operation(op, append(options, api.Stream)...), func(ctx context.Context, _ *api.None) (*huma.StreamResponse, error) {
		who, err := auth.Required(ctx)
		if err != nil {
			return nil, err
		}
		feed, err := follow(ctx, who)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			ctx.SetHeader("Content-Type", "text/event-stream")
			ctx.SetHeader("Cache-Control", "no-store")
			ctx.SetHeader("X-Accel-Buffering", "no")
			_, w := humago.Unwrap(ctx)
			if err := h.serve(ctx.Context(), feed, w); err != nil && ctx.Context().Err() == nil {
				h.logger.DebugContext(ctx.Context(), "event stream ended", "error", err)
			}
		}}, nil
	})
}

// serve sends events until the client leaves or loses permission.
func (h *Hub[Topic]) serve(ctx context.Context, feed Feed[Topic], out http.ResponseWriter) error {
	following, stop := h.follow(feed.Topics)
	defer stop()
	defer func() { _ = allowWrite(out) }() // the end of the response, long after the last event
	// Behind a gateway, which keeps no connections open, only ready is sent, and the client polls.
	streaming := !errors.Is(allowWrite(out), http.ErrNotSupported)
	if err := send(out, fmt.Sprintf("retry: %d\nevent: %s\ndata: {}\n\n", retry, readyEvent)); err != nil || !streaming {
		return err
	}
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	until := time.NewTimer(life)
	defer until.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-until.C:
			return errLongEnough
		case e, open := <-following.events:
			if !open {
				return errEnded
			}
			data, err := e.data()
			if err != nil {
				return err
			}
			if err := send(out, "event: "+e.name+"\ndata: "+string(data)+"\n\n"); err != nil {
				return err
			}
		case <-tick.C:
			if feed.Still != nil {
				if err := feed.Still(ctx); err != nil {
					return err
				}
			}
			if err := send(out, ": \n\n"); err != nil { // keeps the connection open
				return err
			}
		}
	}
}

// allowWrite extends the write deadline for the next event. Not every connection has deadlines.
func allowWrite(out http.ResponseWriter) error {
	return http.NewResponseController(out).SetWriteDeadline(time.Now().Add(writeTime))
}

func send(out http.ResponseWriter, text string) error {
	connection := http.NewResponseController(out)
	_ = allowWrite(out)
	if _, err := strings.NewReader(text).WriteTo(out); err != nil {
		return err
	}
	if err := connection.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
