package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/systems/internal/api"
)

const (
	// retry is the time in milliseconds after which a client reconnects.
	retry = 1000
	// writeTime is how long a client may take to read an event.
	writeTime = 10 * time.Second
	// Life is how long a stream lasts. Then the client reconnects, and its token is checked again.
	Life = 15 * time.Minute
)

// readyEvent says that all changes are sent from now on.
const readyEvent = "ready"

// ErrLongEnough ends a stream that has lasted for Life.
var ErrLongEnough = errors.New("the stream has reached its maximum duration")

// Operation makes an operation one that streams events. events has the type of each event by its name.
func Operation(a huma.API, op huma.Operation, events map[string]any, options ...api.Option) huma.Operation {
	schemas := map[string]any{}
	for name, data := range events {
		schemas[name] = a.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(data), true, "")
	}
	op.Method = http.MethodGet
	op.Responses = map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{
		Type: huma.TypeString, Description: "data is JSON.", Extensions: map[string]any{"x-events": schemas},
	}}}}}
	return api.Operation(op, append(options, api.Stream)...)
}

// Stream is a response with server-sent events while it is being written, by one goroutine.
type Stream struct{ out http.ResponseWriter }

// Respond returns the response of a streaming operation. It ends when write returns, or when the client disconnects.
func Respond(logger *slog.Logger, write func(context.Context, Stream) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "text/event-stream")
		ctx.SetHeader("Cache-Control", "no-store")
		ctx.SetHeader("X-Accel-Buffering", "no")
		r, w := humago.Unwrap(ctx)
		if r.Method == http.MethodHead {
			return // the connection's next request would wait for the end of a stream that the client cannot see
		}
		if err := (Stream{w}).write(ctx.Context(), write); err != nil && ctx.Context().Err() == nil {
			logger.DebugContext(ctx.Context(), "event stream ended", "error", err)
		}
	}}
}

// write gives the client time to read the end of the response, which may come long after the last event.
func (s Stream) write(ctx context.Context, write func(context.Context, Stream) error) error {
	defer func() { _ = s.allowWrite() }()
	return write(ctx, s)
}

// Lasts reports whether the client receives events when they are sent, which is not so behind a gateway that buffers the
// response.
func (s Stream) Lasts() bool { return !errors.Is(s.allowWrite(), http.ErrNotSupported) }

// Ready tells the client that it receives all changes from now on.
func (s Stream) Ready() error {
	return s.send(fmt.Sprintf("retry: %d\nevent: %s\ndata: {}\n\n", retry, readyEvent))
}

// Event sends an event, with an id unless the id is "".
func (s Stream) Event(id, name string, data []byte) error {
	if id != "" {
		id = "id: " + id + "\n"
	}
	return s.send(id + "event: " + name + "\ndata: " + string(data) + "\n\n")
}

// KeepOpen sends a comment, so that no intermediary closes an idle connection.
func (s Stream) KeepOpen() error { return s.send(": \n\n") }

// allowWrite sets the deadline for the next write. Not every connection has deadlines.
func (s Stream) allowWrite() error {
	return http.NewResponseController(s.out).SetWriteDeadline(time.Now().Add(writeTime))
}

func (s Stream) send(text string) error {
	_ = s.allowWrite()
	if _, err := strings.NewReader(text).WriteTo(s.out); err != nil {
		return err
	}
	if err := http.NewResponseController(s.out).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
