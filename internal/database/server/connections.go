package server

import (
	"context"
	"errors"
	"net"
	"sync"
)

// SurplusMax is how many connections above the limit are accepted only to throttle their requests.
const SurplusMax = 64

// LimitConnections returns a listener for HTTPServer that allows a number of open connections, plus SurplusMax whose requests are
// throttled and which are closed after the response, so that a client learns that it should retry later. Beyond that, connections
// are only accepted after one of these has closed, which takes at most readHeaderTimeout for a client that sends nothing; until
// then new connections wait in the system's queue.
func LimitConnections(l net.Listener, connections int) net.Listener {
	return &limitedListener{Listener: l, limit: connections, places: make(chan struct{}, connections+SurplusMax), done: make(chan struct{})}
}

type limitedListener struct {
	net.Listener
	limit  int
	places chan struct{} // one element for each connection
	done   chan struct{} // closed by Close
	close  sync.Once
}

// Accept waits for a free place and for a connection.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &limitedConn{Conn: conn, listener: l, surplus: len(l.places) > l.limit}, nil
}

// Close also ends an Accept that is waiting.
func (l *limitedListener) Close() error {
	l.close.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	listener *limitedListener
	surplus  bool
	close    sync.Once
}

// Close frees the place.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.close.Do(func() { <-c.listener.places })
	return err
}

// CloseWrite lets a client read the whole response before the connection is closed; net/http calls it.
func (c *limitedConn) CloseWrite() error {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

type surplusKey struct{}

// markSurplus marks the requests of a surplus connection. It is an http.Server's ConnContext.
func markSurplus(ctx context.Context, conn net.Conn) context.Context {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS, or handed over by package http1
		conn = wrapped.NetConn()
	}
	if c, ok := conn.(*limitedConn); ok && c.surplus {
		return context.WithValue(ctx, surplusKey{}, true)
	}
	return ctx
}

func isSurplus(ctx context.Context) bool { return ctx.Value(surplusKey{}) != nil }
