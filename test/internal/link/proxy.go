package link

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Proxy is an HTTP proxy by which one process connects to others, each through its own Link: for programs that learn addresses
// from each other and honor HTTPS_PROXY, like gRPC clients. All methods are safe for concurrent use.
type Proxy struct {
	url   string
	links map[string]*Link
}

// NewProxy starts a proxy for the duration of the test. It connects only to the given hosts, whose addresses it knows.
func NewProxy(tb testing.TB, hosts map[string]string) *Proxy {
	tb.Helper()
	p := &Proxy{links: map[string]*Link{}}
	for name, address := range hosts {
		p.links[name] = New(tb, "tcp", address)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p.url = "http://" + listener.Addr().String()
	server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	tb.Cleanup(func() { // hijacked connections end with their links
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			tb.Error(err)
		}
	})
	return p
}

// URL is the value for HTTPS_PROXY.
func (p *Proxy) URL() string { return p.url }

// Link is the link to a host.
func (p *Proxy) Link(host string) *Link { return p.links[host] }

// Links are the links to all hosts.
func (p *Proxy) Links() (list []*Link) {
	for _, l := range p.links {
		list = append(list, l)
	}
	return list
}

// ServeHTTP connects a client to the requested host.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l := p.links[r.Host]
	if r.Method != http.MethodConnect || l == nil {
		http.Error(w, "no such host: "+r.Host, http.StatusBadGateway)
		return
	}
	to, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", l.Address())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		drop(to)
		return
	}
	if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		drop(from)
		drop(to)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { relay(to, buffered, from) })
	both.Go(func() { relay(from, to, to) })
	both.Wait()
}

// relay copies until the source ends, and ends the target in the same way, with a reset if there was one.
func relay(to net.Conn, from io.Reader, source net.Conn) {
	_, err := io.Copy(to, from)
	if err != nil {
		drop(to)
		drop(source)
		return
	}
	if tcp, is := to.(*net.TCPConn); is {
		_ = tcp.CloseWrite()
	}
}
