package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// gate is a server's channel that enforces the protocol's life cycle: no requests before initialize, nothing but exit
// after shutdown, and the server sees the end of the stream only once all requests are answered. It tracks this from the
// order of the messages, because their handlers run concurrently.
//
// Messages are sent by a goroutine of their own: an editor may write for long before it reads, and jrpc2 holds its lock while it
// sends.
type gate struct {
	channel.Channel // Recv is only called by one goroutine, Send by another

	mu      sync.Mutex
	changed sync.Cond
	queue   [][]byte // to be sent; the first is being sent
	failed  error    // of sending
	pending int      // number of unanswered requests
	closed  bool     // nothing is answered any more

	initialized, shutdown, exited bool
}

func newGate(c channel.Channel) *gate {
	g := &gate{Channel: c}
	g.changed.L = &g.mu
	go g.deliver()
	return g
}

// deliver sends the messages of the queue until the channel is closed.
func (g *gate) deliver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.closed && g.failed == nil {
		if len(g.queue) == 0 {
			g.changed.Wait()
			continue
		}
		bits := g.queue[0]
		g.mu.Unlock()
		err := g.Channel.Send(bits)
		g.mu.Lock()
		g.queue, g.failed = g.queue[1:], err
		g.changed.Broadcast()
	}
}

// enqueue adds a message to the queue; the caller holds mu.
func (g *gate) enqueue(bits []byte) {
	g.queue = append(g.queue, bits)
	g.changed.Broadcast()
}

// Recv returns the next message for a handler; the end of the stream counts as an exit.
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

// admits reports whether a message is for a handler, or the end. It answers requests that are not allowed.
func (g *gate) admits(bits []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if bytes.HasPrefix(bytes.TrimLeft(bits, " \t\r\n"), []byte("[")) {
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

// refuse answers a request with an error; a notification has no ID and gets no response.
func (g *gate) refuse(id json.RawMessage, code jrpc2.Code, message string) {
	if id == nil {
		return
	}
	text, _ := json.Marshal(message)
	g.enqueue(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text))
}

// Send sends a message later, and counts responses. It fails if an earlier message could not be sent.
func (g *gate) Send(bits []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.enqueue(bits)
	if id, method := envelope(bits); id != nil && method == "" {
		g.pending--
	}
	return g.failed
}

// Close ends the channel, and the wait for responses.
func (g *gate) Close() error {
	g.mu.Lock()
	g.closed = true
	g.changed.Broadcast()
	g.mu.Unlock()
	return g.Channel.Close()
}

// unreadTime is how long an editor that has exited may take to read what was sent before.
const unreadTime = time.Second

// drain waits until all requests are answered and all messages sent, unless the editor does not read them.
func (g *gate) drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.closed && g.pending > 0 {
		g.changed.Wait()
	}
	late := false
	timer := time.AfterFunc(unreadTime, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		late = true
		g.changed.Broadcast()
	})
	defer timer.Stop()
	for !g.closed && g.failed == nil && !late && len(g.queue) > 0 {
		g.changed.Wait()
	}
}

// ended is the error if an editor exits without a shutdown.
func (g *gate) ended() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if (g.initialized || g.exited) && !g.shutdown {
		return errExit
	}
	return nil
}

// envelope is the ID and the method of a message, nil and "" if there are none. As in jrpc2, an ID is a string or a
// number, and names are case-sensitive: each message with such an ID gets one response with it.
func envelope(bits []byte) (id json.RawMessage, method string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(bits, &m) != nil {
		return nil, ""
	}
	_ = json.Unmarshal(m["method"], &method) // jrpc2 rejects an invalid one
	if id = m["id"]; len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9') {
		return id, method
	}
	return nil, method
}
