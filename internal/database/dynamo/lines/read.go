package lines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/wire"
)

// lineMax limits the length of a line. The largest item needs less than half of it, however it is written.
const lineMax = 16 << 20

// The compressions of files, with the API's names.
const (
	GZIP = "GZIP"
	ZSTD = "ZSTD"
)

// windowMax limits the memory that a ZSTD file can demand of its reader.
const windowMax = 32 << 20

// Reader reads the items of a file, one after the other.
type Reader interface {
	// Next returns the next item. A *LineError is an error of one item, and the next call continues after it; io.EOF ends the
	// file, any other error is one of reading it.
	Next() (attr.Item, error)
	// Offset is how many bytes of the file have been read; all lines before it are complete.
	Offset() int64
	// SkipTo skips what an earlier reader has read.
	SkipTo(offset int64) error
}

// LineError is an error of one line.
type LineError struct{ Err error }

func (e *LineError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// errTooLong: a line is longer than lineMax.
var errTooLong = fmt.Errorf("the line is longer than %d bytes", lineMax)

// Decompress decompresses a file; with a compression other than GZIP and ZSTD it returns it unchanged. Errors other than those of
// r mean that the content is malformed.
func Decompress(r io.Reader, compression string) (io.ReadCloser, error) {
	switch compression {
	case GZIP:
		return gzip.NewReader(r)
	case ZSTD:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowMax), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	default:
		return io.NopCloser(r), nil
	}
}

// text reads lines.
type text struct {
	in     *bufio.Reader
	line   []byte
	offset int64
}

func newText(r io.Reader) text {
	const buffer = 64 << 10
	return text{in: bufio.NewReaderSize(r, buffer)}
}

// Offset implements Reader.
func (t *text) Offset() int64 { return t.offset }

// SkipTo implements Reader.
func (t *text) SkipTo(offset int64) error {
	n, err := io.CopyN(io.Discard, t.in, offset-t.offset)
	t.offset += n
	if errors.Is(err, io.EOF) { // the file has become shorter
		return nil
	}
	return err
}

// next returns the next line that is not empty, without its line end.
func (t *text) next() ([]byte, error) {
	for {
		line, err := t.read()
		if line = bytes.TrimSpace(line); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

func (t *text) read() ([]byte, error) {
	t.line = t.line[:0]
	tooLong := false
	for {
		part, err := t.in.ReadSlice('\n')
		t.offset += int64(len(part))
		if tooLong = tooLong || len(t.line)+len(part) > lineMax; !tooLong {
			t.line = append(t.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, &LineError{errTooLong}
		case errors.Is(err, io.EOF) && len(t.line) > 0:
			return t.line, nil
		default:
			return t.line, err
		}
	}
}

// itemReader reads lines of DynamoDB JSON.
type itemReader struct{ text }

// NewJSON reads a file of items in DynamoDB JSON.
func NewJSON(r io.Reader) Reader { return &itemReader{newText(r)} }

// Next implements Reader.
func (r *itemReader) Next() (attr.Item, error) {
	line, err := r.next()
	if err != nil {
		return nil, err
	}
	var read struct{ Item attr.Item }
	if err := wire.Decode(line, &read); err != nil {
		if !utf8.Valid(line) || !json.Valid(line) {
			err = errNotJSON // err is the one of a request, which has no message then
		}
		return nil, &LineError{err}
	}
	if read.Item == nil {
		return nil, &LineError{errNoItem}
	}
	return read.Item, nil
}

var (
	errNoItem  = errors.New("the line has no Item")
	errNotJSON = errors.New("the line is not JSON in UTF-8")
)
