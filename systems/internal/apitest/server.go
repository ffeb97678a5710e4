// Package apitest runs a system in tests and calls it as clients do, over a socket and through API Gateway events as in AWS
// Lambda: in the test's own process, with the test's clock and database client, and as the deployed binary.
//
// # Model
//
//	System ──Open──▶ Server on the test's own database ──Do──▶ Response
//
//	                   │ Run: cases, each a Request and its expected outcome
//	                   │ Strangers: no operation is accessible without a valid token
//	                   │ Covered: every operation was called
//	                   │ EachLine: each line of the document that contains a requirement
//	                   │ Load: every call of the load plan
//	                   ╰ Deliver: the stream records, from the beginning, to the system's consumers
//
// With Main, each of the system's requests to the database belongs to a function, with the permissions of its policy.
//
// The clock stands still until a test advances it; a binary uses the system clock. Streams are only consumed when a test delivers
// their records, so a test knows what has happened.
//
// A Server is safe for concurrent use, except Run and Strangers, which call t.Run.
package apitest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/databasetest"
	"github.com/monotable/monotable/systems/internal/lambdahttp"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/sam"
	"github.com/monotable/monotable/systems/internal/system"
)

// Transport is how requests and records are sent to the system.
type Transport string

// The transports.
const (
	// Socket is a server in the test's process, Lambda an event handler in it.
	Socket Transport = "socket"
	Lambda Transport = "lambda"
	// Process is the system's binary as a server, Function the same binary as AWS Lambda runs it.
	Process  Transport = "process"
	Function Transport = "function"
)

// Server is a system under test.
type Server struct {
	// Clock is the clock of the system and the issuer. A binary uses the system clock, which cannot be advanced.
	Clock *Clock
	// Database is the system's database.
	Database databasetest.Database
	// Host runs the system; nil for a binary.
	Host *run.Host

	system    system.System
	transport Transport
	issuer    *auth.Issuer
	tokens    sync.Map       // by minute, user and groups
	keys      string         // the issuer's key file
	url       string         // of the socket, with the system's prefix
	lambda    lambda.Handler // for requests as events, and for records
	document  *document

	mu      sync.Mutex
	seen    map[string]*coverage    // by operation
	asked   map[string]string       // operations by the ids of their requests
	reached map[string][]sam.Access // by function
	// requests are the names of requests to the tables, by function.
	requests map[string][]string
	refused  []string // the database's messages
}

// Each runs a test of a system over each transport, each time with an empty database.
func Each(t *testing.T, s system.System, test func(*testing.T, *Server)) {
	t.Helper()
	for _, transport := range []Transport{Socket, Lambda} {
		t.Run(string(transport), func(t *testing.T) { test(t, OpenVia(t, s, transport)) })
	}
}

// Open opens a system on an empty database. It closes with the test.
func Open(tb testing.TB, s system.System) *Server {
	tb.Helper()
	return OpenVia(tb, s, Socket)
}

// OpenVia is Open with a transport.
func OpenVia(tb testing.TB, s system.System, transport Transport) *Server {
	tb.Helper()
	v := newServer(tb, s, transport)
	tb.Cleanup(func() { v.allowed(tb) })
	v.Clock = newClock()
	v.issuer = v.openIssuer(tb, v.Clock.Now)
	tables, streams := v.watched()
	var err error
	v.Host, err = run.NewHost(tb.Context(), run.Options{
		Database:  &run.Database{DynamoDB: tables, Streams: streams, Poll: pollInterval},
		CursorKey: []byte(cursorKey), Access: run.SignedHere(v.issuer), Stage: stage,
		Clock: v.Clock.Now, AtRoot: transport == Lambda, CreateTables: true, Timeout: Patience,
	}, named(s))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := v.Host.Close(); err != nil {
			tb.Error(err)
		}
	})
	service := v.Host.Service(s.Name)
	v.lambda = lambdahttp.New(v.Host.Mux(), service.Streams, service.Schedules...).Redriving(streams)
	if transport == Socket {
		server := httptest.NewServer(v.Host.Mux())
		tb.Cleanup(server.Close)
		v.url = server.URL + "/" + s.Name
	}
	v.document = v.readDocument(tb)
	return v
}

func newServer(tb testing.TB, s system.System, transport Transport) *Server {
	tb.Helper()
	return &Server{
		Database: databasetest.Guarded(tb, deployed.file(tb)), system: s, transport: transport, keys: keyFile(tb),
		document: &document{}, seen: map[string]*coverage{}, asked: map[string]string{}, reached: map[string][]sam.Access{},
		requests: map[string][]string{},
	}
}

const (
	// stage is the stage that tests deploy to.
	stage     = "test"
	cursorKey = "a key of thirty-two bytes, or so"
	// issuerBase is the tokens' issuer address.
	issuerBase = "http://issuer.test"
	// Patience is how long a request may queue behind all others on a slow machine.
	Patience = time.Minute
	// pollInterval is short, so that workers in tests do not wait.
	pollInterval = time.Millisecond
)

// Do sends a request.
func (v *Server) Do(tb testing.TB, r Request) *Response {
	tb.Helper()
	created := r.created(tb, v)
	v.name(created)
	var response *Response
	if v.events() {
		response = v.invoke(tb, created)
	} else {
		response = v.send(tb, created)
	}
	v.cover(tb, r, response)
	return response
}

// Insist is Do for a request that may conflict with others: it is sent again, as a client should, as long as the response says so.
func (v *Server) Insist(tb testing.TB, r Request) *Response {
	tb.Helper()
	for begun := time.Now(); ; {
		response := v.Do(tb, r)
		later := response.Status == http.StatusConflict || response.Status == http.StatusServiceUnavailable
		if !later || response.Header.Get("Retry-After") == "" || time.Since(begun) > Patience {
			return response
		}
	}
}

// events reports whether requests are sent as events.
func (v *Server) events() bool { return v.transport == Lambda || v.transport == Function }

// Work runs the system's workers and consumers until the test ends or the returned function is called. It is not available for a
// binary.
func (v *Server) Work(tb testing.TB) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.Host.Work(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	tb.Cleanup(stop)
	return stop
}

// client returns a client that neither follows redirects nor decompresses responses.
func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Address returns the system's address for a browser, without a trailing slash. It requires a socket.
func (v *Server) Address(tb testing.TB) string {
	tb.Helper()
	if v.url == "" {
		tb.Fatal("the system is on no socket")
	}
	return v.url
}
