package run_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// TestFaultsOfTheDatabase: whatever happens to the database, callers get a code and learn nothing about internals, and the error
// is logged.
func TestFaultsOfTheDatabase(t *testing.T) {
	t.Parallel()
	type response = func(http.ResponseWriter, *http.Request)
	says := func(status int, kind, body string) response {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	const aws10 = "application/x-amz-json-1.0"
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", aws10)
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"Items":[{"pk":{"S":"USER#inside`)
		panic(http.ErrAbortHandler)
	}
	hangs := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a closed connection is noticed only after the body has been read
		<-r.Context().Done()
	}
	for _, test := range []struct {
		name   string
		fault  response
		status int
		code   string
	}{
		{"throttled", says(400, aws10, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"inside"}`), 503, "throttled"},
		{"throttled, on demand", says(400, aws10, `{"__type":"com.amazon.coral.availability#ThrottlingException","message":"inside"}`), 503, "throttled"},
		{"requests bounded", says(400, aws10, `{"__type":"com.amazonaws.dynamodb.v20120810#RequestLimitExceeded","message":"inside"}`), 503, "throttled"},
		{"a fault of its own", says(500, aws10, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"inside"}`), 503, "unavailable"},
		{"a fault without words", says(500, "", ``), 503, "unavailable"},
		{"a proxy in front of it", says(502, "text/html", `<html>inside</html>`), 503, "unavailable"},
		{"not there for the moment", says(503, "text/plain", `inside`), 503, "unavailable"},
		{"gone in the middle", cut, 503, "unavailable"},
		{"gone at once", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 503, "unavailable"},
		{"no JSON", says(200, aws10, `{"Items":[{"pk":{"S":`), 503, "unavailable"},
		{"no such table", says(400, aws10, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"inside"}`), 500, "internal"},
		{"not permitted", says(400, aws10, `{"__type":"com.amazon.coral.service#AccessDeniedException","message":"inside"}`), 500, "internal"},
		{"not understood", says(400, aws10, `{"__type":"com.amazon.coral.validate#ValidationException","message":"inside"}`), 500, "internal"},
		{"slow", hangs, 504, "timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := faulty(t)
			f.breaks(test.fault)
			reply := f.call(t)
			p := reply.Problem(t)
			if p.Status != test.status || p.Code != test.code {
				t.Errorf("%d %s, want %d %s", p.Status, p.Code, test.status, test.code)
			}
			if strings.Contains(reply.Body, "inside") || strings.Contains(reply.Body, "127.0.0.1") || strings.Contains(reply.Body, "dynamodb") {
				t.Errorf("the response reveals internal details: %s", reply.Body)
			}
			if later := reply.Header.Get("Retry-After"); (later != "") != (test.status == 503) {
				t.Errorf("Retry-After %q of a %d", later, test.status)
			}
			f.breaks(nil)
			if reply := f.call(t); reply.Status != http.StatusOK {
				t.Errorf("after it: %d %s", reply.Status, reply.Body)
			}
			if log := f.log.String(); !strings.Contains(log, `"msg":"request failed"`) || !strings.Contains(log, p.RequestID) {
				t.Errorf("the log does not say why:\n%s", log)
			}
		})
	}
}

// faultyDatabase is the notes system on a database that a test can break.
type faultyDatabase struct {
	url, token string
	log        *systemtest.Log
	mu         sync.Mutex
	fault      func(http.ResponseWriter, *http.Request)
}

func faulty(t *testing.T) *faultyDatabase {
	t.Helper()
	f := &faultyDatabase{log: &systemtest.Log{}}
	database := monotabletest.New(t).Handler()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		fault := f.fault
		f.mu.Unlock()
		if fault == nil {
			fault = database.ServeHTTP
		}
		fault(w, r)
	}))
	t.Cleanup(endpoint.Close)
	issuer, err := auth.NewIssuer("notes", "http://issuer.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.token, err = issuer.Mint(auth.Claims{Sub: "u-1"}); err != nil {
		t.Fatal(err)
	}
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint.URL), Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{},
	})
	created, err := run.NewHost(t.Context(), run.Options{
		Database:  &run.Database{DynamoDB: client, Streams: dynamodbstreams.New(dynamodbstreams.Options{}), Own: true},
		CursorKey: make([]byte, 32), Access: run.SignedHere(issuer), NoWorkers: true, Timeout: 200 * time.Millisecond,
		Logger: slog.New(slog.NewJSONHandler(f.log, nil)),
	}, systemtest.Notes(systemtest.Hooks{}))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(created.Mux())
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *faultyDatabase) breaks(fault func(http.ResponseWriter, *http.Request)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

func (f *faultyDatabase) call(t *testing.T) systemtest.Response {
	t.Helper()
	return systemtest.Call(t, "GET", f.url+"/notes/notes", "", "Authorization", "Bearer "+f.token)
}

// TestHandlerThatPanics: a panic in a stream handler fails its batch but does not end the process.
func TestHandlerThatPanics(t *testing.T) {
	t.Parallel()
	seen := make(chan string)
	close(seen) // closing it again panics
	h := host(t, systemtest.Hooks{Seen: seen})
	if response := h.call(t, "POST", "/notes/notes", `{"text":"poison"}`); response.Status != http.StatusCreated {
		t.Fatalf("%d %s", response.Status, response.Body)
	}
	for !strings.Contains(h.log.String(), "handler failed") {
		if response := h.call(t, "GET", "/notes/health", ""); response.Status != http.StatusOK {
			t.Fatalf("%d %s", response.Status, response.Body)
		}
	}
	if log := h.log.String(); !strings.Contains(log, "panic: send on closed channel") {
		t.Errorf("the log does not say what happened:\n%s", log)
	}
	h.stop()
	if err := <-h.result; err != nil {
		t.Error(err)
	}
}
