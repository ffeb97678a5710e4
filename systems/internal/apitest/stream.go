package apitest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
)

// Stream makes a request over the socket and returns the answer as soon as it begins, with its body to read, which ends with
// the context. It is for event streams, whose answers Do would wait for without end.
func (v *Server) Stream(ctx context.Context, tb testing.TB, r Request) (*Response, io.Reader) {
	tb.Helper()
	made := r.made(tb, v)
	v.name(made)
	answer, err := client().Do(made.request(ctx, tb, v.url))
	if err != nil {
		tb.Fatalf("%s %s: %v", made.method, made.path, err)
	}
	tb.Cleanup(func() { _ = answer.Body.Close() })
	head := &Response{Status: answer.StatusCode, Header: answer.Header}
	body := io.Reader(answer.Body)
	if head.Status >= http.StatusBadRequest { // it has an end
		if head.Body, err = io.ReadAll(body); err != nil {
			tb.Fatal(err)
		}
		body = bytes.NewReader(head.Body)
	}
	v.cover(tb, r, head)
	return head, body
}

// Live tells whether answers arrive while they are made: over a socket, and not from Lambda behind an HTTP API.
func (v *Server) Live() bool { return !v.events() }
