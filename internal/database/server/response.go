package server

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// compressMin is the size from which a response is compressed for a client that accepts it.
const compressMin = 4 << 10

// compressPart is how much is compressed before small requests get a turn on the CPU: about a millisecond's worth.
const compressPart = 32 << 10

// serverName is the value of AWS's Server header.
var serverName = []string{"Server"}

// commonHeaders sets the headers of every response. The values share one slice, because headers are a large part of the cost of a
// small response.
func (x *exchange) commonHeaders() {
	h := x.w.Header()
	h["Server"] = serverName
	x.values[0] = x.id
	h[headerRequestID] = x.values[0:1:1]
}

// succeed responds with an operation's output.
func (x *exchange) succeed(op *operation, out any) {
	if op.EmptyResponse {
		x.send(http.StatusOK, nil)
		return
	}
	buffers, size := &smallBuffers, jsonSize(out)
	switch {
	case x.readTurn.held > 0 && (size == 0 || size > mediumBuffers.max):
		buffers = &largeBuffers
	case size > smallBuffers.max && size <= mediumBuffers.max:
		buffers = &mediumBuffers
	}
	buffer := buffers.getFor(max(size, bufferMin))
	body, err := wire.Append((*buffer)[:0], out)
	if lender, ok := out.(api.Memory); ok {
		lender.Release()
	}
	if err != nil {
		buffers.put(buffer)
		x.fail(op, err)
		return
	}
	*buffer = body
	packed := x.pack(body, func() { buffers.put(buffer) })
	defer packed.release()
	if err := x.reserveResponse(op.reads || hasOnlyRead(out), int64(cap(packed.body))); err != nil {
		x.fail(op, err)
		return
	}
	x.sendPacked(http.StatusOK, packed)
}

// jsonSize estimates the size of an output with many items as JSON, which is usually less than a fourth larger than the items are
// when stored. It returns 0 for other outputs, of which it knows nothing.
func jsonSize(out any) int {
	o, ok := out.(interface{ ItemBytes() int })
	if !ok {
		return 0
	}
	bytes := o.ItemBytes()
	return bytes + bytes/4
}

// hasOnlyRead reports whether an operation that may write has changed nothing this time.
func hasOnlyRead(out any) bool {
	o, ok := out.(interface{ Reads() bool })
	return ok && o.Reads()
}

// reserveResponse moves the request from the running ones to those waiting for their client to read. If there is no memory for
// its response, a request that changed nothing is throttled; one that did continues to count as running.
func (x *exchange) reserveResponse(reads bool, bytes int64) error {
	x.inputTurn.release()
	x.readTurn.release()
	x.long.release()
	var err error
	if bytes > entryBytes {
		err = x.response.grow(x.r.Context(), &x.server.memory.responses, bytes, responseWait)
	}
	if err == nil {
		x.work.release()
	} else if !reads {
		err = nil
	}
	return err
}

// sendError responds with an error.
func (x *exchange) sendError(e *apierr.Error) {
	x.failed(e)
	x.send(e.Status(), wire.AppendError(nil, e))
}

// packed is a body as it is sent.
type packed struct {
	body     []byte
	encoding string // empty if it is not compressed
	release  func() // releases the memory of body
}

// pack compresses a body for a client that accepts it. A large one takes tens of milliseconds, while its operation still has its
// turn. release releases the memory of the body, which happens immediately if it is compressed: only what is sent stays in memory
// until the client has read it.
func (x *exchange) pack(body []byte, release func()) packed {
	if len(body) <= compressMin {
		return packed{body: body, release: release}
	}
	encoding := acceptedEncoding(x.r.Header.Get("Accept-Encoding"))
	if encoding == "" {
		return packed{body: body, release: release}
	}
	defer release()
	buffers := &smallBuffers
	if len(body) > entryBytes {
		buffers = &largeBuffers
	}
	buffer := buffers.get()
	*buffer = compress((*buffer)[:0], encoding, body)
	return packed{*buffer, encoding, func() { buffers.put(buffer) }}
}

// send sends a response, compressed if the client accepts it.
func (x *exchange) send(status int, body []byte) {
	packed := x.pack(body, func() {})
	defer packed.release()
	x.sendPacked(status, packed)
}

// sendPacked sends a response with the checksum of its bytes.
func (x *exchange) sendPacked(status int, response packed) {
	body := response.body
	if response.encoding != "" {
		x.w.Header().Set(headerEncoding, response.encoding)
	}
	x.values[1] = strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)
	x.values[2] = strconv.Itoa(len(body))
	h := x.w.Header()
	h[headerChecksum] = x.values[1:2:2]
	h[headerContentLength] = x.values[2:3:3]
	h[headerContentType] = x.mediaType // nil keeps net/http from guessing
	x.finish(status, len(body))
	x.started = true
	x.w.WriteHeader(status)
	if err := x.write(body); err != nil {
		// The client has disconnected.
		x.server.options.Logger.DebugContext(x.r.Context(), "response not delivered",
			slog.String("request_id", x.id), slog.Any("error", err))
	}
}

// write writes the body. A client that reads a large one too slowly loses its connection, because it would keep the memory.
func (x *exchange) write(body []byte) error {
	if len(body) <= entryBytes { // the server's own timeout is enough
		_, err := x.w.Write(body)
		return err
	}
	control := http.NewResponseController(x.w)
	limited := control.SetWriteDeadline(time.Now().Add(pace(len(body)))) == nil
	_, err := x.w.Write(body)
	if limited && err == nil {
		err = errors.Join(control.Flush(), control.SetWriteDeadline(time.Time{}))
	}
	return err
}

// compressor is a gzip.Writer or zlib.Writer.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

var (
	gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	zlibWriters = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}
)

func compress(dst []byte, encoding string, body []byte) []byte {
	pool := &gzipWriters
	if encoding == encodingDeflate {
		pool = &zlibWriters
	}
	c := pool.Get().(compressor)
	defer pool.Put(c)
	out := appender{dst}
	c.Reset(&out)
	// Writing to memory does not fail.
	for part := range slices.Chunk(body, compressPart) {
		_, _ = c.Write(part)
		if len(body) > compressPart {
			runtime.Gosched()
		}
	}
	_ = c.Close()
	return out.bytes
}

// appender is an io.Writer that appends to a slice.
type appender struct{ bytes []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.bytes = append(a.bytes, p...)
	return len(p), nil
}
