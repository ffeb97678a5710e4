package signature

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// Headers that net/http removes from the map, or may remove.
const (
	nameLength   = "content-length"
	nameTransfer = "transfer-encoding"
)

// appendCanonical appends the canonical form of a request with a body.
func (s *Signed) appendCanonical(dst []byte, r *http.Request, body []byte) []byte {
	dst = append(append(dst, r.Method...), '\n')
	dst = append(appendPath(dst, wirePath(r)), '\n')
	dst = append(appendQuery(dst, r.URL.RawQuery, s.presigned), '\n')
	for i := range s.signed {
		h := &s.signed[i]
		dst = append(append(dst, h.name...), ':')
		dst = append(h.appendValues(dst, r), '\n')
	}
	dst = append(dst, '\n')
	dst = append(append(dst, s.headers...), '\n')
	if first(r.Header, headerPayload) == unsignedPayload || s.presigned && r.URL.Query().Get(queryPayload) == unsignedPayload {
		return append(dst, unsignedPayload...)
	}
	sum := sha256.Sum256(body)
	return appendHex(dst, sum[:])
}

// appendHex appends a digest in hexadecimal, like encoding/hex. Processing four bytes at a time takes a third of the time, and a
// signature needs three digests.
func appendHex(dst, digest []byte) []byte {
	for ; len(digest) >= 4; digest = digest[4:] {
		v := uint64(binary.BigEndian.Uint32(digest))
		v = (v | v<<16) & 0x0000ffff0000ffff
		v = (v | v<<8) & 0x00ff00ff00ff00ff
		v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f                           // one nibble in each byte
		letters := (v + 0x0606060606060606) >> 4 & 0x0101010101010101 // those of ten and more
		dst = binary.BigEndian.AppendUint64(dst, v+0x3030303030303030+letters*('a'-'0'-10))
	}
	return hex.AppendEncode(dst, digest)
}

// appendStringToSign appends the string to sign for a canonical request.
func (s *Signed) appendStringToSign(dst, canonical []byte) []byte {
	dst = append(append(dst, algorithm...), '\n')
	dst = append(append(dst, s.stamp...), '\n')
	dst = append(append(dst, s.scope...), '\n')
	sum := sha256.Sum256(canonical)
	return appendHex(dst, sum[:])
}

// wirePath returns the path as in the request line.
func wirePath(r *http.Request) string {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); strings.HasPrefix(path, "/") {
		return path
	}
	return r.URL.EscapedPath()
}

// appendPath appends a path without ".", ".." and empty segments, and with all reserved characters encoded, so that what was
// encoded on the wire is encoded twice.
func appendPath(dst []byte, path string) []byte {
	if path == "" || path == "/" {
		return append(dst, '/')
	}
	var segments []string
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			segments = segments[:max(0, len(segments)-1)]
		default:
			segments = append(segments, segment)
		}
	}
	for _, segment := range segments {
		dst = appendEncoded(append(dst, '/'), segment)
	}
	if len(segments) == 0 || strings.HasSuffix(path, "/") {
		dst = append(dst, '/')
	}
	return dst
}

// appendQuery appends the parameters sorted by encoded names and values, without the signature of a presigned request.
func appendQuery(dst []byte, query string, presigned bool) []byte {
	if query == "" {
		return dst
	}
	type parameter struct{ name, value string }
	var parameters []parameter
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		p := parameter{canonicalPart(name), canonicalPart(value)}
		if !presigned || p.name != querySignature {
			parameters = append(parameters, p)
		}
	}
	slices.SortStableFunc(parameters, func(a, b parameter) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	for i, p := range parameters {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(append(append(dst, p.name...), '='), p.value...)
	}
	return dst
}

// canonicalPart decodes a part of a query, and encodes it as signatures require. A '%' that does not start a code stands for itself.
func canonicalPart(text string) string {
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '+':
			plain = append(plain, ' ')
		case text[i] == '%' && i+2 < len(text):
			if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				plain = append(plain, byte(c))
				i += 2
				continue
			}
			plain = append(plain, '%')
		default:
			plain = append(plain, text[i])
		}
	}
	return string(appendEncoded(nil, string(plain)))
}

// appendEncoded encodes all but the unreserved characters of RFC 3986.
func appendEncoded(dst []byte, text string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~' {
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '%', digits[c>>4], digits[c&15])
	}
	return dst
}

// appendValues appends the header's values, separated by commas, trimmed and with single spaces inside.
func (h *signedHeader) appendValues(dst []byte, r *http.Request) []byte {
	switch h.name {
	case nameHost, nameAuthority:
		return appendTrimmed(dst, r.Host)
	case nameTransfer:
		return append(dst, strings.Join(r.TransferEncoding, ",")...)
	}
	values := r.Header[h.canonical]
	if len(values) == 0 && h.name == nameLength {
		return strconv.AppendInt(dst, r.ContentLength, 10)
	}
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendTrimmed(dst, value)
	}
	return dst
}

func appendTrimmed(dst []byte, value string) []byte {
	value = textproto.TrimString(value)
	if first := strings.IndexByte(value, ' '); first < 0 || !strings.Contains(value[first:], "  ") {
		return append(dst, value...)
	}
	space := false
	for i := range len(value) {
		c := value[i]
		if c == ' ' && space {
			continue
		}
		space = c == ' '
		dst = append(dst, c)
	}
	return dst
}

// in reports whether a request has the header; net/http removes some from the map.
func (h *signedHeader) in(r *http.Request) bool {
	switch h.name {
	case nameHost, nameAuthority:
		return true
	case nameTransfer:
		return len(r.TransferEncoding) > 0
	case nameLength:
		return r.ContentLength >= 0
	default:
		return len(r.Header[h.canonical]) > 0
	}
}

// first is Header.Get for a name in net/http's canonical form.
func first(h http.Header, canonical string) string {
	if values := h[canonical]; len(values) > 0 {
		return values[0]
	}
	return ""
}
