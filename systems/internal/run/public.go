package run

import (
	"errors"
	"fmt"
	"net"
	"net/url"
)

// LAN as a public address means this machine's address in its network.
const LAN = "lan"

var errNoLAN = errors.New("--public-url lan: this machine has no address in a private network; pass an address")

// PublicAddress returns the address at which others reach a process: the given one, "" if none is given, or, for LAN, one derived
// from the listening address.
func PublicAddress(given string, listening net.Addr, interfaces func() ([]net.Addr, error)) (string, error) {
	if given != LAN {
		u, err := url.Parse(given)
		if given != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil) {
			return "", fmt.Errorf("--public-url %s: want an address such as http://192.168.1.5:8080, without a path, or %s", given, LAN)
		}
		return given, nil
	}
	_, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return "", err
	}
	addresses, err := interfaces()
	if err != nil {
		return "", err
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsPrivate() {
			return "http://" + net.JoinHostPort(network.IP.String(), port), nil
		}
	}
	return "", errNoLAN
}
