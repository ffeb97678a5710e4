package http1

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

const (
	// headMax is the maximum length of a head, including its request line. Those of SDKs have one to two kilobytes.
	headMax = 4 << 10
	// linesMax is its maximum number of lines.
	linesMax = 64
)

// form classifies the bytes received so far.
type form uint8

const (
	incomplete form = iota // may become a head
	usual                  // a complete head in the supported form
	unusual                // anything else
)

var requestLine = []byte("POST / HTTP/1.1\r\n")

// head is the parsed head of a request. The lines of the previous request are kept: equal ones need not be parsed again.
type head struct {
	lines  []line
	header http.Header
	host   string
	length int64
}

// line is an accepted header line.
type line struct {
	text  string // as sent, without its line end
	name  string // in its canonical form
	value [1]string
}

// parse parses a head at the beginning of data and returns its length. The result is valid until the next call.
func (h *head) parse(data []byte) (length int, is form) {
	if len(data) < len(requestLine) {
		if bytes.HasPrefix(requestLine, data) {
			return 0, incomplete
		}
		return 0, unusual
	}
	if !bytes.HasPrefix(data, requestLine) {
		return 0, unusual
	}
	at := len(requestLine)
	for n := 0; ; n++ {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return 0, incomplete
		}
		if end == 0 || data[at+end-1] != '\r' || n > linesMax {
			return 0, unusual
		}
		text := data[at : at+end-1]
		at += end + 1
		if len(text) == 0 {
			return at, h.note(n)
		}
		if !h.line(n, text) {
			return 0, unusual
		}
	}
}

// line accepts the nth line.
func (h *head) line(n int, text []byte) (accepted bool) {
	if n == len(h.lines) {
		h.lines = append(h.lines, line{})
	}
	l := &h.lines[n]
	if l.text == string(text) {
		return true
	}
	sent := string(text)
	name, value, found := strings.Cut(sent, ":")
	if !found || !httpguts.ValidHeaderFieldName(name) {
		return false
	}
	if value = strings.Trim(value, " \t"); !httpguts.ValidHeaderFieldValue(value) {
		return false
	}
	if before := len(name); len(l.text) <= before || l.text[:before] != name || l.text[before] != ':' {
		l.name = textproto.CanonicalMIMEHeaderKey(name)
	}
	l.text, l.value[0] = sent, value
	return true
}

// note builds the header from the first n lines.
func (h *head) note(n int) form {
	clear(h.lines[n:]) // so at most one head is kept
	h.lines = h.lines[:n]
	if h.header == nil {
		h.header = make(http.Header, n)
	}
	clear(h.header)
	h.host, h.length = "", 0
	hosts, lengths := 0, 0
	for i := range h.lines {
		l := &h.lines[i]
		value := l.value[0]
		switch l.name {
		case "Host":
			h.host = value
			hosts++
			continue // net/http only has it in the request
		case "Content-Length":
			length, err := strconv.ParseUint(value, 10, 63)
			if err != nil {
				return unusual
			}
			h.length = int64(length) //nolint:gosec // of 63 bits
			lengths++
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return unusual
			}
		case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Pragma":
			return unusual
		}
		if values, again := h.header[l.name]; again {
			h.header[l.name] = append(values, value)
			continue
		}
		h.header[l.name] = l.value[:1:1]
	}
	if hosts != 1 || lengths > 1 || !plainHost(h.host) {
		return unusual
	}
	return usual
}

// plainHost reports whether a host is a name or an address, possibly with a port. Other forms are rare.
func plainHost(host string) bool {
	for _, c := range []byte(host) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == ':', c == '[', c == ']', c == '_':
		default:
			return false
		}
	}
	return host != ""
}
