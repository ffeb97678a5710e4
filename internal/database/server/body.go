package server

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// bodyMax is the maximum size of a request's body, both as sent and after decompression.
const bodyMax = 16 << 20

// A body or a response that does not arrive in one piece may take paceGrace, plus the time at paceBytes a second. Slower clients
// are disconnected.
const (
	paceGrace = 10 * time.Second
	paceBytes = 64 << 10
)

// errTooLarge is the response to a body beyond bodyMax.
var errTooLarge = apierr.BodyTooLarge.With()

var errNoOutput = errors.New("server: the engine returned neither output nor error")

// readBody reads the request's body into buffer, as sent.
func (x *exchange) readBody(buffer *[]byte) error {
	if x.r.ContentLength > bodyMax {
		x.w.Header().Set("Connection", "close")
		return errTooLarge
	}
	*buffer = (*buffer)[:0]
	err := x.receive(buffer)
	x.server.options.Observe.Received.Add(int64(len(*buffer)))
	if err != nil {
		return x.bodyError(err)
	}
	return nil
}

// decompressBody decompresses the body in buffer, if it is compressed.
func (x *exchange) decompressBody(buffer *[]byte) error {
	encoding := x.r.Header.Get(headerEncoding)
	if encoding == "" {
		return nil
	}
	plain, err := x.decompress(encoding, *buffer)
	if err != nil {
		return err
	}
	*buffer = plain
	return nil
}

// bodyError distinguishes a body that is too large, too slow or throttled from a broken connection.
func (x *exchange) bodyError(err error) error {
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		if e == errTooLarge {
			x.w.Header().Set("Connection", "close")
		}
		return e
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		x.w.Header().Set("Connection", "close")
		return apierr.BodyTooSlow.With()
	}
	// The client has disconnected, and nothing is wrong on this side.
	return apierr.Malformed()
}

// receive appends the body as sent to buffer, and counts the request as in flight from the first bytes on: a client that sends only
// a header uses only its connection.
func (x *exchange) receive(buffer *[]byte) error {
	var control *http.ResponseController // nil while the body takes no time
	var start time.Time
	progress := func(received int) error {
		if err := x.entry.grow(x.r.Context(), &x.server.memory.requests, entryBytes, 0); err != nil {
			return err
		}
		if received == int(x.r.ContentLength) {
			return nil
		}
		if control == nil {
			control, start = http.NewResponseController(x.w), time.Now()
		}
		// In-process requests have no deadlines and do not need them.
		_ = control.SetReadDeadline(start.Add(pace(received)))
		return x.setApart(received, time.Since(start))
	}
	err := x.readAll(buffer, x.r.Body, x.r.ContentLength, 0, progress)
	if control != nil { // later requests on this connection have their own time
		_ = control.SetReadDeadline(time.Time{})
	}
	return err
}

// pace returns how long a number of bytes may take over a connection.
func pace(bytes int) time.Duration {
	return paceGrace + time.Duration(bytes)*time.Second/paceBytes
}

