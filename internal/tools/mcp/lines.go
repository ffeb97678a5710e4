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
	messages, _ := messagesOf(p)
	for _, m := range messages {
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

// expect records the calls among messages, except those that need no response: one that listens gets its response when
// the stream ends, and a canceled one may get none.
func (a *responses) expect(messages []jsonrpc.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range messages {
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
				continue
			}
			if id, err := jsonrpc.MakeID(of.RequestID); err == nil {
				delete(a.pending, id)
			}
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
// SDK would end the session.
func copyLines(out io.Writer, in io.Reader, to *responses) error {
	defer to.drain()
	from := bufio.NewReader(in)
	for {
		line, long, err := readLine(from)
		line = bytes.TrimSpace(line)
		messages, known := messagesOf(line)
		var fault string
		code := jsonrpc.CodeInvalidRequest
		switch {
		case long:
			fault = fmt.Sprintf("a message can have at most %d bytes", maxLine)
		case len(line) == 0:
		case !json.Valid(line):
			code, fault = jsonrpc.CodeParseError, "not a line of JSON"
		case !known:
			fault = "not a request, notification or response"
		default:
			to.expect(messages)
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

// messagesOf are the messages of a line, one or a batch; ok is false if it has none.
func messagesOf(line []byte) (messages []jsonrpc.Message, ok bool) {
	line = bytes.TrimSpace(line)
	batch := []json.RawMessage{line}
	if len(line) == 0 || line[0] == '[' && (json.Unmarshal(line, &batch) != nil || len(batch) == 0) {
		return nil, false
	}
	for _, one := range batch {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return nil, false
		}
		messages = append(messages, m)
	}
	return messages, true
}
