package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine is the longest message that is read: a design has 256 KB.
const maxLine = 4 << 20

// lockedWriter writes one message at a time, of the SDK or of copyLines. Whoever opened the stream closes it.
type lockedWriter struct {
	mu sync.Mutex
	io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Writer.Write(p)
}

func (*lockedWriter) Close() error { return nil }

// copyLines copies messages up to the end of in. What is no message is answered as JSON-RPC says and left out: the SDK ends the
// session at it.
func copyLines(out io.Writer, in io.Reader, answers io.Writer) error {
	from := bufio.NewReader(in)
	for {
		line, long, err := readLine(from)
		var fault string
		code := jsonrpc.CodeInvalidRequest
		switch line = bytes.TrimSpace(line); {
		case long:
			fault = fmt.Sprintf("a message may have %d bytes", maxLine)
		case len(line) == 0:
		case !json.Valid(line):
			code, fault = jsonrpc.CodeParseError, "this is not JSON in one line"
		case !isMessage(line):
			fault = "this is not a request, notification or response"
		default:
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if fault != "" {
			if _, err := fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, fault); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line; of one that is too long, nothing is kept.
func readLine(from *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := from.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// isMessage reports whether JSON is a message, or a batch of some.
func isMessage(line []byte) bool {
	batch := []json.RawMessage{line}
	if line[0] == '[' && (json.Unmarshal(line, &batch) != nil || len(batch) == 0) {
		return false
	}
	for _, one := range batch {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return false
		}
	}
	return true
}
