package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// The states of a connection. Whoever switches it to or from idle may close it.
const (
	stateActive int32 = iota
	stateIdle
	stateClosed
)

const (
	// refresh is the tolerated deviation of a deadline: setting one costs more than comparing two.
	refresh = 5 * time.Second
	// watchAfter is how long a handler runs before the connection checks whether the client is still there.
	watchAfter = 50 * time.Millisecond
	// discardMax is how much of a body that the handler did not read is read to keep the connection.
	discardMax = 256 << 10
	// lingerTime is how long a connection that is closed with unread data waits for the client to read the response.
	lingerTime = 500 * time.Millisecond
)

// conn is a connection and its current request.
type conn struct {
	server *Server
	net    net.Conn
	ctx    context.Context //nolint:containedctx // that of all requests of the connection
	cancel context.CancelFunc
	like   *http.Request // what all its requests have in common
	now    http.Request  // the current one, and
	url    url.URL       // its URL
	state  atomic.Int32

	head        head
	buffer      []byte // read but not yet consumed
	store       []byte // the memory of buffer
	reads, ends time.Time

	body     body
	response response
	watch    watch
}

func newConn(s *Server, c net.Conn) *conn {
	ctx := context.WithValue(context.Background(), http.ServerContextKey, s.inner)
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, c.LocalAddr())
	if s.inner.ConnContext != nil {
		ctx = s.inner.ConnContext(ctx, c)
	}
	own := &conn{server: s, net: c, store: make([]byte, headMax)}
	own.ctx, own.cancel = context.WithCancel(ctx)
	own.like = (&http.Request{
		Method: http.MethodPost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RequestURI: "/", RemoteAddr: c.RemoteAddr().String(),
	}).WithContext(own.ctx)
	own.response.header = http.Header{}
	own.body.conn, own.response.conn, own.watch.conn = own, own, own
	return own
}

// serve serves requests until one is unusual, the client disconnects, or the server ends.
func (c *conn) serve() {
	defer c.server.forget(c)
	defer c.cancel()
	for {
		switch is := c.await(); {
		case is == unusual:
			c.hand()
			return
		case is == incomplete || !c.request():
			c.close()
			return
		}
	}
}

// await reads until there is a complete head; incomplete means that there will be none.
func (c *conn) await() form {
	c.state.Store(stateIdle)
	if c.server.closing.Load() && len(c.buffer) == 0 {
		return incomplete
	}
	limit := c.server.inner.IdleTimeout
	begun := false
	for {
		if len(c.buffer) > 0 {
			if !c.state.CompareAndSwap(stateIdle, stateActive) && !begun {
				return incomplete // closed
			}
			length, is := c.head.parse(c.buffer)
			switch {
			case is == usual:
				c.buffer = c.buffer[length:]
				return usual
			case is == unusual || len(c.buffer) == len(c.store):
				return unusual
			}
			if !begun {
				begun, limit, c.reads = true, c.server.inner.ReadHeaderTimeout, time.Time{}
			}
		}
		if !c.fill(limit) {
			return incomplete
		}
	}
}

// fill reads more into the buffer. A partial head must be completed within limit of its first byte.
func (c *conn) fill(limit time.Duration) bool {
	c.buffer = c.store[:copy(c.store, c.buffer)]
	if limit > 0 {
		now := time.Now()
		if until := now.Add(limit); c.reads.IsZero() || (len(c.buffer) == 0 && until.Sub(c.reads) > refresh) {
			c.reads = until
			_ = c.net.SetReadDeadline(until) // if the connection is closed, the read fails
		}
	}
	n, err := c.net.Read(c.store[len(c.buffer):])
	c.buffer = c.store[:len(c.buffer)+n]
	return n > 0 || err == nil
}

// hand hands the connection over to net/http.
func (c *conn) hand() {
	_ = c.net.SetDeadline(time.Time{}) // if the connection is closed, the next read fails
	if c.state.Swap(stateClosed) != stateClosed && !c.server.handed.give(&begun{c.net, append([]byte{}, c.buffer...)}) {
		c.end()
	}
}

