// Package mcp serves designs to language models by the Model Context Protocol: tools that check, explain, price and test
// designs, and, with a design and a database, one tool for each of its access patterns.
//
// # Model
//
//	model ──tools/call──▶ check, explain, cost, test ──▶ packages check, explain, cost, trial
//	                 ╰──▶ OrdersOf, PlaceOrder, …    ──call──▶ table.DB ──▶ the database
//
// A pattern's tool has the pattern's inputs as its schema, and the pattern's documentation, request and cost as its
// description. A model can only read and write what the design allows: no Scan, no invented keys, no item without its
// copies and counters.
//
// # Invariants
//
//	I1  Reads are marked as read-only, writes as destructive. With ReadOnly there are no writes.
//	I2  Secrets are accepted but never returned.
//	I3  Only files below one directory are read.
//	I4  Neither a panic in a call nor an invalid message stops the server; both get an error response.
//	I5  At the end of the stream, pending calls complete and get a response.
package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/call"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// Options configure a server.
type Options struct {
	Version string
	// Root is the directory from which designs may be read.
	Root *os.Root
	// File is the default design of calls that name none; "" for none.
	File string
	// Client is the database for the patterns of the design, Tables the real names of its tables; if Client is nil,
	// there are no tools for patterns.
	Client   table.Client
	Design   *design.Design
	Tables   map[string]string
	ReadOnly bool
	// Check finds the defects of a file's design; nil means check.Check.
	Check func(file string, d *design.Design) (check.Findings, error)
	// TestTime bounds a call of test; 0 means a minute, the time after which many clients give up.
	TestTime time.Duration
	Log      io.Writer
}

type server struct {
	Options
	mcp      *sdk.Server
	log      *slog.Logger
	patterns *call.Patterns
	db       *table.DB
}

// Serve serves a client until its stream or ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	to := newResponses(out)
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(copyLines(writer, in, to)) }()
	return s.mcp.Run(ctx, &sdk.IOTransport{Reader: reader, Writer: to})
}

func newServer(o Options) (*server, error) {
	if o.Check == nil {
		o.Check = func(_ string, d *design.Design) (check.Findings, error) { return check.Check(d), nil }
	}
	if o.TestTime == 0 {
		o.TestTime = time.Minute
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &server{Options: o, log: slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "monotable", Title: "monotable designs", Version: o.Version}, &sdk.ServerOptions{
		Logger:       s.log,
		Instructions: "Single-table designs for DynamoDB. Check a design after each change; explain and cost show the requests and costs of its patterns.",
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

// recovered turns a panic into an error.
func (s *server) recovered(tool string, err *error) {
	if p := recover(); p != nil {
		s.log.Error("internal error in a call", "tool", tool, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("internal error in %s: %v", tool, p)
	}
}
