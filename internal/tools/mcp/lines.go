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

// maxLine is the maximum length of a message: a design has 256 KB.
const maxLine = 4 << 20

// responses is the output stream: it writes one message at a time, from the SDK or copyLines, and knows which calls have
// not been answered. Whoever opened the stream closes it.
type responses struct {
	io.Writer

	mu      sync.Mutex
	pending map[jsonrpc.ID]bool
	done    sync.Cond
	closed  bool
}

func newResponses(out io.Writer) *responses {
	a := &responses{Writer: out, pending: map[jsonrpc.ID]bool{}}
	a.done.L = &a.mu
	return a
}

func (a *responses) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m, err := jsonrpc.DecodeMessage(p); err == nil {
		if r, is := m.(*jsonrpc.Response); is {
			delete(a.pending, r.ID)
			a.done.Broadcast()
		}
	}
	return a.Writer.Write(p)
}

// Close ends the wait for responses; the stream stays open.
func (a *responses) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.done.Broadcast()
	return nil
}

// expect records a call, except those that need no response: one that listens gets its response when the stream ends, and
// a canceled one may get none.
func (a *responses) expect(m jsonrpc.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, is := m.(*jsonrpc.Request)
	switch {
	case !is:
	case r.IsCall() && r.Method != "subscriptions/listen":
		a.pending[r.ID] = true
	case r.Method == "notifications/cancelled":
		var of struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(r.Params, &of) != nil {
			return
		}
		if id, err := jsonrpc.MakeID(of.RequestID); err == nil {
			delete(a.pending, id)
		}
	}
}

// drain waits until all calls are answered.
func (a *responses) drain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.pending) > 0 && !a.closed {
		a.done.Wait()
	}
}

// copyLines copies messages up to the end of in, and signals the end only once all calls are answered, because the SDK
// would cancel pending ones. It answers invalid messages as JSON-RPC requires and does not pass them on, because the
// SDK would end the session. Batches are among these: the protocol no longer has them, and the SDK loses responses to some.
func copyLines(out io.Writer, in io.Reader, to *responses) error {
	defer to.drain()
	from := bufio.NewReader(in)
	for {
		line, long, err := readLine(from)
		line = bytes.TrimSpace(line)
		message, invalid := jsonrpc.DecodeMessage(line)
		var fault string
		code := jsonrpc.CodeInvalidRequest
		switch {
		case long:
			fault = fmt.Sprintf("a message can have at most %d bytes", maxLine)
		case len(line) == 0:
		case !json.Valid(line):
			code, fault = jsonrpc.CodeParseError, "not a line of JSON"
		case line[0] == '[':
			fault = "batches are not supported: send one message in a line"
		case invalid != nil:
			fault = "not a request, notification or response"
		default:
			to.expect(message)
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if fault != "" {
			if _, err := fmt.Fprintf(to, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, fault); err != nil {
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

// readLine reads a line; a line that is too long is discarded.
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
