// Package http1 serves the requests that SDKs send, POST / over HTTP/1.1, and has net/http serve everything else.
//
// # Model
//
// What net/http does for a request takes longer than what the database does for a get: it makes a map of new strings, a context, a goroutine that
// waits for the client to go away, and sets four timers. A connection here reads the head of a request, compares its lines with those of the request before,
// which are mostly the same, and calls the handler. It knows one form of request only:
//
//	POST / HTTP/1.1, a head of at most headMax bytes with one Host, at most one Content-Length, lines that end in CR LF,
//	and nothing that speaks of the connection but keep-alive
//
// At the first request of another form, good or bad, the connection goes to net/http, with the bytes that were read, and stays there: what is
// refused, and how, is decided in one place. So do connections over TLS.
//
// # Invariants
//
//  1. A handler cannot tell the two ways apart, but for this: it must not keep the request's header, nor the response's, when it has returned.
//  2. A request that net/http would refuse is never served here.
//  3. Each response is framed by its length, or by the end of its connection.
//
// Every connection has a goroutine. All methods of Server may be called at once.
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
	serving sync.WaitGroup // a connection each
}

// New returns a server that calls the handler of inner, within its limits of time.
func New(inner *http.Server) *Server {
	return &Server{inner: inner, handed: &handed{conns: make(chan net.Conn), done: make(chan struct{})}, conns: map[*conn]bool{}}
}

// HTTP is the server of all other requests, to set its TLSConfig and hooks before Serve.
func (s *Server) HTTP() *http.Server { return s.inner }

// The waits after errors of Accept that may pass, as net/http has them.
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
		s.handed.give(c)
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

// Shutdown ends Serve, closes connections that are idle, and waits for the requests under way, as http.Server.Shutdown does.
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

// handed is the listener of what net/http is to serve.
type handed struct {
	addr  net.Addr
	below net.Listener
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (h *handed) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.done:
		_ = c.Close() // nobody is left to hear of it
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

// Close closes the listener that the connections come from, too.
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

// begun is a connection some bytes of which have been read.
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

// NetConn is the connection itself.
func (b *begun) NetConn() net.Conn { return b.Conn }

// CloseWrite lets the client read to the end of a response that nothing follows.
func (b *begun) CloseWrite() error { return closeWrite(b.Conn) }

func closeWrite(c net.Conn) error {
	if half, can := c.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
