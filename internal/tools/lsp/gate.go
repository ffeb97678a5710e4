package lsp

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// gate is the channel of a server that keeps the protocol's order of life: nothing is asked before initialize, nothing
// but exit comes after shutdown, and the server meets the end of the stream only when all that was asked is answered. It
// is told from the messages in their order, for their handlers run at once.
type gate struct {
	channel.Channel // whose Recv is for one goroutine

	mu       sync.Mutex // also of what is sent
	answered sync.Cond
	pending  int  // requests without an answer
	closed   bool // and nothing is answered any more

	initialized, shutdown, exited bool
}

func newGate(c channel.Channel) *gate {
	g := &gate{Channel: c}
	g.answered.L = &g.mu
	return g
}

// Recv is the next message that is for a handler; the end is an exit, too.
func (g *gate) Recv() ([]byte, error) {
	for {
		bits, err := g.Channel.Recv()
		if err != nil {
			g.drain()
			return bits, err
		}
		if !g.admits(bits) {
			continue
		}
		g.mu.Lock()
		exited := g.exited
		g.mu.Unlock()
		if exited {
			g.drain()
			return nil, io.EOF
		}
		return bits, nil
	}
}

// admits reports whether a message is for a handler, or the end. What may not be asked is answered.
func (g *gate) admits(bits []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(bits) > 0 && bits[0] == '[' {
		g.refuse(json.RawMessage("null"), jrpc2.InvalidRequest, "the protocol does not support batches")
		return false
	}
	id, method := envelope(bits)
	switch {
	case method == "exit" && id == nil:
		g.exited = true
		return true
	case method == "initialize" && !g.shutdown:
		g.initialized = true
	case method != "" && !g.initialized:
		g.refuse(id, serverNotInitialized, method+" came before initialize")
		return false
	case method != "" && g.shutdown:
		g.refuse(id, jrpc2.InvalidRequest, method+" came after shutdown")
		return false
	case method == "shutdown" && id != nil:
		g.shutdown = true
	}
	if id != nil {
		g.pending++
	}
	return true
}

// refuse answers a request; a notification, which has no id, gets no answer.
func (g *gate) refuse(id json.RawMessage, code jrpc2.Code, message string) {
	if id == nil {
		return
	}
	text, _ := json.Marshal(message)
	_ = g.Channel.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text)) // an editor that is gone asks nothing
}

// Send sends a message, and counts the answers.
func (g *gate) Send(bits []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.Channel.Send(bits)
	if id, method := envelope(bits); id != nil && method == "" {
		g.pending--
		g.answered.Broadcast()
	}
	return err
}

// Close ends the channel, and the wait for answers.
func (g *gate) Close() error {
	g.mu.Lock()
	g.closed = true
	g.answered.Broadcast()
	g.mu.Unlock()
	return g.Channel.Close()
}

// drain waits until all is answered that was asked.
func (g *gate) drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.pending > 0 && !g.closed {
		g.answered.Wait()
	}
}

// ended is the error of an editor that ends without a shutdown.
func (g *gate) ended() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if (g.initialized || g.exited) && !g.shutdown {
		return errExit
	}
	return nil
}

// envelope are the id and the method of a message, nil and "" for none. As jrpc2 has it, an id is a text or a number, and
// names are told apart by case: each message with such an id gets one answer with it.
func envelope(bits []byte) (id json.RawMessage, method string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(bits, &m) != nil {
		return nil, ""
	}
	_ = json.Unmarshal(m["method"], &method) // a wrong one is jrpc2's to refuse
	if id = m["id"]; len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9') {
		return id, method
	}
	return nil, method
}
