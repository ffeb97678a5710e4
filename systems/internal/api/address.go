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

// networkBits are what one subscriber has of IPv6: the rest of an address he chooses himself, as often as he likes.
const networkBits = 64

// Address is where the caller of the request calls from that a context belongs to, for bounds on who has not signed in: an
// address of IPv4, or the network of 64 bits of one of IPv6. It is "" outside of requests.
func Address(ctx context.Context) string {
	if r := requestOf(ctx); r != nil {
		return r.address
	}
	return ""
}

// Networks reads what an operator says of the proxies in front: 10.0.0.0/8, or an address by itself.
func Networks(texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			single, fault := netip.ParseAddr(text)
			if fault != nil {
				return nil, fmt.Errorf("%q is neither a network such as 10.0.0.0/8 nor an address", text)
			}
			network = netip.PrefixFrom(single.WithZone(""), single.BitLen())
		}
		networks = append(networks, unmapped(network.Masked()))
	}
	return networks, nil
}

// mappedBits begin an address of IPv6 that is one of IPv4: ::ffff:192.0.2.1.
const mappedBits = 96

// unmapped is a network as callers' addresses are compared: those of IPv4 in their own form.
func unmapped(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is4In6() || network.Bits() < mappedBits {
		return network
	}
	return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mappedBits)
}

// callerOf is who calls: who has opened the connection, or, where that is a trusted proxy, whom the proxies name in
// X-Forwarded-For. Each of them appends who has called it, so the list is believed from its end on, as long as the names
// are those of proxies; what stands before is what anybody may say.
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
	if err != nil { // of no address of IPv6
		return caller.String()
	}
	return network.String()
}

// proxied tells whether an address is a trusted proxy's, on whichever link.
func (a *API) proxied(address netip.Addr) bool {
	address = address.WithZone("") // a network contains none with a zone
	return slices.ContainsFunc(a.options.Proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
