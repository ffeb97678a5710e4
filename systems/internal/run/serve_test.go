package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// hosted is a host of the notes system on a socket.
type hosted struct {
	url    string
	token  string
	stop   context.CancelFunc
	result chan error // of Serve
	log    *systemtest.Log
}

func host(t *testing.T, hooks systemtest.Hooks) *hosted {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{url: "http://" + listener.Addr().String(), result: make(chan error, 1), log: &systemtest.Log{}}
	issuer, err := auth.NewIssuer("notes", h.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h.token, err = issuer.Mint(auth.Claims{Sub: "u-1"}); err != nil {
		t.Fatal(err)
	}
	created, err := run.NewHost(t.Context(), run.Options{
		Database: run.InProcess(monotabletest.New(t)), CursorKey: make([]byte, 32), Access: run.SignedHere(issuer),
		Logger: slog.New(slog.NewTextHandler(h.log, nil)),
	}, systemtest.Notes(hooks))
	if err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, h.stop = context.WithCancel(t.Context())
	t.Cleanup(h.stop)
	go func() { h.result <- run.Serve(ctx, listener, created) }()
	return h
}

func (h *hosted) call(t *testing.T, method, path, body string) systemtest.Response {
	t.Helper()
	return systemtest.Call(t, method, h.url+path, body, "Authorization", "Bearer "+h.token, "Idempotency-Key", "n-1")
}

func TestHost(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 10)
	h := host(t, systemtest.Hooks{Seen: seen})
	if response := h.call(t, "POST", "/notes/notes", `{"text":"hello"}`); response.Status != http.StatusCreated {
		t.Fatalf("%d %s", response.Status, response.Body)
	}
	if id := <-seen; id != "n-1" {
		t.Errorf("the stream delivered %q, want n-1", id)
	}
	if response := h.call(t, "GET", "/notes/notes?limit=1", ""); !strings.Contains(response.Body, `"text":"hello"`) {
		t.Errorf("%d %s", response.Status, response.Body)
	}
	if response := h.call(t, "GET", "/notes/notes?cursor=!!", ""); response.Problem(t).Code != "invalid_cursor" {
		t.Errorf("%d %s", response.Status, response.Body)
	}
	for path, want := range map[string]string{
		"/health": `{"status":"ok"}`, "/notes/health": `{"status":"ok"}`, "/notes/ready": `{"status":"ok"}`,
		"/notes/play/x": "page at /play/x", "/nothing": `"code":"not_found"`,
		"/metrics":                           `http_requests_total{method="POST",route="/notes/notes",status="201",system="notes"} 1`,
		"/notes_users/.well-known/jwks.json": `"kty":"RSA"`,
	} {
		if response := h.call(t, "GET", path, ""); !strings.Contains(response.Body, want) {
			t.Errorf("%s: %d %s, want %s", path, response.Status, response.Body, want)
		}
	}
	h.stop()
	if err := <-h.result; err != nil {
		t.Error(err)
	}
}

// TestRequestsOutsideSystemsAreCounted: requests outside of systems are labelled, counted and rejected like all others.
func TestRequestsOutsideSystemsAreCounted(t *testing.T) {
	t.Parallel()
	h := host(t, systemtest.Hooks{})
	if p := h.call(t, "GET", "/nothing", "").Problem(t); p.Code != "not_found" {
		t.Errorf("/nothing: %+v", p)
	}
	for _, path := range []string{"/health", "/metrics", "/nothing", "/notes/health", "/notes_users/.well-known/jwks.json"} {
		if response := h.call(t, "GET", path, ""); response.Header.Get("X-Request-Id") == "" || response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v, want an id and nosniff", path, response.Header)
		}
	}
	metrics := h.call(t, "GET", "/metrics", "").Body
	for _, want := range []string{
		`http_requests_total{method="GET",route="/health",status="200",system="process"} 1`,
		`http_requests_total{method="GET",route="unmatched",status="404",system="process"} 2`, "go_goroutines",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics do not contain %s", want)
		}
	}
}