// readAll appends the rest of r to buffer. length is a hint, negative if unknown; reserved is what the request has reserved for other
// purposes. After each part it calls progress. Memory grows with what arrives, not with what the sender announces.
func (x *exchange) readAll(buffer *[]byte, r io.Reader, length, reserved int64, progress func(received int) error) error {
	for {
		if size := len(*buffer); size == cap(*buffer) {
			room := max(4*size, bufferMin)
			if length >= 0 {
				room = min(room, max(int(length), size)+1)
			}
			if err := x.growBody(buffer, min(room, bodyMax+1), reserved); err != nil {
				return err
			}
		}
		n, err := r.Read((*buffer)[len(*buffer):cap(*buffer)])
		*buffer = (*buffer)[:len(*buffer)+n]
		if len(*buffer) > bodyMax {
			return errTooLarge
		}
		if n > 0 || err != nil {
			if err := progress(len(*buffer)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read body: %w", err)
		}
	}
}

// growBody reserves a buffer with room, gets it, moves the content of buffer there, and returns the old memory. A request that
// waits for memory, or is throttled, has got none.
func (x *exchange) growBody(buffer *[]byte, room int, reserved int64) error {
	if err := x.reserveBody(reserved + int64(bodySize(room))); err != nil {
		return err
	}
	larger := bodyBuffer(room)
	*buffer, *larger = append((*larger)[:0], *buffer...), *buffer
	returnBody(larger)
	return nil
}

// reserveBody reserves what the body needs beyond a request's basic share.
func (x *exchange) reserveBody(bytes int64) error {
	from, wait := &x.server.memory.bodies, bodyWait
	if x.slow {
		from, wait = &x.server.memory.slowBodies, 0
	}
	return x.body.grow(x.r.Context(), from, bytes-entryBytes, wait)
}

// setApart accounts a large body that arrives slowly to a separate pool, or throttles it, so that slow senders leave the rest to
// fast ones.
func (x *exchange) setApart(received int, took time.Duration) error {
	if x.slow || x.body.held == 0 || took < slowAfter || float64(received) > quickBytes*took.Seconds() {
		return nil
	}
	held := x.body.held
	x.body.release()
	x.slow = true
	return x.body.grow(x.r.Context(), &x.server.memory.slowBodies, held, 0)
}

// drain reads the rest of a rejected body, up to the limit, so that its sender reads the response instead of seeing a closed
// connection. The sender must keep its pace.
func (x *exchange) drain() {
	control, start, drained := http.NewResponseController(x.w), time.Now(), 0
	if x.r.Header.Get("Expect") != "" {
		return // the sender waits for the response first
	}
	buffer := smallBuffers.get()
	defer smallBuffers.put(buffer)
	part := (*buffer)[:cap(*buffer)]
	for drained <= bodyMax && control.SetReadDeadline(start.Add(pace(drained))) == nil {
		n, err := x.r.Body.Read(part)
		drained += n
		if err != nil {
			break
		}
	}
	_ = control.SetReadDeadline(time.Time{})
}

// errBroken is the response to a compressed body that cannot be decompressed: status 500, as on AWS, although it is the client's
// error. It is counted as the client's error and not logged, so that no client can trigger an alert.
var errBroken = apierr.InternalFault.With()

// decompress decodes a content encoding. A broken stream or an unknown encoding is errBroken.
func (x *exchange) decompress(encoding string, raw []byte) ([]byte, error) {
	var r io.ReadCloser
	var err error
	switch {
	case strings.EqualFold(encoding, encodingGzip):
		r, err = newMembers(raw)
	case strings.EqualFold(encoding, encodingDeflate):
		r, err = zlib.NewReader(bytes.NewReader(raw))
	case strings.EqualFold(encoding, "identity"):
		return raw, nil
	default:
		return nil, errBroken
	}
	if err != nil {
		return nil, errBroken
	}
	var plain []byte
	err = x.readAll(&plain, r, -1, int64(cap(raw)), func(int) error { return nil })
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		return nil, e
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, errBroken
	}
	return plain, nil
}

// bufferPool pools the buffers of bodies and responses.
type bufferPool struct {
	pool sync.Pool
	max  int // maximum size kept
}

// Small buffers are within a request's basic share. Medium ones are for bodies and responses above it. Large ones are for requests
// that have reserved memory: a small request with a large buffer would hold memory that is not accounted for.
var (
	smallBuffers  = bufferPool{max: entryBytes}
	mediumBuffers = bufferPool{max: 3 * entryBytes}
	largeBuffers  = bufferPool{max: 2 << 20}
)

// bufferMin is the least capacity of a pooled buffer.
const bufferMin = 4 << 10

func (p *bufferPool) get() *[]byte { return p.getFor(bufferMin) }

// getFor returns a buffer with a capacity of at least size.
func (p *bufferPool) getFor(size int) *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		if cap(*b) >= size {
			return b
		}
		p.pool.Put(b)
	}
	return new(make([]byte, 0, size))
}

func (p *bufferPool) put(b *[]byte) {
	if cap(*b) <= p.max {
		p.pool.Put(b)
	}
}

// bodyPool returns the pool of the buffers for bodies of a size, or nil: those of large bodies are not pooled.
func bodyPool(size int) *bufferPool {
	switch {
	case size <= smallBuffers.max:
		return &smallBuffers
	case size <= mediumBuffers.max:
		return &mediumBuffers
	default:
		return nil
	}
}

// bodySize returns the largest capacity that bodyBuffer may return for a size.
func bodySize(size int) int {
	if pool := bodyPool(size); pool != nil {
		return pool.max
	}
	return size
}

// bodyBuffer returns a buffer for the body of a request with a capacity of at least size.
func bodyBuffer(size int) *[]byte {
	if pool := bodyPool(size); pool != nil {
		return pool.getFor(size)
	}
	return new(make([]byte, 0, size))
}

// returnBody returns the buffer of a body to its pool, when nothing refers to it any more.
func returnBody(b *[]byte) {
	if pool := bodyPool(cap(*b)); pool != nil && cap(*b) >= bufferMin {
		pool.put(b)
	}
}
