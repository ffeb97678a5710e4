package server

import (
	"context"
	"net"
	"net/http"
)

// heldMax is what net/http's own buffer of a connection holds: it hands over a large answer as that many
// bytes of head and body, then the rest of the body.
const heldMax = 4 << 10

// gatherMin is the size from which on an answer is gathered; a smaller one fits into net/http's buffer.
const gatherMin = heldMax / 2

// Listener wraps the listener that the http.Server of HTTPServer serves, so that an answer larger than
// net/http's buffer costs one system call in place of two: a quarter of what a query of 10 KB costs outside
// of the engine.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && err == nil {
		return &conn{TCPConn: tcp}, nil
	}
	return c, err
}

// conn is a connection whose writer can ask for its next writes to be gathered into one. Only the goroutine
// that writes an answer may do so; HTTP/1 has one at a time.
type conn struct {
	*net.TCPConn
	gathering bool
	held      []byte
}

type connKey struct{}

// rememberConn makes the connection known to the handler of its requests.
func rememberConn(ctx context.Context, c net.Conn) context.Context {
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// connOf returns the connection that alone carries the request's answer; nil where there is none.
func connOf(r *http.Request) *conn {
	if r.ProtoMajor != 1 {
		return nil
	}
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// Write writes p, behind what is held. A gathering connection holds the first bytes back.
func (c *conn) Write(p []byte) (int, error) {
	if c.gathering && len(c.held) == 0 && len(p) <= heldMax {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	if len(c.held) == 0 {
		return c.TCPConn.Write(p)
	}
	both := net.Buffers{c.held, p}
	n, err := both.WriteTo(c.TCPConn)
	n -= int64(len(c.held))
	c.held = c.held[:0]
	return int(max(n, 0)), err
}

// gather makes the connection hold back the first bytes that are written to it, until more come or flush is
// called.
func (c *conn) gather() {
	if c != nil {
		c.gathering = true
	}
}

// flush ends gather.
func (c *conn) flush() error {
	if c == nil {
		return nil
	}
	c.gathering = false
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.TCPConn.Write(c.held)
	c.held = c.held[:0]
	return err
}
