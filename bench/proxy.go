//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// traffic is what was exchanged between servers and a store.
type traffic struct {
	trips    float64 // round trips to the store
	up, down float64 // bytes to the store and from it
}

func (t traffic) minus(o traffic) traffic {
	return traffic{t.trips - o.trips, t.up - o.up, t.down - o.down}
}

func (t traffic) times(f float64) traffic { return traffic{t.trips * f, t.up * f, t.down * f} }

// proxy counts the traffic between servers and a store. A round trip is bytes to the store on a connection, however many
// requests they are, and the bytes that come back. It replaces the store's address, or is an HTTP proxy that connects to hosts
// by name.
type proxy struct {
	listener        net.Listener
	network, target string
	hosts           map[string]string // of an HTTP proxy
	trips, up, down atomic.Int64

	mu          sync.Mutex
	connections []net.Conn
}

func startProxy(ctx context.Context, network, target string) (*proxy, error) {
	return serveProxy(ctx, &proxy{network: network, target: target})
}

// startHTTPProxy starts a proxy for programs that honor HTTPS_PROXY.
func startHTTPProxy(ctx context.Context, hosts map[string]string) (*proxy, error) {
	return serveProxy(ctx, &proxy{hosts: hosts})
}

func serveProxy(ctx context.Context, p *proxy) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback(0))
	if err != nil {
		return nil, err
	}
	p.listener = listener
	go p.accept(ctx)
	return p, nil
}

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) traffic() traffic {
	return traffic{float64(p.trips.Load()), float64(p.up.Load()), float64(p.down.Load())}
}

func (p *proxy) close() error {
	err := p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.connections {
		err = errors.Join(err, c.Close())
	}
	return err
}

func (p *proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.connect(ctx, client)
	}
}

// connect forwards a connection until one side ends.
func (p *proxy) connect(ctx context.Context, client net.Conn) {
	network, target := p.network, p.target
	from := io.Reader(client)
	if p.hosts != nil {
		buffered := bufio.NewReader(client)
		request, err := http.ReadRequest(buffered)
		if err != nil || p.hosts[request.Host] == "" {
			_ = client.Close()
			return
		}
		network, target, from = "tcp", p.hosts[request.Host], buffered
	}
	store, err := (&net.Dialer{}).DialContext(ctx, network, target)
	if err == nil && p.hosts != nil {
		_, err = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	}
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.connections = append(p.connections, client, store)
	p.mu.Unlock()
	var asked atomic.Bool
	go pass(store, from, client, func(n int) {
		p.up.Add(int64(n))
		asked.Store(true)
	})
	pass(client, store, store, func(n int) {
		p.down.Add(int64(n))
		if asked.Swap(false) {
			p.trips.Add(1)
		}
	})
}

// pass copies data from a connection until one side ends, and counts it before forwarding.
func pass(to net.Conn, from io.Reader, source net.Conn, count func(int)) {
	_, _ = io.Copy(to, countingReader{from, count})
	_ = to.Close()
	_ = source.Close()
}

type countingReader struct {
	io.Reader
	count func(int)
}

func (r countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.count(n)
	}
	return n, err
}
