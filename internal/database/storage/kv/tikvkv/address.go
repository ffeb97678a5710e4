//go:build tikv

package tikvkv

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Address is the address of a store:
// tikv://PD[:PORT][,PD…][?prefix=NAME][&gc=off][&ca=FILE&cert=FILE&key=FILE].
type Address struct {
	drivers []string     // placement drivers, host and port
	name    string       // distinguishes stores in one cluster
	gc      bool         // the store removes old versions
	tls     certificates // the zero value for connections without TLS
}

const defaultPort = ":2379"

var validName = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// ParseAddress parses an address. The default prefix is "monotable".
func ParseAddress(address string) (Address, error) {
	rest, is := strings.CutPrefix(address, "tikv://")
	if !is {
		return Address{}, errors.New("want an address that starts with tikv://")
	}
	hosts, query, _ := strings.Cut(rest, "?")
	at := Address{name: "monotable", gc: true}
	for host := range strings.SplitSeq(strings.TrimSuffix(hosts, "/"), ",") {
		if host == "" || strings.ContainsAny(host, "/@ ") {
			return Address{}, fmt.Errorf("%q is not a host: want tikv://PD1:2379,PD2:2379, the placement drivers of a TiKV cluster", host)
		}
		if !strings.Contains(host, ":") {
			host += defaultPort
		}
		at.drivers = append(at.drivers, host)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Address{}, err
	}
	for option, value := range values {
		switch {
		case option == "prefix" && validName.MatchString(value[0]):
			at.name = value[0]
		case option == "gc" && (value[0] == "on" || value[0] == "off"):
			at.gc = value[0] == "on"
		case option == "ca":
			at.tls.ca = value[0]
		case option == "cert":
			at.tls.cert = value[0]
		case option == "key":
			at.tls.key = value[0]
		default:
			return Address{}, fmt.Errorf("unknown option %s=%s: want prefix=NAME, with a-z, 0-9, _ and -, gc=off, or ca=FILE, cert=FILE and key=FILE", option, value[0])
		}
	}
	return at, at.tls.complete()
}

// prefix starts all keys of the store. TiDB's keys start with 'm' and 't'.
func (a Address) prefix() []byte { return []byte("monotable/" + a.name + "/") }
