package server

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// bodyMax is the most bytes that a request's body may have, as sent and once decompressed.
const bodyMax = 16 << 20

// errTooLarge answers a body beyond bodyMax.
var errTooLarge = apierr.BodyTooLarge.With()

var errNoOutput = errors.New("server: the engine returned neither output nor error")

// readBody reads the request's body into buffer, authenticates the request, and decompresses the body.
func (x *exchange) readBody(buffer *[]byte) error {
	if x.r.ContentLength > bodyMax {
		x.w.Header().Set("Connection", "close")
		return errTooLarge
	}
	raw, err := readAll((*buffer)[:0], x.r.Body, x.r.ContentLength)
	*buffer = raw
	if err != nil {
		return x.bodyError(err)
	}
	if err := x.server.options.Authenticator.Authenticate(x.r, raw); err != nil {
		return err
	}
	encoding := x.r.Header.Get(headerEncoding)
	if encoding == "" {
		return nil
	}
	plain, err := decompress(encoding, raw)
	if err != nil {
		return err
	}
	*buffer = plain
	return nil
}

// bodyError tells a body that is too large from a connection that broke.
func (x *exchange) bodyError(err error) error {
	if errors.Is(err, errTooLarge) {
		x.w.Header().Set("Connection", "close")
		return errTooLarge
	}
	// Nobody is left to read an answer, and nothing is wrong on this side.
	return apierr.Malformed()
}

// readAll appends what r has to dst. length is a hint, negative where it is unknown.
func readAll(dst []byte, r io.Reader, length int64) ([]byte, error) {
	if room := int(length) + 1; length > 0 && cap(dst) < room {
		dst = make([]byte, 0, room)
	}
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if len(dst) > bodyMax {
			return dst, errTooLarge
		}
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst, fmt.Errorf("read body: %w", err)
		}
	}
}

// decompress undoes a content encoding. An encoding that is not known leaves the body as it is, to fail as
// JSON. AWS answers a broken stream with InternalServerError, and so does this.
func decompress(encoding string, raw []byte) ([]byte, error) {
	var r io.ReadCloser
	var err error
	switch {
	case strings.EqualFold(encoding, "gzip"):
		r, err = gzip.NewReader(bytes.NewReader(raw))
	case strings.EqualFold(encoding, "deflate"):
		r, err = zlib.NewReader(bytes.NewReader(raw))
	default:
		return raw, nil
	}
	if err != nil {
		return nil, apierr.InternalFault.With()
	}
	plain, err := readAll(nil, r, -1)
	if errors.Is(err, errTooLarge) {
		return nil, errTooLarge
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, apierr.InternalFault.With()
	}
	return plain, nil
}

// buffers keeps the buffers of bodies and answers.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4<<10)) }}

// bufferMax bounds what the pool keeps.
const bufferMax = 1 << 20

func getBuffer() *[]byte { return buffers.Get().(*[]byte) }

func putBuffer(b *[]byte) {
	if cap(*b) <= bufferMax {
		buffers.Put(b)
	}
}
