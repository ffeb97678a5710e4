// Package inprocess is an HTTP client without a socket: its only server is a handler in the same process.
package inprocess

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"time"
)

// Client calls Handler on the caller's goroutine. It is safe for concurrent use.
type Client struct {
	Handler http.Handler
	// Now is the time in the Date header of responses; nil leaves it out.
	Now func() time.Time
	// Closed returns the error of all requests after the server was closed, nil before; nil means never.
	Closed func() error
}

// Do serves the request and closes its body. The response is complete when Do returns.
func (c Client) Do(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	if err := c.closed(); err != nil {
		return nil, err
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	if request.Host == "" {
		request.Host = request.URL.Host // which a socket would carry
	}
	response := recorder{header: make(http.Header, 8), status: http.StatusOK}
	if c.Now != nil {
		response.header.Set("Date", c.Now().UTC().Format(http.TimeFormat))
	}
	c.Handler.ServeHTTP(&response, request)
	if err := request.Body.Close(); err != nil {
		return nil, err
	}
	if response.status >= http.StatusInternalServerError { // perhaps because the server was closed or the caller gave up meanwhile
		if err := cmp.Or(c.closed(), request.Context().Err()); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		Status:        http.StatusText(response.status),
		StatusCode:    response.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        response.header,
		Body:          io.NopCloser(bytes.NewReader(response.body)),
		ContentLength: int64(len(response.body)),
		Request:       request,
	}, nil
}

func (c Client) closed() error {
	if c.Closed == nil {
		return nil
	}
	return c.Closed()
}

// recorder keeps a response in memory.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write copies, because the handler may reuse its buffer.
func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return len(p), nil
}
