// Package httpguard protects an HTTP server without authentication from web pages.
//
// A browser sends requests to any address that its machine can reach, including loopback, on behalf of any page. Two headers
// identify such requests, and a page cannot forge them:
//
//   - Host names the server as the page's URL does. A page of evil.example whose name is rebound to 127.0.0.1 after it was
//     loaded reaches a server on loopback as its own origin, but its requests say Host: evil.example. So a server that
//     checks no credentials responds only to hosts that no stranger can register in the public DNS: IP addresses,
//     localhost and *.localhost, names of one label, *.internal, and the names that its operator allowed.
//   - Origin names the page that sends the request, unless the request is a plain navigation or a GET without CORS. An
//     origin is accepted if it is the server's own or if the operator allowed it.
//
// A Guard defines the allowed hosts and origins. Its zero value allows no additional host and no other origin. A Guard is
// immutable and safe for concurrent use.
package httpguard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Guard decides which hosts and origins a server accepts.
type Guard struct {
	hosts     map[string]bool
	suffixes  []string // with their leading dot
	origins   map[string]bool
	anyOrigin bool
}

// New returns a guard that accepts additional hosts and the pages of other origins. A host is a name, or *.suffix for
// every name below a suffix. An origin is a scheme, a host and a port unless it is the scheme's default
// (https://app.example.com), or * for all.
func New(allowedHosts, origins []string) (*Guard, error) {
	g := &Guard{hosts: map[string]bool{}, origins: map[string]bool{}}
	var faults []error
	for _, host := range allowedHosts {
		name := normal(strings.TrimPrefix(host, "*."))
		switch {
		case !isName(name):
			faults = append(faults, fmt.Errorf("allowed host %q: want a name such as db.example.com or *.example.com, without scheme and port", host))
		case strings.HasPrefix(host, "*."):
			g.suffixes = append(g.suffixes, "."+name)
		default:
			g.hosts[name] = true
		}
	}
	for _, origin := range origins {
		switch {
		case origin == "*":
			g.anyOrigin = true
		case strings.Contains(origin, "*"):
			faults = append(faults, fmt.Errorf("CORS origin %q: wildcards within an origin are not supported: want an origin such as https://app.example.com, one for each page, or * alone", origin))
		case !isOrigin(origin):
			faults = append(faults, fmt.Errorf("CORS origin %q: want an origin such as https://app.example.com or http://localhost:3000, in lower case and without a path, or *", origin))
		default:
			g.origins[origin] = true
		}
	}
	return g, errors.Join(faults...)
}

// isOrigin reports whether a browser could send the text as an origin.
func isOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == origin && origin == strings.ToLower(origin)
}

// AllowsHost reports whether a request may address the server by this name. The authority is that of a Host header, of HTTP/2's
// :authority, or of a request target in absolute form; net/http puts each of them in Request.Host. The port does not
// matter. An empty authority is allowed: no browser sends one, some load balancers do.
func (g *Guard) AllowsHost(authority string) bool {
	if authority == "" {
		return true
	}
	name := Hostname(authority)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if !isName(name) {
		return false
	}
	if !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".internal") || g.hosts[name] {
		return true
	}
	for _, suffix := range g.suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// AllowsOrigin reports whether the request's origin may send it. A request without one does not come from a page of another
// origin, or is one that every page may send: a navigation, an image.
func (g *Guard) AllowsOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return origin == "" || g.CORSOrigin(r) != "" || isOwn(origin, r.Host)
}

// CORSOrigin returns the value of Access-Control-Allow-Origin for a request: "" if its origin was not allowed by the
// operator. The response to an origin that is not * must also carry Vary: Origin.
func (g *Guard) CORSOrigin(r *http.Request) string {
	origin := r.Header.Get("Origin")
	switch {
	case origin == "":
		return ""
	case g.anyOrigin:
		return "*"
	case g.origins[origin]:
		return origin
	default:
		return ""
	}
}

// isOwn reports whether an origin is that of the server itself. The scheme is left out: a proxy in front may end TLS.
func isOwn(origin, authority string) bool {
	_, host, found := strings.Cut(origin, "://")
	return found && authority != "" && strings.EqualFold(host, authority)
}

// Hostname returns the host of an authority as the guard compares it: in lower case, without port, brackets and the dot of
// a fully qualified name.
func Hostname(authority string) string {
	host := authority
	if h, _, err := net.SplitHostPort(authority); err == nil {
		host = h
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	return normal(host)
}

func normal(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// isName reports whether a text consists of labels of the characters that host names have. The underscore is in names of
// compose services.
func isName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}