// request lets the handler serve the request whose head has been read, and reports whether another one may follow.
func (c *conn) request() (more bool) {
	r := &c.now
	*r = *c.like
	c.url = url.URL{Path: "/"}
	r.URL, r.Header, r.Host, r.ContentLength = &c.url, c.head.header, c.head.host, c.head.length
	r.Body = http.NoBody
	c.body.remaining = c.head.length
	if c.head.length > 0 {
		r.Body = &c.body
	}
	c.response.begin()
	if c.head.length == 0 {
		c.watch.begin()
	}
	if int64(len(c.buffer)) < c.head.length {
		c.reads = time.Now().Add(c.server.inner.ReadTimeout)
		_ = c.net.SetReadDeadline(c.reads) // if the connection is closed, the read fails
	}
	served := c.handle(r)
	if served {
		c.response.finish()
	}
	c.watch.end()
	if !served || c.response.failed {
		return false
	}
	if c.response.close || c.server.closing.Load() && len(c.buffer) == 0 {
		c.linger()
		return false
	}
	return true
}

// handle calls the handler. A panic ends the connection, as in net/http.
func (c *conn) handle(r *http.Request) (served bool) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		if err, is := reason.(error); !is || !errors.Is(err, http.ErrAbortHandler) {
			c.server.logf("http: panic serving %s: %v\n%s", r.RemoteAddr, reason, debug.Stack())
		}
	}()
	c.server.inner.Handler.ServeHTTP(&c.response, r)
	return true
}

// linger lets the client read the response before the connection is closed with unread bytes, which would reset it.
func (c *conn) linger() {
	if c.body.remaining == 0 {
		return
	}
	_ = closeWrite(c.net) // it is closed in any case
	if c.net.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.net, discardMax) // until the client has closed
	}
}

// close closes the connection.
func (c *conn) close() {
	if c.state.Swap(stateClosed) != stateClosed {
		c.end()
	}
}

// end is close for the one that has set stateClosed.
func (c *conn) end() {
	c.cancel()
	_ = c.net.Close() // an error would have no reader
	if hook := c.server.inner.ConnState; hook != nil {
		hook(c.net, http.StateClosed)
	}
}

// closeIdle closes the connection if it is idle.
func (c *conn) closeIdle() {
	if c.state.CompareAndSwap(stateIdle, stateActive) {
		c.close()
	}
}

// body is the body after a head.
type body struct {
	conn      *conn
	remaining int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (n int, err error) {
	if b.remaining == 0 {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(int64(len(p)), b.remaining)]
	if c := b.conn; len(c.buffer) > 0 {
		n = copy(p, c.buffer)
		c.buffer = c.buffer[n:]
	} else {
		n, err = c.net.Read(p)
	}
	b.remaining -= int64(n)
	switch {
	case b.remaining == 0:
		b.conn.watch.begin()
		return n, io.EOF
	case errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }

// watch cancels the context of a longer request when its client disconnects.
type watch struct {
	conn  *conn
	timer *time.Timer
	begun bool
	ended chan struct{}
}

// begin is called when the whole request has been read.
func (w *watch) begin() {
	if w.timer == nil {
		w.ended = make(chan struct{}, 1)
		w.timer = time.AfterFunc(watchAfter, w.look)
	} else {
		w.timer.Reset(watchAfter)
	}
	w.begun = true
}

// look waits for the client to disconnect or send more.
func (w *watch) look() {
	c := w.conn
	if len(c.buffer) == 0 {
		n, err := c.net.Read(c.store[:1])
		c.buffer = c.store[:n]
		if timeout, is := errors.AsType[net.Error](err); err != nil && (!is || !timeout.Timeout()) {
			c.cancel()
		}
	}
	w.ended <- struct{}{}
}

// end is called when the handler has returned.
func (w *watch) end() {
	if !w.begun {
		return
	}
	w.begun = false
	if w.timer.Stop() {
		return
	}
	c := w.conn
	_ = c.net.SetReadDeadline(time.Unix(1, 0)) // if the connection is closed, the read has ended
	<-w.ended
	c.reads = time.Time{}
	_ = c.net.SetReadDeadline(time.Time{}) // otherwise the next read fails
}
