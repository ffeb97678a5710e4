package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestGather holds back the first bytes, and sends them with what comes next, or with flush.
func TestGather(t *testing.T) {
	c, peer := connect(t)
	write := func(text, held string) {
		t.Helper()
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
		if string(c.held) != held {
			t.Fatalf("%q is held, want %q", c.held, held)
		}
	}
	arrives := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(peer, got); err != nil || string(got) != want {
			t.Fatalf("%q arrives, %v, want %q", got, err, want)
		}
	}
	flush := func() {
		t.Helper()
		if err := c.flush(); err != nil {
			t.Fatal(err)
		}
	}
	write("not gathered ", "")
	c.gather()
	write("head ", "head ")
	write("body ", "")
	flush()
	arrives("not gathered head body ")
	c.gather()
	write("short", "short")
	flush()
	flush()
	arrives("short")
	large := strings.Repeat("x", heldMax+1)
	c.gather()
	write(large, "")
	flush()
	arrives(large)
}

// TestAnswerSizes reads answers of sizes about those of net/http's buffers, several on one connection.
func TestAnswerSizes(t *testing.T) {
	address, _ := listen(t)
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	reader := bufio.NewReader(client)
	sizes := []int{1, 10_000, 300_000}
	for n := gatherMin - 100; n < heldMax+100; n += 37 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		item := `{"a":{"S":"` + strings.Repeat("x", n) + `"}}`
		body := `{"TableName":"echo","Key":` + item + `}`
		fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: test\r\nContent-Type: %s\r\n%s: DynamoDB_20120810.GetItem\r\nContent-Length: %d\r\n\r\n%s",
			awsJSON[0], headerTarget, len(body), body)
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if want := `{"Item":` + item + `}`; err != nil || string(got) != want {
			t.Fatalf("%d bytes: got %.60q…, %v", n, got, err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// connect returns the two ends of a connection.
func connect(t *testing.T) (c *conn, peer net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	peer, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := Listener(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = peer.Close(), accepted.Close(), l.Close() })
	return accepted.(*conn), peer
}
