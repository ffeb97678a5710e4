package catfecito

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
)

const (
	// eventQueue is how many orders may wait for one connection. One that is further behind is ended, and comes again.
	eventQueue = 64
	// eventRetry is when a client comes again whose connection has ended, in milliseconds.
	eventRetry = 1000
	// eventWrite is how long a client may take to read an event.
	eventWrite = 10 * time.Second
	// eventCheck is how often it is looked whether the caller may still see what is sent.
	eventCheck = 15 * time.Second
	// eventLife is how long a stream lasts. Then the client comes again with another token.
	eventLife = 15 * time.Minute
)

// hub hands orders that were made or changed to the connections of this process: all to staff, their own to customers.
type hub struct {
	mu   sync.Mutex
	subs map[*subscription]bool
}

// subscription is a connection's. Its orders are closed when it is too far behind.
type subscription struct {
	userID string // "" follows everybody's
	orders chan catfecitodb.Order
}

func newHub() *hub { return &hub{subs: map[*subscription]bool{}} }

// subscribe follows the orders of a user, or all for "", until end is called.
func (h *hub) subscribe(userID string) (s *subscription, end func()) {
	s = &subscription{userID: userID, orders: make(chan catfecitodb.Order, eventQueue)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[s] = true
	return s, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, s)
	}
}

// publish tells all who follow an order. It does not wait for any of them.
func (h *hub) publish(o catfecitodb.Order) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		if s.userID != "" && s.userID != o.UserID {
			continue
		}
		select {
		case s.orders <- o:
		default:
			close(s.orders)
			delete(h.subs, s)
		}
	}
}

// tellOrders tells the hub of orders.
func (s *service) tellOrders(_ context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if r.Dynamodb == nil {
			continue
		}
		if o, ok := storedAs[catfecitodb.Order](r.Dynamodb.NewImage); ok {
			s.hub.publish(o)
		}
	}
	return nil
}

// storedAs is the item of a kind that an image is; copies and markers are none.
func storedAs[T any](image map[string]streams.AttributeValue) (T, bool) {
	var none T
	if image == nil {
		return none, false
	}
	x, place, err := catfecitodb.Decode(table.FromStream(image))
	if err != nil || place.Kind != table.KeyPlace { // audit tells of what cannot be read
		return none, false
	}
	item, ok := x.(T)
	return item, ok
}

// feedOperation describes the event stream.
func feedOperation(a huma.API) huma.Operation {
	order := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[OpenOrder](), true, "")
	return api.Operation(huma.Operation{
		OperationID: "watchOrders", Method: http.MethodGet, Path: "/orders/events", Summary: "Your orders as they change; all, for staff", Tags: []string{"Orders"},
		Description: "Server-sent events: ready, when changes are told from now on; order, with an order that was made or changed. " +
			"What happened while nobody was connected is not told: read the list at ready.",
		Responses: map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{
			Type: huma.TypeString, Description: "data is JSON.", Extensions: map[string]any{"x-events": map[string]any{"order": order}},
		}}}}},
	}, api.Stream)
}

// watchOrders is the answer to a request for events.
func (s *service) watchOrders(ctx context.Context, _ *api.None) (*huma.StreamResponse, error) {
	who, err := auth.Required(ctx)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "text/event-stream")
		ctx.SetHeader("Cache-Control", "no-store")
		ctx.SetHeader("X-Accel-Buffering", "no")
		_, w := humago.Unwrap(ctx)
		if err := s.feed(ctx.Context(), who, w); err != nil && ctx.Context().Err() == nil {
			s.logger.DebugContext(ctx.Context(), "event stream ended", "error", err)
		}
	}}, nil
}

// What ends a stream, beside the client and the process.
var (
	errLagging    = errors.New("the client is too far behind")
	errLongEnough = errors.New("the stream has lasted as long as streams do")
	errLessNow    = errors.New("the caller may see less than when the stream began")
)

// feed sends orders until the client goes, or may not see them any more.
func (s *service) feed(ctx context.Context, who auth.Principal, out http.ResponseWriter) error {
	of := who.Sub
	if who.In(AdminGroup) {
		of = ""
	}
	following, end := s.hub.subscribe(of)
	defer end()
	// Behind a gateway, which has no connections to us, ready is all, and the client comes again.
	live := !errors.Is(http.NewResponseController(out).SetWriteDeadline(time.Now().Add(eventWrite)), http.ErrNotSupported)
	if err := send(out, fmt.Sprintf("retry: %d\nevent: ready\ndata: {}\n\n", eventRetry)); err != nil || !live {
		return err
	}
	tick := time.NewTicker(eventCheck)
	defer tick.Stop()
	until := time.NewTimer(eventLife)
	defer until.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-until.C:
			return errLongEnough
		case o, open := <-following.orders:
			if !open {
				return errLagging
			}
			text, err := api.MarshalJSON(openOrderOf(o))
			if err != nil {
				return err
			}
			if err := send(out, "event: order\ndata: "+string(text)+"\n\n"); err != nil {
				return err
			}
		case <-tick.C:
			if now, err := s.admit(ctx, who); err != nil || of == "" && !now.In(AdminGroup) {
				return errors.Join(errLessNow, err)
			}
			if err := send(out, ": \n\n"); err != nil { // keeps the connection open
				return err
			}
		}
	}
}

func send(out http.ResponseWriter, text string) error {
	connection := http.NewResponseController(out)
	_ = connection.SetWriteDeadline(time.Now().Add(eventWrite)) // not every connection has deadlines
	if _, err := strings.NewReader(text).WriteTo(out); err != nil {
		return err
	}
	if err := connection.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
