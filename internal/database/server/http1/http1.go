// Package http1 serves the requests that SDKs send, POST / over HTTP/1.1, and leaves everything else to net/http.
//
// # Model
//
// net/http spends more time on a request than the database on a get: it builds a map of new strings, a context, a goroutine that
// waits for the client to disconnect, and sets four timers. A connection here reads the head of a request, compares its lines
// with those of the previous request, which are mostly the same, and calls the handler. It supports only one form of request:
//
//	POST / HTTP/1.1, a head of at most headMax bytes with one Host, at most one Content-Length, lines that end in CR LF,
//	and nothing about the connection except keep-alive
//
// At the first request of another form, valid or not, the connection is handed over to net/http, with the bytes already read, and
// stays there, so that only one place decides what is rejected and how. Connections over TLS go to net/http, too.
//
// # Invariants
//
//  1. A handler cannot distinguish the two ways, with one exception: it must not keep the request, its URL, or the headers of the
//     request or the response after it has returned, because the connection's next request uses their memory. It may keep the context
//     and all strings.
//  2. A request that net/http would reject is never served here.
//  3. Each response is framed by its length, or by the end of its connection.
//
// Every connection has a goroutine. All methods of Server are safe for concurrent use.
package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves the connections of a listener.
type Server struct {
	inner  *http.Server
	handed *handed

	mu      sync.Mutex
	conns   map[*conn]bool
	closing atomic.Bool
	serving sync.WaitGroup // one for each connection
}

// New returns a server that calls the handler of inner, with its timeouts.
func New(inner *http.Server) *Server {
	return &Server{inner: inner, handed: &handed{conns: make(chan net.Conn), done: make(chan struct{})}, conns: map[*conn]bool{}}
}

// HTTP returns the server of all other requests, to set its TLSConfig and hooks before Serve.
func (s *Server) HTTP() *http.Server { return s.inner }

// The waits after temporary errors of Accept, like net/http's.
const (
	acceptWaitMin = 5 * time.Millisecond
	acceptWaitMax = time.Second
)

// Serve serves the connections of l until Shutdown or Close, and then returns http.ErrServerClosed.
func (s *Server) Serve(l net.Listener) error {
	s.handed.addr = l.Addr()
	s.mu.Lock()
	s.handed.below = l
	s.mu.Unlock()
	if hook := s.inner.ConnState; hook != nil { // a connection that is handed over was new before
		s.inner.ConnState = func(c net.Conn, state http.ConnState) {
			if again, handed := c.(*begun); !handed {
				hook(c, state)
			} else if state != http.StateNew {
				hook(again.Conn, state)
			}
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- s.inner.Serve(s.handed) }()
	var wait time.Duration
	for {
		c, err := l.Accept()
		switch temporary, is := errors.AsType[interface {
			error
			Temporary() bool
		}](err); {
		case err == nil:
			wait = 0
			s.accepted(c)
		case s.closing.Load():
			<-ended
			return http.ErrServerClosed
		case is && temporary.Temporary():
			wait = min(max(2*wait, acceptWaitMin), acceptWaitMax)
			s.logf("http: Accept error: %v; retrying in %v", err, wait)
			select {
			case <-time.After(wait):
			case <-s.handed.done:
			}
		default:
			return errors.Join(err, s.Close())
		}
	}
}

func (s *Server) accepted(c net.Conn) {
	if _, secure := c.(*tls.Conn); secure {
		if !s.handed.give(c) {
			_ = c.Close() // an error would have no reader
		}
		return
	}
	if s.inner.ConnState != nil {
		s.inner.ConnState(c, http.StateNew)
	}
	own := newConn(s, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		own.close()
		return
	}
	s.conns[own] = true
	s.serving.Go(own.serve)
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) logf(format string, args ...any) {
	if s.inner.ErrorLog != nil {
		s.inner.ErrorLog.Printf(format, args...)
	}
}

// Shutdown ends Serve, closes idle connections, and waits for requests in progress, like http.Server.Shutdown.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.stop(func(c *conn) { c.closeIdle() })
	done := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(done)
	}()
	err = errors.Join(err, s.inner.Shutdown(ctx))
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes all connections.
func (s *Server) Close() error {
	return errors.Join(s.stop(func(c *conn) { c.close() }), s.inner.Close())
}

// stop ends Serve.
func (s *Server) stop(each func(*conn)) error {
	s.closing.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		each(c)
	}
	return s.handed.Close()
}

// handed is the listener of connections handed over to net/http.
type handed struct {
	addr  net.Addr
	below net.Listener
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// give reports whether net/http gets the connection.
func (h *handed) give(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.done:
		return false
	}
}

// Accept implements net.Listener.
func (h *handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close also closes the original listener.
func (h *handed) Close() (err error) {
	h.once.Do(func() {
		close(h.done)
		if h.below != nil {
			err = h.below.Close()
		}
	})
	return err
}

// Addr implements net.Listener.
func (h *handed) Addr() net.Addr { return h.addr }

// begun is a connection from which some bytes have already been read.
type begun struct {
	net.Conn
	read []byte
}

// Read implements net.Conn.
func (b *begun) Read(p []byte) (int, error) {
	if len(b.read) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.read)
	b.read = b.read[n:]
	return n, nil
}

// NetConn returns the underlying connection.
func (b *begun) NetConn() net.Conn { return b.Conn }

// CloseWrite lets the client read the whole of the last response.
func (b *begun) CloseWrite() error { return closeWrite(b.Conn) }

func closeWrite(c net.Conn) error {
	if half, can := c.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
