//go:build unix

package main

import (
	"io"
	"net"
	"testing"
)

// TestProxyCounts tests that requests sent together are one round trip with their response, and that requests that wait for
// one are one each.
func TestProxyCounts(t *testing.T) {
	store, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	go func() { // responds to each four bytes with two
		c, err := store.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for request := make([]byte, 4); ; {
			if _, err := io.ReadFull(c, request); err != nil {
				return
			}
			_, _ = c.Write(request[:2])
		}
	}()
	p, err := startProxy(t.Context(), "tcp", store.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", loopback(p.port()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, requests := range []string{"aaaa", "aaaa", "aaaabbbb"} {
		if _, err := client.Write([]byte(requests)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, len(requests)/2)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := p.traffic(), (traffic{trips: 3, up: 16, down: 8}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
