package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Names of headers that net/http takes out of the map, or may.
const (
	nameLength   = "content-length"
	nameTransfer = "transfer-encoding"
)

// buffers are for canonical requests.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 1024)) }}

// appendCanonical appends the canonical form of a request with a body.
func (s *Signed) appendCanonical(dst []byte, r *http.Request, body []byte) []byte {
	dst = append(append(dst, r.Method...), '\n')
	dst = append(appendPath(dst, wirePath(r)), '\n')
	dst = append(appendQuery(dst, r.URL.RawQuery, s.presigned), '\n')
	for _, name := range s.names {
		dst = append(append(dst, name...), ':')
		dst = append(appendHeader(dst, r, name), '\n')
	}
	dst = append(dst, '\n')
	dst = append(append(dst, s.headers...), '\n')
	if r.Header.Get(headerPayload) == unsignedPayload || s.presigned && r.URL.Query().Get(queryPayload) == unsignedPayload {
		return append(dst, unsignedPayload...)
	}
	sum := sha256.Sum256(body)
	return hex.AppendEncode(dst, sum[:])
}

// appendStringToSign appends what is signed of a canonical request.
func (s *Signed) appendStringToSign(dst, canonical []byte) []byte {
	dst = append(append(dst, algorithm...), '\n')
	dst = append(append(dst, s.stamp...), '\n')
	dst = append(append(dst, s.scope...), '\n')
	sum := sha256.Sum256(canonical)
	return hex.AppendEncode(dst, sum[:])
}

// wirePath is the path as the request line has it.
func wirePath(r *http.Request) string {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); strings.HasPrefix(path, "/") {
		return path
	}
	return r.URL.EscapedPath()
}

// appendPath appends a path without ".", ".." and empty segments, and with every character encoded that a URI reserves: what was
// encoded on the wire is so twice.
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

// appendQuery appends the parameters in the order of their encoded names and values, without the signature of a presigned request.
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
		p := parameter{recoded(name), recoded(value)}
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

// recoded decodes a part of a query, and encodes it as signatures want it. A '%' that begins no code stands for itself.
func recoded(text string) string {
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

// appendHeader appends a header's values, separated by commas, without spaces around them and with single ones inside.
func appendHeader(dst []byte, r *http.Request, name string) []byte {
	switch name {
	case nameHost, nameAuthority:
		return appendTrimmed(dst, r.Host)
	case nameTransfer:
		return append(dst, strings.Join(r.TransferEncoding, ",")...)
	}
	values := headerOf(r, name)
	if len(values) == 0 && name == nameLength {
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
	value = strings.Trim(value, " \t")
	if !strings.Contains(value, "  ") {
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

// hasHeader reports whether a request has a header; net/http takes some out of the map.
func hasHeader(r *http.Request, name string) bool {
	switch name {
	case nameHost, nameAuthority:
		return true
	case nameTransfer:
		return len(r.TransferEncoding) > 0
	case nameLength:
		return r.ContentLength >= 0
	default:
		return len(headerOf(r, name)) > 0
	}
}

// headerOf spares the headers that SDKs sign the making of their canonical names.
func headerOf(r *http.Request, name string) []string {
	if canonical, ok := canonicalNames[name]; ok {
		return r.Header[canonical]
	}
	return r.Header.Values(name)
}

var canonicalNames = map[string]string{
	"accept-encoding": "Accept-Encoding", "amz-sdk-invocation-id": "Amz-Sdk-Invocation-Id", "amz-sdk-request": "Amz-Sdk-Request",
	"content-encoding": "Content-Encoding", "content-length": "Content-Length", "content-type": "Content-Type", "user-agent": "User-Agent",
	"x-amz-content-sha256": headerPayload, "x-amz-date": headerDate, "x-amz-security-token": headerToken, "x-amz-target": headerTarget,
}
