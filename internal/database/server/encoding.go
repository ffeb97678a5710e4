package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	encodingGzip    = "gzip"
	encodingDeflate = "deflate"
)

// acceptedEncoding selects gzip or deflate from an Accept-Encoding header, or "" for neither. It follows AWS, which deviates from
// RFC 9110: identity never wins, a weight is whatever follows the first "q=" of an element, and "*" means deflate if gzip is
// named. The element with the greatest weight wins; among equals, a name wins over "*", then the first.
func acceptedEncoding(header string) string {
	header = strings.ToLower(header)
	best, heaviest, named := "", 0.0, false
	wildcard := encodingGzip
	for element := range strings.SplitSeq(header, ",") {
		if encodingName(element) == encodingGzip {
			wildcard = encodingDeflate
		}
	}
	for element := range strings.SplitSeq(header, ",") {
		name, q := encodingName(element), weight(element)
		isName := name == encodingGzip || name == encodingDeflate
		if !isName && name != "*" || q <= 0 {
			continue
		}
		if q > heaviest || q == heaviest && isName && !named {
			best, heaviest, named = name, q, isName
		}
	}
	if best == "*" {
		return wildcard
	}
	return best
}

func encodingName(element string) string {
	name, _, _ := strings.Cut(element, ";")
	return strings.TrimSpace(name)
}

// weight is at most 1, which is also the weight of an element without a number.
func weight(element string) float64 {
	_, after, _ := strings.Cut(element, "q=")
	number, _, _ := strings.Cut(after, ";")
	q, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(q < 1) {
		return 1
	}
	return q
}

// members reads a gzip stream of one or more members. Data after the last one is ignored.
type members struct {
	*gzip.Reader
	rest *bytes.Reader
}

func newMembers(stream []byte) (*members, error) {
	m := &members{rest: bytes.NewReader(stream)}
	var err error
	if m.Reader, err = gzip.NewReader(m.rest); err != nil {
		return nil, err
	}
	m.Multistream(false)
	return m, nil
}

// Read reads from the current member and continues with the next.
func (m *members) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if m.Reset(m.rest) != nil {
		return n, io.EOF
	}
	m.Multistream(false)
	return n, nil
}
