package apitest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
)

// Stream sends a request over the socket and returns the response as soon as it begins. The body ends with the context. It is for
// event streams, for which Do would wait forever.
func (v *Server) Stream(ctx context.Context, tb testing.TB, r Request) (*Response, io.Reader) {
	tb.Helper()
	created := r.created(tb, v)
	v.name(created)
	response, err := client().Do(created.request(ctx, tb, v.url))
	if err != nil {
		tb.Fatalf("%s %s: %v", created.method, created.path, err)
	}
	tb.Cleanup(func() { _ = response.Body.Close() })
	head := &Response{Status: response.StatusCode, Header: response.Header}
	body := io.Reader(response.Body)
	if head.Status >= http.StatusBadRequest { // it ends on its own
		if head.Body, err = io.ReadAll(body); err != nil {
			tb.Fatal(err)
		}
		body = bytes.NewReader(head.Body)
	}
	v.cover(tb, r, head)
	return head, body
}

// Live reports whether responses arrive while they are produced: they do over a socket, but not from Lambda behind an HTTP API.
func (v *Server) Live() bool { return !v.events() }
