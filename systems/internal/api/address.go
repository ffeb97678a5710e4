package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// networkBits is the prefix length of an IPv6 subscriber's network. Subscribers choose the rest of an address freely.
const networkBits = 64

// Address returns the network address of the caller, for limits on anonymous callers: an IPv4 address, or the /64 network of an
// IPv6 address. It returns "" outside of requests.
func Address(ctx context.Context) string {
	if r := requestOf(ctx); r != nil {
		return r.address
	}
	return ""
}

// Networks parses a list of proxies: networks such as 10.0.0.0/8, or single addresses.
func Networks(texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			single, fault := netip.ParseAddr(text)
			if fault != nil {
				return nil, fmt.Errorf("%q is not a network such as 10.0.0.0/8 or an address", text)
			}
			network = netip.PrefixFrom(single.WithZone(""), single.BitLen())
		}
		networks = append(networks, unmapped(network.Masked()))
	}
	return networks, nil
}

// mappedBits is the prefix length of IPv4-mapped IPv6 addresses: ::ffff:192.0.2.1.
const mappedBits = 96

// unmapped normalises a network for comparison with callers' addresses: IPv4-mapped networks become IPv4.
func unmapped(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is4In6() || network.Bits() < mappedBits {
		return network
	}
	return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mappedBits)
}

// callerOf returns the caller's address: the peer of the connection or, if that is a trusted proxy, the address in
// X-Forwarded-For. Each proxy appends its peer, so the list is read from its end for as long as the entries are trusted proxies;
// anything before that can be forged.
func (a *API) callerOf(r *http.Request) string {
	caller, err := netip.ParseAddr(hostOf(r.RemoteAddr))
	if err != nil {
		return hostOf(r.RemoteAddr)
	}
	caller = caller.Unmap()
	named := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, name := range slices.Backward(named) {
		next, err := netip.ParseAddr(strings.TrimSpace(name))
		if err != nil || !a.proxied(caller) {
			break
		}
		caller = next.Unmap()
	}
	if caller.Is4() {
		return caller.String()
	}
	network, err := caller.WithZone("").Prefix(networkBits)
	if err != nil { // not an IPv6 address
		return caller.String()
	}
	return network.String()
}

// proxied reports whether an address belongs to a trusted proxy, on any link.
func (a *API) proxied(address netip.Addr) bool {
	address = address.WithZone("") // a zoned address is never contained in a network
	return slices.ContainsFunc(a.options.Proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
