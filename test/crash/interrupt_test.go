package crash

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/monotable/monotable/test/internal/serverproc"
)

// TestSecondInterrupt: a server that gives a request in progress time to end stops at once at another Ctrl-C.
func TestSecondInterrupt(t *testing.T) {
	s := serverproc.Start(t, serverproc.Build(t), "--memory")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.Endpoint, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const request = "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
	if _, err := fmt.Fprint(conn, request); err != nil {
		t.Fatal(err)
	}
	// The server has begun with the request when it asks for the body. It would close a connection without a request at once.
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server responded %q (%v) instead of asking for the body", line, err)
	}
	s.Signal(t, os.Interrupt)
	s.Printed(t, "stopping")
	s.StopAtOnce(t)
	if status, printed := s.Wait(t); status != -1 {
		t.Errorf("ended with status %d instead of by the signal:\n%s", status, printed)
	}
}
