package overload

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestConnectionsLeaveDescriptorsToTheStore: clients that connect and send nothing cannot take the descriptors with
// which the store opens files, so writes succeed beside them and after them.
func TestConnectionsLeaveDescriptorsToTheStore(t *testing.T) {
	const descriptors, silent, largeItem = 256, 300, 390_000
	limited := filepath.Join(t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/sh\nulimit -n %d\nexec %s \"$@\"\n", descriptors, serverproc.Build(t))
	if err := os.WriteFile(limited, []byte(script), 0o700); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	server := serverproc.Start(t, limited, "--data", t.TempDir(), "--memory-limit", limitFlag)
	c := clientOf(server.Endpoint)
	defer c.http.CloseIdleConnections()
	c.createTables(t)

	var conns []net.Conn
	for range silent {
		conn, err := net.Dial("tcp", c.address) //nolint:noctx // loopback
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	puts := func(from, to int) {
		for i := from; i < to; i++ {
			c.must(t, "PutItem", put("other", "silent", fmt.Sprint(i), largeItem))
		}
	}
	puts(0, 200) // many memtables: the store creates files
	for _, conn := range conns {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	puts(200, 220)
	server.Stop(t)
}
