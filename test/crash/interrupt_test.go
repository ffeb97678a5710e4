package crash

import (
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
	if _, err := fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	s.Signal(t, os.Interrupt)
	s.Printed(t, "stopping")
	s.StopAtOnce(t)
	if status, printed := s.Wait(t); status != -1 {
		t.Errorf("ended with status %d instead of by the signal:\n%s", status, printed)
	}
}