// TestNoWorkers: a process without workers consumes no stream and runs no worker.
func TestNoWorkers(t *testing.T) {
	t.Parallel()
	issuer, err := auth.NewIssuer("notes", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := run.NewHost(t.Context(), run.Options{
		Database: run.InProcess(monotabletest.New(t)), CursorKey: make([]byte, 32), Access: run.SignedHere(issuer), NoWorkers: true,
	}, systemtest.Notes(systemtest.Hooks{}))
	if err != nil {
		t.Fatal(err)
	}
	h.Work(t.Context()) // returns, although the context has not ended
	if err := t.Context().Err(); err != nil {
		t.Error("the work ended with the test:", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestEndInOrder: requests in flight end first, then event streams, then workers; open resources close last.
func TestEndInOrder(t *testing.T) {
	t.Parallel()
	hold, holding, watching := make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	started, stopped, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	h := host(t, systemtest.Hooks{Hold: hold, Holding: holding, Watching: watching, Started: started, Stopped: stopped, Closed: closed})
	<-started // otherwise shutdown could precede the worker's start

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/notes/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Accept-Encoding", "gzip") // event streams are not compressed
	stream, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	<-watching
	events := bufio.NewReader(stream.Body)
	if line := readUntil(t, events, "data: "); !strings.Contains(line, `"hello"`) || stream.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("first event %q of %s", line, stream.Header.Get("Content-Type"))
	}

	answered := make(chan systemtest.Response, 1)
	go func() { answered <- h.call(t, "POST", "/notes/notes", `{"text":"under way"}`) }()
	<-holding
	h.stop()
	if line := readUntil(t, events, "data: "); !strings.Contains(line, `"bye"`) {
		t.Errorf("last event %q", line)
	}
	if _, err := io.Copy(io.Discard, events); err != nil {
		t.Errorf("the event stream was cut off: %v", err)
	}
	select {
	case <-stopped:
		t.Error("the worker was stopped under a request")
	case <-closed:
		t.Error("the system was closed under a request")
	case err := <-h.result:
		t.Errorf("over with a request under way: %v", err)
	default:
	}
	close(hold)
	if response := <-answered; response.Status != http.StatusCreated {
		t.Errorf("the request under way: %d %s", response.Status, response.Body)
	}
	<-stopped
	<-closed
	if err := <-h.result; err != nil {
		t.Error(err)
	}
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://")); err == nil {
		t.Error("the address is still served")
	}
}

func readUntil(t *testing.T, r *bufio.Reader, prefix string) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("before %q: %v", prefix, err)
		}
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
}

// environment is a process's environment, with its output.
func environment(t *testing.T, variables map[string]string) (run.Environment, *io.PipeReader) {
	t.Helper()
	read, write := io.Pipe()
	t.Cleanup(func() { _ = write.Close() })
	return run.Environment{Getenv: func(name string) string { return variables[name] }, Stdout: write, Stderr: io.Discard}, read
}

