package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/tools/mcp"
)

// TestTimeOfTest tests that a call of test ends in time and names the patterns that were not run.
func TestTimeOfTest(t *testing.T) {
	root, err := os.OpenRoot("../../../test/generated/designs")
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.Serve(t.Context(), in, out, mcp.Options{Root: root, TestTime: time.Nanosecond})
		_ = out.Close()
	}()
	go func() {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test","arguments":{"file":"shop.design.yaml","run":"^Order"}}}`,
		} {
			if _, err := fmt.Fprintln(toServer, line); err != nil {
				t.Error(err)
			}
		}
		_ = toServer.Close()
	}()
	var response struct {
		ID     any
		Result struct {
			StructuredContent struct {
				OK         bool
				Results    []any
				Unfinished []string
			}
		}
	}
	responses := bufio.NewScanner(fromServer)
	for responses.Scan() {
		if err := json.Unmarshal(responses.Bytes(), &response); err != nil {
			t.Fatal(err)
		}
	}
	got := response.Result.StructuredContent
	if all := strings.Join(got.Unfinished, " "); got.OK || len(got.Results) > 0 || all != "Order OrderItem OrdersOf OrderWithItems" {
		t.Errorf("got %+v, want only unfinished patterns", response)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
