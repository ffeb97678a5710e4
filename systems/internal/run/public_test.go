package run

import (
	"net"
	"testing"
)

func TestPublicAddress(t *testing.T) {
	listening := &net.TCPAddr{IP: net.IPv4zero, Port: 8080}
	network := func(texts ...string) func() ([]net.Addr, error) {
		return func() ([]net.Addr, error) {
			var list []net.Addr
			for _, text := range texts {
				list = append(list, &net.IPNet{IP: net.ParseIP(text), Mask: net.CIDRMask(24, 32)})
			}
			return list, nil
		}
	}
	for _, c := range []struct {
		given      string
		interfaces func() ([]net.Addr, error)
		want       string
		refused    bool
	}{
		{"", network("192.168.1.5"), "", false},
		{"https://trinity.example", network(), "https://trinity.example", false},
		{LAN, network("127.0.0.1", "fe80::1", "203.0.113.7", "192.168.1.5"), "http://192.168.1.5:8080", false},
		{LAN, network("127.0.0.1", "203.0.113.7"), "", true},
		{"trinity.example", network(), "", true},
		{"ftp://trinity.example", network(), "", true},
		{"http://trinity.example/", network(), "", true},
		{"http://u:p@trinity.example", network(), "", true},
	} {
		got, err := PublicAddress(c.given, listening, c.interfaces)
		if got != c.want || err != nil != c.refused {
			t.Errorf("%q: %q, %v; want %q, an error %v", c.given, got, err, c.want, c.refused)
		}
	}
}
