// Package live tells pages that are open what changes, by server-sent events.
//
// # Model
//
//	table's stream ──▶ a follower in every process ──Publish──▶ Hub ──▶ connections of this process ──▶ pages
//
// A Hub has topics, which are values of a type of the system's: a user, a company, a room. A connection follows some of them, and
// gets each event of theirs once. Register adds the operation, whose function says which topics a caller may follow.
//
// A connection begins with ready: from then on it is told what changes. What happened before is not told, so a page reads its list
// at each ready. ready comes again when the process follows the stream from a later moment on (Begun): at its start, and after a failure.
//
// # Invariants
//
//	L1  Publish waits for no connection. One that is queue events behind is ended; the page connects again and reads its list.
//	L2  Feed.Still is asked every checkEvery: a caller who may see less than at the beginning is ended within that time. A system
//	    that learns of it earlier calls End.
//	L3  A stream ends after life at the latest, so that the next one has another token.
//	L4  An event is the JSON of its data as responses have it, made at most once, and not by the follower.
//
// All methods of a Hub may be used from any number of goroutines.
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
	// queue is how many events may wait for one connection.
	queue = 64
	// retry is when a client comes again whose connection has ended, in milliseconds.
	retry = 1000
	// writeTime is how long a client may take to read an event.
	writeTime = 10 * time.Second
	// checkEvery is how often a connection is checked, and shown to be open.
	checkEvery = 15 * time.Second
	// life is how long a stream lasts.
	life = 15 * time.Minute
)

// What ends a stream, beside the client and the process.
var (
	errEnded      = errors.New("the client is too far behind, or may not see the topic any more")
	errLongEnough = errors.New("the stream has lasted as long as streams do")
)

// Hub hands events to the connections of this process.
type Hub[Topic comparable] struct {
	logger *slog.Logger
	mu     sync.Mutex
	topics map[Topic]map[*follower[Topic]]bool
}

// event is what a page is told.
type event struct {
	name string
	data func() ([]byte, error)
}

// follower is a connection. Its events are closed when it is ended.
type follower[Topic comparable] struct {
	topics []Topic
	events chan event
}

// readyEvent says that changes are told from now on.
const readyEvent = "ready"

// New is a hub that nobody follows yet.
func New[Topic comparable](logger *slog.Logger) *Hub[Topic] {
	return &Hub[Topic]{logger: logger, topics: map[Topic]map[*follower[Topic]]bool{}}
}

// Publish tells the followers of the topics, each once, what has happened. data must not change after that.
func (h *Hub[Topic]) Publish(name string, data any, topics ...Topic) {
	e := event{name, sync.OnceValues(func() ([]byte, error) { return api.MarshalJSON(data) })}
	h.mu.Lock()
	defer h.mu.Unlock()
	told := map[*follower[Topic]]bool{}
	for _, topic := range topics {
		h.tell(e, topic, told)
	}
}

// WhileFollowed is a handler of the stream's batches that leaves out those that come while nobody follows anything: their records
// need not be decoded. A page that connects after that reads what they tell in its list, at ready.
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

// Begun is for system.Stream: the process follows the table's stream, from now on. All connections have ready again, because what was
// written before may not have reached them.
func (h *Hub[Topic]) Begun() {
	e := event{readyEvent, func() ([]byte, error) { return []byte("{}"), nil }}
	h.mu.Lock()
	defer h.mu.Unlock()
	told := map[*follower[Topic]]bool{}
	for topic := range h.topics {
		h.tell(e, topic, told)
	}
}

// tell hands an event to the followers of a topic that do not have it yet. The caller has the lock.
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

// End ends the connections that follow a topic. Clients connect again, and are asked again what they may see.
func (h *Hub[Topic]) End(topic Topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.topics[topic] {
		h.end(f)
	}
}

// follow begins to collect events, until stop is called.
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

// end closes a follower's events. The caller has the lock.
func (h *Hub[Topic]) end(f *follower[Topic]) {
	close(f.events)
	h.forget(f)
}

// forget takes a follower out. The caller has the lock.
func (h *Hub[Topic]) forget(f *follower[Topic]) {
	for _, topic := range f.topics {
		delete(h.topics[topic], f)
		if len(h.topics[topic]) == 0 {
			delete(h.topics, topic)
		}
	}
}

// Feed is what one caller follows.
type Feed[Topic comparable] struct {
	Topics []Topic
	// Still fails once the caller may not follow the topics any more; nil is for what everyone may for as long as a stream lasts.
	Still func(context.Context) error
}

// Register adds an operation that responds with events. Its description says which there are; events has a value of each event's
// type, for the document. follow says what the caller may follow, or refuses.
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

// serve sends events until the client goes, or may not see them any more.
func (h *Hub[Topic]) serve(ctx context.Context, feed Feed[Topic], out http.ResponseWriter) error {
	following, stop := h.follow(feed.Topics)
	defer stop()
	defer func() { _ = allowWrite(out) }() // the end of the response, long after the last event
	// Behind a gateway, which has no connections to us, ready is all, and the client comes again.
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

// allowWrite gives the client its time for what is written next. Not every connection has deadlines.
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
