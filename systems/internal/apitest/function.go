package apitest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/systems/internal/system"
)

// function is a binary that runs as AWS Lambda runs it: it fetches events from the Runtime API and posts responses.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type function struct {
	events chan *invocation
	ended  chan struct{} // closed when the process has ended

	mu      sync.Mutex
	waiting map[string]*invocation // by request id
}

// invocation is an event in progress.
type invocation struct {
	payload  []byte
	response chan result
}

type result struct {
	payload []byte
	err     error
}

// functionTimeout is longer than any function takes.
const functionTimeout = 30 * time.Second

// startFunction starts a binary with its own Runtime API.
func startFunction(t *testing.T, s system.System, binary string, environment []string) *function {
	t.Helper()
	f := &function{events: make(chan *invocation), ended: make(chan struct{}), waiting: map[string]*invocation{}}
	server := httptest.NewServer(f.runtime())
	command := exec.CommandContext(t.Context(), binary)
	command.Env = slices.Concat(environment, []string{"AWS_LAMBDA_RUNTIME_API=" + server.Listener.Addr().String(), "AWS_LAMBDA_FUNCTION_NAME=" + s.Name})
	said := &transcript{}
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = command.Wait() // killed, as Lambda ends a function
		close(f.ended)
	}()
	t.Cleanup(func() {
		<-f.ended
		server.Close()
		said.look(t)
	})
	return f
}

// runtime is the Runtime API.
func (f *function) runtime() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, r *http.Request) {
		select {
		case next := <-f.events:
			id := rand.Text()
			f.mu.Lock()
			f.waiting[id] = next
			f.mu.Unlock()
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", id)
			w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(functionTimeout).UnixMilli(), 10))
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:test")
			_, _ = w.Write(next.payload)
		case <-r.Context().Done():
		}
	})
	end := func(failed bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err == nil && failed {
				err = fmt.Errorf("the function failed: %s", text)
			}
			f.mu.Lock()
			of := f.waiting[r.PathValue("id")]
			delete(f.waiting, r.PathValue("id"))
			f.mu.Unlock()
			if of == nil {
				http.Error(w, "no such invocation", http.StatusBadRequest)
				return
			}
			of.response <- result{text, err}
			w.WriteHeader(http.StatusAccepted)
		}
	}
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", end(false))
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", end(true))
	return mux
}

// Invoke sends the function an event and waits for its response. As in Lambda, there is one event at a time.
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	event := &invocation{payload: payload, response: make(chan result, 1)}
	select {
	case f.events <- event:
	case <-f.ended:
		return nil, errEnded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case got := <-event.response:
		return got.payload, got.err
	case <-f.ended:
		return nil, errEnded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// errEnded is the error for a binary that has ended; its output is in the test's log.
var errEnded = errors.New("the function has ended")
