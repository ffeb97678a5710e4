package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc/resolver"
)

// secure has all connections of the node use TLS. unistore makes plain ones, so they lead to relays in this process.
func secure(l net.Listener) (net.Listener, error) {
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(*ca)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate in " + *ca)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: authorities, ClientCAs: authorities, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	}
	resolver.Register(&relays{config})
	resolver.SetDefaultScheme(scheme)
	return tls.NewListener(l, config), nil
}

const scheme = "relay"

// relays resolves an address to that of a relay, which connects to the address with TLS.
type relays struct{ config *tls.Config }

func (*relays) Scheme() string { return scheme }

func (r *relays) Build(target resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go r.serve(l, target.Endpoint)
	cc.UpdateState(resolver.State{Addresses: []resolver.Address{{Addr: l.Addr().String()}}})
	return relay{l}, nil
}

func (r *relays) serve(l net.Listener, address string) {
	for {
		plain, err := l.Accept()
		if err != nil {
			return // it is closed
		}
		go r.relay(plain, address)
	}
}

func (r *relays) relay(plain net.Conn, address string) {
	defer plain.Close()
	encrypted, err := tls.Dial("tcp", address, r.config)
	if err != nil {
		log.Printf("relay to %s: %v", address, err)
		return
	}
	defer encrypted.Close()
	go func() {
		defer plain.Close()
		_, _ = io.Copy(plain, encrypted)
	}()
	_, _ = io.Copy(encrypted, plain)
}

// relay is a relay of one gRPC connection.
type relay struct{ net.Listener }

func (relay) ResolveNow(resolver.ResolveNowOptions) {}

func (r relay) Close() { _ = r.Listener.Close() }
