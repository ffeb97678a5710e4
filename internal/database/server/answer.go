package server

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// compressMin is the size from which on an answer is compressed for a client that asks for it.
const compressMin = 4 << 10

// serverName is what AWS calls its server.
var serverName = []string{"Server"}

// commonHeaders sets what every answer has. Values share one slice: headers are a large part of what a small
// answer costs.
func (x *exchange) commonHeaders() {
	h := x.w.Header()
	h["Server"] = serverName
	h[headerRequestID] = []string{x.id}
}

// succeed answers with an operation's output.
func (x *exchange) succeed(op *operation, out any) {
	if op.EmptyAnswer {
		x.send(http.StatusOK, nil)
		return
	}
	buffers := &smallBuffers
	if x.readTurn.held > 0 {
		buffers = &largeBuffers
	}
	buffer := buffers.get()
	defer buffers.put(buffer)
	body, err := wire.Append((*buffer)[:0], out)
	if lender, ok := out.(api.Memory); ok {
		lender.Release()
	}
	if err != nil {
		x.fail(op, err)
		return
	}
	*buffer = body
	if err := x.reserveResponse(op, int64(cap(body))); err != nil {
		x.fail(op, err)
		return
	}
	x.send(http.StatusOK, body)
}

// reserveResponse moves the request from those that work to those that wait for their client to read. If there is no room
// for its response, what changed nothing is throttled; what did keeps its place among those that work.
func (x *exchange) reserveResponse(op *operation, bytes int64) error {
	x.inputTurn.release()
	x.readTurn.release()
	var err error
	if bytes > entryBytes {
		err = x.response.grow(x.r.Context(), &x.server.memory.responses, bytes, responseWait)
	}
	if err == nil {
		x.work.release()
	} else if !op.reads {
		err = nil
	}
	return err
}

// sendError answers with an error.
func (x *exchange) sendError(e *apierr.Error) {
	x.failed(e)
	x.send(e.Status(), wire.AppendError(nil, e))
}

// send sends an answer: compressed if the client wants that, with the checksum of the bytes as sent.
func (x *exchange) send(status int, body []byte) {
	if len(body) > compressMin {
		if encoding := acceptedEncoding(x.r.Header.Get("Accept-Encoding")); encoding != "" {
			buffers := &smallBuffers
			if len(body) > entryBytes {
				buffers = &largeBuffers
			}
			buffer := buffers.get()
			defer buffers.put(buffer)
			*buffer = compress((*buffer)[:0], encoding, body)
			body = *buffer
			x.w.Header().Set(headerEncoding, encoding)
		}
	}
	values := []string{
		strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10),
		strconv.Itoa(len(body)),
	}
	h := x.w.Header()
	h[headerChecksum] = values[0:1:1]
	h[headerContentLength] = values[1:2:2]
	h[headerContentType] = x.answer // nil keeps net/http from guessing
	x.finish(status, len(body))
	x.started = true
	x.w.WriteHeader(status)
	if err := x.write(body); err != nil {
		// The client has gone; there is no one to tell.
		x.server.options.Logger.DebugContext(x.r.Context(), "answer not delivered",
			slog.String("request_id", x.id), slog.Any("error", err))
	}
}

// write writes the body. A client that does not read a large one in time loses its connection: it would keep the memory.
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

// acceptedEncoding picks gzip or deflate from an Accept-Encoding header, "" where it wants neither.
func acceptedEncoding(header string) string {
	for _, encoding := range []string{"gzip", "deflate"} {
		for part := range strings.SplitSeq(header, ",") {
			name, parameters, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), encoding) && !refused(parameters) {
				return encoding
			}
		}
	}
	return ""
}

// refused reports whether the parameters of an encoding give it the weight 0.
func refused(parameters string) bool {
	weight, found := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
	if !found {
		return false
	}
	q, err := strconv.ParseFloat(weight, 64)
	return err == nil && q == 0
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
	if encoding == "deflate" {
		pool = &zlibWriters
	}
	c := pool.Get().(compressor)
	defer pool.Put(c)
	out := appender{dst}
	c.Reset(&out)
	// Writing to memory does not fail.
	_, _ = c.Write(body)
	_ = c.Close()
	return out.bytes
}

// appender is an io.Writer to a slice.
type appender struct{ bytes []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.bytes = append(a.bytes, p...)
	return len(p), nil
}
