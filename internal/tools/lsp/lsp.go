// Package lsp is a language server for designs: it speaks the Language Server Protocol over a pair of streams.
//
// # Model
//
//	editor ──didChange──▶ text ──scan──▶ tree ──▶ symbols: hover, completion, definition, references, rename
//	                        ╰──design.Parse, check.Check, in the background──▶ diagnostics, the last whole design
//
// Text that is being typed is rarely complete, and design.Parse rejects incomplete text. Requests about a position are
// therefore answered from a tree that scan builds from any text. design.Schema describes the tree's parts, so new keys of
// the language need no change here; symbols.go says which keys have names as values, and of what. Requests, costs and
// findings come from the last complete text.
//
// # Invariants
//
//	I1  No text and no request stops the server: a panic is reported as an internal error.
//	I2  A document is checked by one goroutine at a time, and its last version always is.
//	I3  Every request gets a response, including those received before shutdown, exit or the end of the stream.
//	I4  A rename succeeds only if the design is valid before and after it, with the same findings.
//
// Requests are handled concurrently; notifications are handled in order, before later messages (jrpc2).
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// Options configure a server.
type Options struct {
	Version string
	// Log receives internal errors.
	Log io.Writer
	// Check finds the defects of a file's design; nil means check.Check.
	Check func(file string, d *design.Design) (check.Findings, error)
}

// Codes of the protocol.
const (
	requestCancelled     jrpc2.Code = -32800
	requestFailed        jrpc2.Code = -32803
	serverNotInitialized jrpc2.Code = -32002
)

// maxAtOnce is the maximum number of requests handled at once.
const maxAtOnce = 1 << 10

// errExit means that an editor exited without a shutdown.
var errExit = errors.New("the editor exited without shutdown")

type server struct {
	options Options
	rpc     *jrpc2.Server
	work    sync.WaitGroup

	mu        sync.Mutex
	documents map[string]*document
}

// Serve serves an editor until it exits, its stream ends, or ctx does.
func Serve(ctx context.Context, in io.Reader, out io.Writer, options Options) error {
	if options.Check == nil {
		options.Check = func(_ string, d *design.Design) (check.Findings, error) { return check.Check(d), nil }
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	s := &server{options: options, documents: map[string]*document{}}
	s.rpc = jrpc2.NewServer(s.methods(), &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, NewContext: func() context.Context { return ctx },
		Concurrency: maxAtOnce, // a request canceled while it is queued would get an error code that the protocol does not have
	})
	// Closing a pipe ends a pending read, which is not true of every standard input.
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(copyMessages(writer, in)) }()
	messages := newGate(channel.LSP(reader, stream{out, reader}))
	s.rpc.Start(messages)
	stop := context.AfterFunc(ctx, s.rpc.Stop)
	defer stop()
	err := s.rpc.Wait()
	s.work.Wait()
	if err == nil && ctx.Err() == nil {
		return messages.ended()
	}
	return err
}

// stream is the output stream; closing it ends the reading.
type stream struct {
	io.Writer
	reader *io.PipeReader
}

func (s stream) Close() error { return s.reader.Close() }

func (s *server) methods() handler.Map {
	nothing := func(context.Context, *jrpc2.Request) (any, error) { return nil, nil } //nolint:nilnil // notifications and shutdown have no result
	methods := handler.Map{
		"initialize":                       s.initialize,
		"initialized":                      nothing,
		"shutdown":                         nothing,
		"$/cancelRequest":                  s.cancel,
		"$/setTrace":                       nothing,
		"workspace/didChangeConfiguration": nothing,
		"textDocument/didOpen":             s.open,
		"textDocument/didChange":           s.change,
		"textDocument/didClose":            s.close,
		"textDocument/hover":               asking(s, (*server).hover),
		"textDocument/completion":          asking(s, (*server).complete),
		"textDocument/definition":          asking(s, (*server).definition),
		"textDocument/references":          asking(s, (*server).references),
		"textDocument/prepareRename":       asking(s, (*server).prepareRename),
		"textDocument/rename":              asking(s, (*server).rename),
		"textDocument/formatting":          asking(s, (*server).format),
	}
	for name, h := range methods {
		methods[name] = s.wrap(h)
	}
	return methods
}

// wrap turns a panic into an error, and reports cancellation as the protocol requires.
func (s *server) wrap(h jrpc2.Handler) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (out any, err error) {
		defer func() {
			if p := recover(); p != nil {
				out, err = nil, s.panicked(r.Method(), p)
			}
		}()
		out, err = h(ctx, r)
		if ctx.Err() != nil {
			return nil, requestCancelled.Err()
		}
		return out, err
	}
}

func (s *server) panicked(what string, p any) error {
	fmt.Fprintf(s.options.Log, "monotable lsp: %s: %v\n%s", what, p, debug.Stack())
	return jrpc2.Errorf(jrpc2.InternalError, "internal error in %s: %v", what, p)
}

// place is a position in a document, with what a request asks about it.
type place struct {
	*text
	good   *design.Design
	offset int
	params placeParams
}

// asking makes a handler for a method about a position in a document; if the document is not open, the result is null.
func asking[T any](s *server, f func(*server, *place) (T, error)) jrpc2.Handler {
	return func(_ context.Context, r *jrpc2.Request) (any, error) {
		var p placeParams
		if err := r.UnmarshalParams(&p); err != nil {
			return nil, err
		}
		s.mu.Lock()
		d := s.documents[p.TextDocument.URI]
		if d == nil {
			s.mu.Unlock()
			return nil, nil //nolint:nilnil // the protocol's result for nothing
		}
		asked := &place{text: d.text, good: d.good, params: p}
		s.mu.Unlock()
		asked.offset = asked.text.offset(p.Position)
		return f(s, asked)
	}
}

func (s *server) initialize(context.Context, *jrpc2.Request) (any, error) {
	return capabilities(s.options.Version), nil
}

func (s *server) cancel(_ context.Context, r *jrpc2.Request) (any, error) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if err := r.UnmarshalParams(&p); err != nil {
		return nil, err
	}
	s.rpc.CancelRequest(string(p.ID))
	return nil, nil //nolint:nilnil // notifications have no result
}
