package live

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/monotable/monotable/consumer"
)

// page is a browser connected to a hub.
type page struct {
	http.ResponseWriter // exposes no other methods than those below
	to                  *io.PipeWriter
	lines               *bufio.Scanner
	leave               func()
	ended               chan error
	deadline            time.Time
}

func (p *page) Write(text []byte) (int, error) { return p.to.Write(text) }
func (p *page) Flush()                         {}
func (p *page) SetWriteDeadline(at time.Time) error {
	p.deadline = at
	return nil
}

// next returns the next event with its lines joined, or "" at the end of the stream. It skips keep-alives.
func (p *page) next() string {
	var event []string
	for p.lines.Scan() {
		switch line := p.lines.Text(); {
		case strings.HasPrefix(line, ":"):
		case line != "":
			event = append(event, line)
		case event != nil:
			return strings.Join(event, "|")
		}
	}
	return ""
}

func newHub() *Hub[string] { return New[string](slog.New(slog.DiscardHandler)) }

// open connects a page and waits for ready.
func open(t *testing.T, h *Hub[string], feed Feed[string]) *page {
	t.Helper()
	from, to := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	p := &page{to: to, lines: bufio.NewScanner(from), ended: make(chan error, 1)}
	p.leave = func() {
		cancel()
		_ = from.Close()
	}
	go func() {
		err := Stream{p}.write(ctx, func(ctx context.Context, out Stream) error { return h.serve(ctx, feed, out) })
		_ = to.Close()
		p.ended <- err
	}()
	if got := p.next(); got != "retry: 1000|event: ready|data: {}" {
		t.Fatalf("the first event is %q", got)
	}
	return p
}

// TestHub: a page receives the events of its topics once, and no others. A page that has disconnected is removed.
func TestHub(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		one, both := open(t, h, Feed[string]{Topics: []string{"a"}}), open(t, h, Feed[string]{Topics: []string{"a", "b"}})
		h.Publish("change", map[string]int{"n": 1}, "b")
		h.Publish("change", map[string]int{"n": 2}, "a", "b")
		h.Publish("change", map[string]int{"n": 3}, "c")
		h.Publish("change", map[string]int{"n": 4}, "a")
		h.Begun()
		for p, want := range map[*page][]string{one: {"2", "4"}, both: {"1", "2", "4"}} {
			for _, n := range want {
				if got := p.next(); got != `event: change|data: {"n":`+n+`}` {
					t.Errorf("got %q, want %s", got, n)
				}
			}
			if got := p.next(); got != "event: ready|data: {}" {
				t.Errorf("after the follower restarted it got %q, want ready once", got)
			}
			synctest.Wait()
			p.leave()
			if err := <-p.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("left: %v", err)
			}
		}
		if h.topics.Followed() {
			t.Error("the hub keeps topics without followers")
		}
		h.Publish("change", nil, "a")
	})
}

// TestHead: a HEAD of a stream ends, so that its connection serves the next request.
func TestHead(t *testing.T) {
	t.Parallel()
	mux, end := http.NewServeMux(), make(chan struct{})
	huma.Register(humago.New(mux, huma.DefaultConfig("Events", "1")), huma.Operation{Method: http.MethodGet, Path: "/events"},
		func(context.Context, *struct{}) (*huma.StreamResponse, error) {
			return Respond(slog.New(slog.DiscardHandler), func(ctx context.Context, out Stream) error {
				_ = out.Ready()
				select {
				case <-ctx.Done():
				case <-end: // the next request on the connection hides that the client has closed it
				}
				return nil
			}), nil
		})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		close(end)
		server.Close()
	})
	client := http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: 10 * time.Second}
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%d %v", response.StatusCode, response.Header)
		}
	}
}

// TestUnfollowedBatchesAreSkipped: batches that no page would receive are not handled.
func TestUnfollowedBatchesAreSkipped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, handled := newHub(), 0
		fault := errors.New("not handled")
		handle := h.WhileFollowed(func(context.Context, consumer.Batch) error { handled++; return fault })
		if err := handle(t.Context(), consumer.Batch{}); err != nil || handled != 0 {
			t.Errorf("without followers: %v, handled %d times", err, handled)
		}
		p := open(t, h, Feed[string]{Topics: []string{"a"}})
		if err := handle(t.Context(), consumer.Batch{}); !errors.Is(err, fault) || handled != 1 {
			t.Errorf("while a page follows: %v, handled %d times", err, handled)
		}
		p.leave()
		<-p.ended
		if err := handle(t.Context(), consumer.Batch{}); err != nil || handled != 1 {
			t.Errorf("when the page has left: %v, handled %d times", err, handled)
		}
	})
}

// TestConnectionsEnd: a connection ends with its topic, when its caller loses access, when it falls too far behind, and after fifteen
// minutes. Other connections continue.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	refused := errors.New("may not see it any more")
	for name, c := range map[string]struct {
		do    func(h *Hub[string], may *error)
		after time.Duration
		want  error
	}{
		"topic":   {func(h *Hub[string], _ *error) { h.End("a") }, 0, errEnded},
		"refused": {func(_ *Hub[string], may *error) { *may = refused }, checkEvery, refused},
		"late": {func(h *Hub[string], _ *error) {
			<-time.After(checkEvery - time.Second) // by the bubble's clock
			h.End("a")
		}, checkEvery - time.Second, errEnded},
		"long": {func(*Hub[string], *error) {}, Life, ErrLongEnough},
		"behind": {func(h *Hub[string], _ *error) {
			for range 2 * queue { // the page does not read
				h.Publish("change", 1, "a")
			}
		}, 0, errEnded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHub()
				var may error
				p := open(t, h, Feed[string]{Topics: []string{"a"}, Still: func(context.Context) error { return may }})
				begun := time.Now()
				c.do(h, &may)
				for p.next() != "" {
				}
				if err := <-p.ended; !errors.Is(err, c.want) {
					t.Errorf("ended by %v, want %v", err, c.want)
				}
				if !p.deadline.After(time.Now()) {
					t.Error("there is no time left to write the end of the response, so that browsers report it as broken")
				}
				if took := time.Since(begun); took != c.after {
					t.Errorf("ended after %s, want %s", took, c.after)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		other := open(t, h, Feed[string]{Topics: []string{"b"}})
		h.End("a")
		h.Publish("change", 1, "b")
		if got := other.next(); got != "event: change|data: 1" {
			t.Errorf("another connection has %q", got)
		}
		other.leave()
		<-other.ended
	})
}

// TestBehindGateway: a buffered response consists only of ready.
func TestBehindGateway(t *testing.T) {
	t.Parallel()
	h, w := newHub(), httptest.NewRecorder()
	if err := h.serve(t.Context(), Feed[string]{Topics: []string{"a"}}, Stream{w}); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); got != "retry: 1000\nevent: ready\ndata: {}\n\n" {
		t.Errorf("%q", got)
	}
}
