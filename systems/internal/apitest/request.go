package apitest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/sam"
)

// Request is a client's request.
type Request struct {
	Method string
	// Path is relative to the system's prefix, and includes the query: "/transactions?limit=5".
	Path string
	// As is the user of the token and Groups are its groups; without a user no token is sent. Token is a raw token to send
	// instead.
	As     string
	Groups []string
	Token  string
	// Key is the Idempotency-Key, or "" for none.
	Key    string
	Header map[string]string
	// Body is sent unchanged if it is a string, otherwise as JSON; nil sends no body.
	Body any
}

// created is a request as it is sent over any transport.
type created struct {
	method, path, query string
	header              map[string]string
	body                string
}

func (r Request) created(tb testing.TB, v *Server) created {
	tb.Helper()
	path, query := cutQuery(r.Path)
	out := created{method: r.Method, path: path, query: query, header: map[string]string{}}
	token := r.Token
	if r.As != "" {
		token = v.Token(tb, r.As, r.Groups...)
	}
	if token != "" {
		out.header["Authorization"] = "Bearer " + token
	}
	if r.Key != "" {
		out.header["Idempotency-Key"] = r.Key
	}
	switch body := r.Body.(type) {
	case nil:
	case string:
		out.body, out.header["Content-Type"] = body, "application/json"
	default:
		text, err := json.Marshal(body)
		if err != nil {
			tb.Fatal(err)
		}
		out.body, out.header["Content-Type"] = string(text), "application/json"
	}
	maps.Copy(out.header, r.Header)
	return out
}

// name gives a request an id, so that its effect on the tables can be attributed.
func (v *Server) name(m created) {
	if m.header["X-Request-Id"] == "" {
		m.header["X-Request-Id"] = rand.Text()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked[m.header["X-Request-Id"]] = cmp.Or(v.document.match(m.method, m.path), sam.OfPages)
}

// Response is a response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// request builds the HTTP request for an address.
func (m created) request(ctx context.Context, tb testing.TB, base string) *http.Request {
	tb.Helper()
	target := base + m.path
	if m.query != "" {
		target += "?" + m.query
	}
	request, err := http.NewRequestWithContext(ctx, m.method, target, strings.NewReader(m.body))
	if err != nil {
		tb.Fatal(err)
	}
	for name, value := range m.header {
		request.Header.Set(name, value)
	}
	return request
}

// send sends a request over the socket.
func (v *Server) send(tb testing.TB, m created) *Response {
	tb.Helper()
	response, err := client().Do(m.request(tb.Context(), tb, v.url))
	if err != nil {
		tb.Fatalf("%s %s: %v", m.method, m.path, err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		tb.Fatalf("%s %s: read the response: %v", m.method, m.path, err)
	}
	return &Response{Status: response.StatusCode, Header: response.Header, Body: body}
}

// invoke sends a request as an HTTP API's event, payload format 2.0.
func (v *Server) invoke(tb testing.TB, m created) *Response {
	tb.Helper()
	event := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "$default", RawPath: m.path, RawQueryString: m.query, Headers: map[string]string{},
		Body: base64.StdEncoding.EncodeToString([]byte(m.body)), IsBase64Encoded: true,
	}
	for name, value := range m.header {
		event.Headers[strings.ToLower(name)] = value
	}
	event.RequestContext.Stage, event.RequestContext.DomainName = "$default", "id.execute-api.us-east-1.amazonaws.com"
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path, event.RequestContext.HTTP.SourceIP = m.method, m.path, "192.0.2.1"
	payload, err := json.Marshal(event)
	if err != nil {
		tb.Fatal(err)
	}
	result, err := v.lambda.Invoke(tb.Context(), payload)
	if err != nil {
		tb.Fatalf("%s %s: %v", m.method, m.path, err)
	}
	var response events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(result, &response); err != nil {
		tb.Fatal(err)
	}
	out := &Response{Status: response.StatusCode, Header: http.Header{}, Body: []byte(response.Body)}
	for name, value := range response.Headers {
		out.Header.Set(name, value)
	}
	if response.IsBase64Encoded {
		if out.Body, err = base64.StdEncoding.DecodeString(response.Body); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// JSON decodes the body.
func (r *Response) JSON(tb testing.TB, into any) {
	tb.Helper()
	if err := json.Unmarshal(r.Body, into); err != nil {
		tb.Fatalf("response %d %s: %v", r.Status, r.Body, err)
	}
}

// Problem decodes the body of an error response.
func (r *Response) Problem(tb testing.TB) problem.Problem {
	tb.Helper()
	if kind := r.Header.Get("Content-Type"); kind != problem.ContentType {
		tb.Fatalf("response %d of type %q, want %s: %s", r.Status, kind, problem.ContentType, r.Body)
	}
	var p problem.Problem
	r.JSON(tb, &p)
	return p
}

// cutQuery splits a path from its query.
func cutQuery(at string) (path, query string) {
	path, query, _ = strings.Cut(at, "?")
	return path, query
}

// Query appends a query with escaped values to a path: Query("/transactions", "cursor", next).
func Query(path string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return path + "?" + values.Encode()
}
