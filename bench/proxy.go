package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// traffic is what has passed between servers and a store.
type traffic struct {
	trips    float64 // times that the store was asked and answered
	up, down float64 // bytes to the store and from it
}

func (t traffic) minus(o traffic) traffic {
	return traffic{t.trips - o.trips, t.up - o.up, t.down - o.down}
}

func (t traffic) times(f float64) traffic { return traffic{t.trips * f, t.up * f, t.down * f} }

// proxy is an address that stands for a store's, and counts what passes. A round trip is bytes to the store on a connection, however many
// requests they are, and the bytes that come back.
type proxy struct {
	listener        net.Listener
	network, target string
	trips, up, down atomic.Int64

	mu          sync.Mutex
	connections []net.Conn
}

func startProxy(ctx context.Context, network, target string) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback(0))
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, network: network, target: target}
	go p.accept(ctx)
	return p, nil
}

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

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
		store, err := (&net.Dialer{}).DialContext(ctx, p.network, p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.connections = append(p.connections, client, store)
		p.mu.Unlock()
		var asked atomic.Bool
		go pass(store, client, func(n int) {
			p.up.Add(int64(n))
			asked.Store(true)
		})
		go pass(client, store, func(n int) {
			p.down.Add(int64(n))
			if asked.Swap(false) {
				p.trips.Add(1)
			}
		})
	}
}

// pass copies until one side ends, and counts before it passes on.
func pass(to, from net.Conn, count func(int)) {
	_, _ = io.Copy(to, countingReader{from, count})
	_ = to.Close()
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