// TestCommand: a system's own process runs twice on a directory; the second run has everything that the first one stored,
// including cursors and tokens.
func TestCommand(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	var token string
	for n := range 2 {
		env, out := environment(t, map[string]string{"APP_DATA": data})
		cmd := run.Command(systemtest.Notes(systemtest.Hooks{}), env)
		address := "127.0.0.1:0"
		cmd.SetArgs([]string{"--addr", address, "--dev-issuer", "--durability", "none"})
		ctx, stop := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- cmd.ExecuteContext(ctx) }()
		lines := bufio.NewReader(out)
		greeting, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err, <-result)
		}
		fields := strings.Fields(greeting)
		at := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(f, "http://") })
		url := strings.TrimSuffix(fields[at], "/")
		issuer, err := auth.OpenIssuer("notes", run.KeyPath(data, run.IssuerKeys("notes")), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if token, err = issuer.Mint(auth.Claims{Sub: "u-1"}); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if response := systemtest.Call(t, "POST", url+"/notes", `{"text":"kept"}`, "Authorization", "Bearer "+token, "Idempotency-Key", "a"); response.Status != http.StatusCreated {
				t.Errorf("%d %s", response.Status, response.Body)
			}
		}
		if response := systemtest.Call(t, "GET", url+"/notes", "", "Authorization", "Bearer "+token); !strings.Contains(response.Body, `"kept"`) {
			t.Errorf("run %d: %d %s", n, response.Status, response.Body)
		}
		about, _ := lines.ReadString('\n')
		shown, _ := lines.ReadString('\n')
		if response := systemtest.Call(t, "GET", url+"/notes", "", "Authorization", "Bearer "+strings.TrimSpace(shown)); response.Status != http.StatusOK || about != "a token of u-123, valid for one hour:\n" {
			t.Errorf("run %d shows %s%s, which is answered %d %s", n, about, shown, response.Status, response.Body)
		}
		base, _, _ := strings.Cut(url, "/notes")
		if page := systemtest.Call(t, "GET", url+"/docs", "").Body; !strings.Contains(page, "<title>Notes API</title>") || strings.Contains(page, "home&#34;") {
			t.Errorf("the page of the only system's API, which links to no page of all:\n%s", page)
		}
		if response := systemtest.Call(t, "GET", base+"/", ""); response.Status != http.StatusFound || response.Header.Get("Location") != "/notes/" {
			t.Errorf("/: %d to %q, want the system's page", response.Status, response.Header.Get("Location"))
		}
		stop()
		if err := <-result; err != nil {
			t.Errorf("run %d: %v", n, err)
		}
	}
	info, err := os.Stat(run.KeyPath(data, run.CursorKey))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key of cursors: %v %v", err, info)
	}
}

// TestLambda: the same system behind API Gateway events, without its prefix.
func TestLambda(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys.json")
	env, _ := environment(t, map[string]string{
		"APP_MEMORY": "true", "APP_ISSUER_KEY": keys, "APP_ISSUER": "https://notes.example", "APP_STAGE": "prod",
	})
	env.Stdout = io.Discard
	handler, err := run.NewLambda(t.Context(), systemtest.Notes(systemtest.Hooks{}), env)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := auth.OpenIssuer("notes", keys, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := issuer.Mint(auth.Claims{Sub: "u-1"})
	if err != nil {
		t.Fatal(err)
	}
	invoke := func(method, path, body string) (status int, text string) {
		t.Helper()
		event, err := json.Marshal(map[string]any{
			"version": "2.0", "rawPath": path, "body": body, "headers": map[string]string{"authorization": "Bearer " + token, "idempotency-key": "k", "content-type": "application/json"},
			"requestContext": map[string]any{"stage": "$default", "requestId": "r-1", "http": map[string]any{"method": method, "sourceIp": "192.0.2.1"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := handler.Invoke(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		var response struct {
			StatusCode int               `json:"statusCode"`
			Headers    map[string]string `json:"headers"`
			Body       string            `json:"body"`
		}
		if err := json.Unmarshal(out, &response); err != nil {
			t.Fatal(err)
		}
		if response.Headers["X-Request-Id"] != "r-1" {
			t.Errorf("request id %q, want API Gateway's", response.Headers["X-Request-Id"])
		}
		return response.StatusCode, response.Body
	}
	if status, text := invoke("POST", "/notes", `{"text":"from afar"}`); status != http.StatusCreated {
		t.Errorf("%d %s", status, text)
	}
	if status, text := invoke("GET", "/notes", ""); status != http.StatusOK || !strings.Contains(text, "from afar") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := invoke("GET", "/nothing", ""); status != http.StatusNotFound || !strings.Contains(text, `"code":"not_found"`) {
		t.Errorf("%d %s", status, text)
	}
	event := `{"Records":[{"eventID":"e","eventName":"REMOVE","eventSourceARN":"arn:aws:dynamodb:us-east-1:000000000000:table/notes-prod/stream/now","dynamodb":{"Keys":{"sk":{"S":"NOTE#k"}},"SequenceNumber":"1"}}]}`
	if _, err := handler.Invoke(t.Context(), []byte(event)); err != nil {
		t.Error(err)
	}
}
