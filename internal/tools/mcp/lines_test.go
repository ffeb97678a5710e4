package mcp_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/tools/mcp"
)

// TestInvalidMessage tests that an invalid message is answered with an error, and the next message
// normally.
func TestInvalidMessage(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- mcp.Serve(t.Context(), in, out, mcp.Options{Root: root}) }()
	responses := bufio.NewReader(fromServer)
	ask := func(line, want string) {
		t.Helper()
		go func() { _, _ = fmt.Fprintln(toServer, line) }()
		if response, err := responses.ReadString('\n'); err != nil || !strings.Contains(response, want) {
			t.Fatalf("%.60q: got %q, %v; want %q", line, response, err, want)
		}
	}
	const invalid = `"id":null,"error":{"code":-32600`
	ask("{{{{", `"id":null,"error":{"code":-32700`)
	ask("\xff\xfe", `"code":-32700`)
	ask("[]", invalid)
	ask("null", invalid)
	ask("7", invalid)
	ask("{}", invalid)
	ask(`{"jsonrpc":"2.0","id":{},"method":"ping"}`, invalid)
	ask(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "batches are not supported")
	ask(strings.Repeat("x", 5<<20), "a message can have at most 4194304 bytes")
	ask("\n"+`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"id":1,"result"`)
	ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `"id":2,"result"`)
	_ = toServer.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
