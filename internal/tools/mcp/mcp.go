// Package mcp serves designs to language models by the Model Context Protocol: tools that check, explain, price and test
// designs, and, with a design and a database, one tool for each of its access patterns.
//
// # Model
//
//	model ──tools/call──▶ check, explain, cost, test ──▶ packages check, explain, cost, trial
//	                 ╰──▶ OrdersOf, PlaceOrder, …    ──call──▶ table.DB ──▶ the database
//
// A pattern's tool has the inputs of the pattern as its schema, and as its description what the design says of it with the
// request and its cost. So a model reads and writes what the design allows, and nothing else: no Scan, no key of its own
// making, no item without its copies and counters.
//
// # Invariants
//
//	I1  Reads say that they only read; writes, that they may destroy. With ReadOnly there are no writes.
//	I2  Secrets are taken and never shown.
//	I3  Files are read below one directory only.
//	I4  A panic in a call is its error and does not end the server; nor does a line that is no message, which is answered.
//	I5  At the end of the stream, the calls under way are finished and answered.
package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/call"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// Options say what is served.
type Options struct {
	Version string
	// Root is the directory from which designs may be read.
	Root *os.Root
	// File is the design that is meant where a call names none; "" for none.
	File string
	// Client is the database that the patterns of the design are for, Tables the names of its tables there; nil offers no patterns.
	Client   table.Client
	Design   *design.Design
	Tables   map[string]string
	ReadOnly bool
	// Check finds what is wrong with a design of a file; nil is check.Check.
	Check func(file string, d *design.Design) (check.Findings, error)
	Log   io.Writer
}

type server struct {
	Options
	mcp      *sdk.Server
	log      *slog.Logger
	patterns *call.Patterns
	db       *table.DB
}

// Serve answers a client until its stream or ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	to := newAnswers(out)
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(copyLines(writer, in, to)) }()
	return s.mcp.Run(ctx, &sdk.IOTransport{Reader: reader, Writer: to})
}

func newServer(o Options) (*server, error) {
	if o.Check == nil {
		o.Check = func(_ string, d *design.Design) (check.Findings, error) { return check.Check(d), nil }
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &server{Options: o, log: slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "monotable", Title: "monotable designs", Version: o.Version}, &sdk.ServerOptions{
		Logger:       s.log,
		Instructions: "Single-table designs for DynamoDB. Check a design after each change of it; explain and cost say what its patterns become.",
	})
	s.designTools()
	if o.Client == nil {
		return s, nil
	}
	var err error
	if s.patterns, err = call.New(o.Design); err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	if s.db, err = s.patterns.Open(o.Client, table.Config{Tables: o.Tables, CursorKey: key}); err != nil {
		return nil, err
	}
	s.patternTools()
	return s, nil
}

// recovered makes an error of a panic.
func (s *server) recovered(tool string, err *error) {
	if p := recover(); p != nil {
		s.log.Error("a call failed inside", "tool", tool, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("%s failed inside: %v", tool, p)
	}
}
