package http1

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// joinMax is the maximum length of a body that is sent together with its head in one call.
	joinMax = 32 << 10
	// bufferMax is how much of a body of unknown length is buffered to determine its length.
	bufferMax = 64 << 10
)

// response is an http.ResponseWriter that supports http.ResponseController.
type response struct {
	conn    *conn
	header  http.Header
	status  int
	length  int64  // from the header; -1 if unknown
	written int64  // of the body
	kept    []byte // buffered part of a body without a length
	duplex  bool   // the handler continues reading after it has written

	headed bool // the head has been sent
	close  bool // the connection ends with this response
	failed bool // it ends immediately
}

// outs are buffers for heads and small bodies.
var outs = sync.Pool{New: func() any { return new(make([]byte, 0, 4<<10)) }}

func (w *response) begin() {
	clear(w.header)
	*w = response{conn: w.conn, header: w.header, length: -1}
	if limit := w.conn.server.inner.WriteTimeout; limit > 0 {
		if until := time.Now().Add(limit); until.Sub(w.conn.ends) > refresh {
			_ = w.SetWriteDeadline(until) // if the connection is closed, the write fails
		}
	}
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.status != 0 || status < http.StatusOK {
		return
	}
	w.status = status
	if values := w.header["Content-Length"]; len(values) > 0 {
		if n, err := strconv.ParseInt(values[0], 10, 64); err == nil && n >= 0 {
			w.length = n
		} else {
			delete(w.header, "Content-Length")
		}
	}
	if values := w.header["Connection"]; len(values) > 0 && strings.EqualFold(values[0], "close") {
		w.close = true
	}
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.written += int64(len(p))
	switch {
	case w.failed:
		return 0, http.ErrAbortHandler
	case w.length >= 0 && w.written > w.length:
		return 0, http.ErrContentLength
	case w.headed:
		return len(p), w.send(p)
	case w.length < 0 && len(w.kept)+len(p) <= bufferMax:
		w.kept = append(w.kept, p...)
		return len(p), nil
	}
	return len(p), w.begun(p)
}

// begun sends the head and what there is of the body: the buffered part, and p. If the length is unknown the end of the
// connection marks the end.
func (w *response) begun(p []byte) error {
	w.headed = true
	if w.length < 0 {
		w.close = w.status != http.StatusNoContent && w.status != http.StatusNotModified
	}
	if len(w.kept) > 0 {
		p = append(w.kept, p...)
	}
	w.discard()
	out := outs.Get().(*[]byte) // the pool contains nothing else
	defer outs.Put(out)
	*out = w.appendHead((*out)[:0])
	if len(p) > joinMax {
		if err := w.send(*out); err != nil {
			return err
		}
		return w.send(p)
	}
	*out = append(*out, p...)
	return w.send(*out)
}

// discard reads the rest of the request's body if it is short, so that the next request can follow.
func (w *response) discard() {
	c := w.conn
	if w.close || w.duplex || c.body.remaining == 0 {
		return
	}
	if c.body.remaining > discardMax {
		w.close = true
		return
	}
	rest := outs.Get().(*[]byte) // the pool contains nothing else
	defer outs.Put(rest)
	for c.body.remaining > 0 {
		if _, err := c.body.Read((*rest)[:cap(*rest)]); err != nil {
			w.close = c.body.remaining > 0
			return
		}
	}
}

// send writes to the connection.
func (w *response) send(p []byte) error {
	_, err := w.conn.net.Write(p)
	if err != nil {
		w.failed = true
		w.conn.cancel()
	}
	return err
}

// finish sends what has not been sent yet.
func (w *response) finish() {
	w.WriteHeader(http.StatusOK)
	if !w.headed && !w.failed {
		if w.length < 0 && w.status != http.StatusNoContent && w.status != http.StatusNotModified {
			w.length = int64(len(w.kept))
			w.header["Content-Length"] = []string{strconv.Itoa(len(w.kept))}
		}
		if w.begun(nil) != nil {
			return
		}
	}
	switch {
	case w.length >= 0 && w.written != w.length:
		w.failed = true
	case w.conn.body.remaining > 0:
		w.close = true
	}
}

func (w *response) appendHead(out []byte) []byte {
	out = append(out, "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(w.status), 10)
	out = append(out, ' ')
	out = append(out, http.StatusText(w.status)...)
	out = append(out, "\r\nDate: "...)
	out = append(out, date()...)
	out = append(out, "\r\n"...)
	for name, values := range w.header {
		for _, value := range values {
			out = append(out, name...)
			out = append(out, ": "...)
			if strings.ContainsAny(value, "\r\n") {
				value = oneLine.Replace(value)
			}
			out = append(out, value...)
			out = append(out, "\r\n"...)
		}
	}
	if w.close && w.header["Connection"] == nil {
		out = append(out, "Connection: close\r\n"...)
	}
	return append(out, "\r\n"...)
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// Flush implements http.Flusher.
func (w *response) Flush() {
	w.WriteHeader(http.StatusOK)
	if !w.headed && !w.failed {
		_ = w.begun(nil) // the error is in w.failed
	}
}

// SetReadDeadline is for http.ResponseController.
func (w *response) SetReadDeadline(until time.Time) error {
	w.conn.reads = until
	return w.conn.net.SetReadDeadline(until)
}

// SetWriteDeadline is for http.ResponseController.
func (w *response) SetWriteDeadline(until time.Time) error {
	w.conn.ends = until
	return w.conn.net.SetWriteDeadline(until)
}

// EnableFullDuplex is for http.ResponseController.
func (w *response) EnableFullDuplex() error {
	w.duplex = true
	return nil
}

// dated is a second in the form of the Date header.
type dated struct {
	second int64
	text   string
}

var lastDate atomic.Pointer[dated]

func date() string {
	now := time.Now()
	if d := lastDate.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &dated{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastDate.Store(d)
	return d.text
}
