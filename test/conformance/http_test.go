package conformance

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/dynamo/api"
	httpserver "github.com/monotable/monotable/internal/database/server"
)

// These tests are about connections: bytes over a socket to the HTTP server that monotable serve runs. Tests of single requests
// and responses are in testdata/http.

// listen serves an empty database and returns its address.
func listen(t *testing.T) string {
	t.Helper()
	db, err := monotable.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httpserver.HTTPServer(db.Handler(), slog.New(slog.DiscardHandler))
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		err := s.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// connection is one socket, with what has been read from it.
type connection struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func dial(t *testing.T, address string) *connection {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &connection{conn, t, bufio.NewReader(conn)}
}

// send writes without waiting for a response; a server may close a connection during the write.
func (c *connection) send(text string) { _, _ = io.WriteString(c, text) }

// receive reads one response and checks what every response must have: a request id of the right form, and the checksum of the
// bytes as sent.
func (c *connection) receive() *response {
	c.t.Helper()
	got, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	if err := errors.Join(err, got.Body.Close()); err != nil {
		c.t.Fatal(err)
	}
	a := &response{got.StatusCode, got.Header, body}
	a.check(c.t)
	return a
}

var requestID = regexp.MustCompile(`^[A-Z0-9]{52}$`)

func (a *response) check(t *testing.T) {
	t.Helper()
	if id := a.header.Get("X-Amzn-Requestid"); !requestID.MatchString(id) {
		t.Errorf("request id %q", id)
	}
	if got, want := a.header.Get("X-Amz-Crc32"), strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body)), 10); got != want {
		t.Errorf("checksum %s, want %s", got, want)
	}
	if got, want := a.header.Get("Content-Length"), strconv.Itoa(len(a.body)); got != want {
		t.Errorf("content length %s, want %s", got, want)
	}
	if _, err := http.ParseTime(a.header.Get("Date")); err != nil {
		t.Error(err)
	}
}

// expect compares a response's status and body.
func (a *response) expect(t *testing.T, status int, body string) {
	t.Helper()
	if a.status != status || string(a.body) != body {
		t.Errorf("status %d %.200s, want %d %.200s", a.status, a.body, status, body)
	}
}

// wireCall writes a call as on the wire; headers are whole lines.
func wireCall(operation, body string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"+
		"X-Amz-Target: DynamoDB_20120810.%s\r\n", operation)
	framed := false
	for _, h := range headers {
		b.WriteString(h + "\r\n")
		framed = framed || strings.HasPrefix(h, "Transfer-Encoding") || strings.HasPrefix(h, "Content-Length")
	}
	if !framed {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "\r\n" + body
}

const (
	noTables   = `{"TableNames":[]}`
	unreadable = `{"__type":"com.amazon.coral.service#SerializationException"}`
	internal   = `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"}`
)

// TestKeepAlive: a connection serves one request after the other, including errors.
func TestKeepAlive(t *testing.T) {
	c := dial(t, listen(t))
	for range 20 {
		c.send(wireCall("ListTables", `{}`))
		c.receive().expect(t, 200, noTables)
		c.send(wireCall("ListTables", `{`))
		c.receive().expect(t, 400, unreadable)
		c.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
		c.receive().expect(t, 404, "<UnknownOperationException/>\n")
		c.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		c.receive().expect(t, 200, "healthy: dynamodb.us-east-1.amazonaws.com ")
	}
}

// TestPipelining: pipelined requests are answered in order.
func TestPipelining(t *testing.T) {
	c := dial(t, listen(t))
	const n = 50
	var all strings.Builder
	for i := range n {
		all.WriteString(wireCall("ListTables", fmt.Sprintf(`{"Limit":%d}`, -i)))
	}
	go c.send(all.String())
	for i := range n {
		c.receive().expect(t, 400, fmt.Sprintf(`{"__type":"com.amazon.coral.validate#ValidationException","message":`+
			`"1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater `+
			`than or equal to 1"}`, -i))
	}
}

// TestChunked: a body may come in chunks, whatever their sizes.
func TestChunked(t *testing.T) {
	c := dial(t, listen(t))
	for size := 1; size < 6; size++ {
		c.send(wireCall("ListTables", chunked(`{"Limit":7}`, size), "Transfer-Encoding: chunked"))
		c.receive().expect(t, 200, noTables)
	}
}

func chunked(body string, size int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// TestExpectContinue: a client may wait for permission to send its body.
func TestExpectContinue(t *testing.T) {
	c := dial(t, listen(t))
	c.send(wireCall("ListTables", "", "Content-Length: 2", "Expect: 100-continue"))
	line, err := c.r.ReadString('\n')
	if err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := c.r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	c.send(`{}`)
	c.receive().expect(t, 200, noTables)
}

// TestHTTP10: an HTTP/1.0 client gets its response, and the connection is closed.
func TestHTTP10(t *testing.T) {
	c := dial(t, listen(t))
	c.send(strings.Replace(wireCall("ListTables", `{}`), "HTTP/1.1", "HTTP/1.0", 1))
	c.receive().expect(t, 200, noTables)
	if _, err := c.r.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection goes on: %v", err)
	}
}

// TestBodyLimit: 16 MB are accepted and a byte more is not, however the body is sent.
func TestBodyLimit(t *testing.T) {
	const limit = 16 << 20
	body := func(n int) string { return `{"Unknown":"` + strings.Repeat("a", n-len(`{"Unknown":""}`)) + `"}` }
	address := listen(t)
	for _, test := range []struct {
		name     string
		request  string
		accepted bool
	}{
		{"length", wireCall("ListTables", body(limit)), true},
		{"length", wireCall("ListTables", body(limit+1)), false},
		{"announced", wireCall("ListTables", "", "Content-Length: 9000000000000"), false},
		{"chunked", wireCall("ListTables", chunked(body(limit), 1<<16), "Transfer-Encoding: chunked"), true},
		{"chunked", wireCall("ListTables", chunked(body(limit+1), 1<<16), "Transfer-Encoding: chunked"), false},
		{"gzip", wireCall("ListTables", gzipped(body(limit)), "Content-Encoding: gzip"), true},
		{"gzip", wireCall("ListTables", gzipped(body(limit+1)), "Content-Encoding: gzip"), false},
		{"unknown target", wireCall("Nothing", body(limit+1)), false},
	} {
		c := dial(t, address)
		go c.send(test.request)
		a := c.receive()
		switch {
		case test.accepted:
			a.expect(t, 200, noTables)
		case a.status != http.StatusRequestEntityTooLarge:
			t.Errorf("%s: %d %.200s", test.name, a.status, a.body)
		}
	}
}

// TestHeaderLimit: request line and headers of 15 KB are accepted, 24 KB are not.
func TestHeaderLimit(t *testing.T) {
	address := listen(t)
	c := dial(t, address)
	c.send(wireCall("ListTables", `{}`, "X-Long: "+strings.Repeat("a", 15<<10)))
	c.receive().expect(t, 200, noTables)
	long := strings.Repeat("a", 24<<10)
	for _, request := range []string{
		wireCall("ListTables", `{}`, "X-Long: "+long),
		"GET /" + long + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		c := dial(t, address)
		c.send(request)
		response, err := http.ReadResponse(c.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", response.StatusCode)
		}
	}
}

// TestCompressedRequests: gzip and deflate are supported, including gzip with several members and trailing garbage; broken
// streams and other encodings are an InternalServerError, as on AWS.
func TestCompressedRequests(t *testing.T) {
	deflated := func(text string) string {
		return written(text, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	}
	whole := gzipped(`{"Limit":5}`)
	for _, test := range []struct {
		name, encoding, body string
		status               int
		response             string
	}{
		{"gzip", "gzip", whole, 200, noTables},
		{"capitals", "GZIP", whole, 200, noTables},
		{"members", "gzip", gzipped(`{"Lim`) + gzipped(`it":5}`), 200, noTables},
		{"empty members", "gzip", gzipped("") + whole + gzipped(""), 200, noTables},
		{"deflate", "deflate", deflated(`{"Limit":5}`), 200, noTables},
		{"bad JSON inside", "gzip", gzipped(`{"Limit":`), 400, unreadable},
		{"empty inside", "gzip", gzipped(""), 400, unreadable},
		{"not gzip", "gzip", `{"Limit":5}`, 500, internal},
		{"cut off", "gzip", whole[:len(whole)-9], 500, internal},
		{"bad checksum", "gzip", whole[:len(whole)-8] + "\x00\x00\x00\x00" + whole[len(whole)-4:], 500, internal},
		{"garbage after", "gzip", whole + "garbage", 200, noTables},
		{"unknown encoding", "garbage", `{"Limit":5}`, 500, internal},
		{"not deflate", "deflate", `{"Limit":5}`, 500, internal},
		{"unnamed gzip", "identity", whole, 400, unreadable},
	} {
		c := dial(t, listen(t))
		c.send(wireCall("ListTables", test.body, "Content-Encoding: "+test.encoding))
		a := c.receive()
		if a.status != test.status || string(a.body) != test.response {
			t.Errorf("%s: %d %s", test.name, a.status, a.body)
		}
	}
}

func gzipped(text string) string {
	return written(text, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func written(text string, open func(io.Writer) io.WriteCloser) string {
	var b bytes.Buffer
	w := open(&b)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return b.String()
}

// TestCompressedResponses: only a large response is compressed, only for clients that accept it, and the checksum is that of the
// compressed bytes (checked by receive).
func TestCompressedResponses(t *testing.T) {
	c := dial(t, listen(t))
	c.send(wireCall("CreateTable", `{"TableName":"tbl","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],`+
		`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`))
	if a := c.receive(); a.status != http.StatusOK {
		t.Fatalf("%s", a.body)
	}
	for pk, n := range map[string]int{"small": 100, "large": 100_000} {
		c.send(wireCall("PutItem", fmt.Sprintf(`{"TableName":"tbl","Item":{"pk":{"S":%q},"a":{"S":%q}}}`, pk, strings.Repeat("a", n))))
		c.receive().expect(t, 200, `{}`)
	}
	for _, test := range []struct{ pk, accept, want string }{
		{"small", "gzip", ""},
		{"large", "gzip", "gzip"},
		{"large", "gzip, deflate", "gzip"},
		{"large", "deflate", "deflate"},
		{"large", "deflate;q=0.5", "deflate"},
		{"large", "gzip;q=0", ""},
		{"large", "br", ""},
		{"large", "identity", ""},
		{"large", "", ""},
	} {
		get := fmt.Sprintf(`{"TableName":"tbl","Key":{"pk":{"S":%q}}}`, test.pk)
		c.send(wireCall("GetItem", get, "Accept-Encoding: "+test.accept))
		a := c.receive()
		if got := a.header.Get("Content-Encoding"); got != test.want {
			t.Errorf("%+v: encoding %q", test, got)
			continue
		}
		text := uncompressed(t, test.want, a.body)
		if !strings.HasPrefix(text, `{"Item":{`) || !strings.Contains(text, test.pk) {
			t.Errorf("%+v: %.100s", test, text)
		}
	}
}

func uncompressed(t *testing.T, encoding string, body []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(body)
	var err error
	switch encoding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "deflate":
		r, err = zlib.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBytes: bodies that scripts cannot hold.
func TestBytes(t *testing.T) {
	c := dial(t, listen(t))
	for name, body := range map[string]string{
		"byte order mark":   "\xef\xbb\xbf{}",
		"UTF-16":            "{\x00}\x00",
		"bad UTF-8":         "{\"ExclusiveStartTableName\":\"ab\xff\"}",
		"overlong UTF-8":    "{\"ExclusiveStartTableName\":\"ab\xc0\xaf\"}",
		"surrogate":         "{\"ExclusiveStartTableName\":\"ab\xed\xa0\x80\"}",
		"cut-off UTF-8":     "{\"ExclusiveStartTableName\":\"ab\xe2\x82\"}",
		"control character": "{\"ExclusiveStartTableName\":\"ab\x01\"}",
		"zero bytes":        "\x00\x00",
		"zero byte after":   "{}\x00",
		"form feed":         "{}\f",
	} {
		c.send(wireCall("ListTables", body))
		a := c.receive()
		if a.status != http.StatusBadRequest || string(a.body) != unreadable {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

// TestBrokenConnections: a client that disconnects at any point leaves the server intact.
func TestBrokenConnections(t *testing.T) {
	address := listen(t)
	whole := wireCall("ListTables", `{"Limit":1}`)
	for n := range len(whole) {
		c := dial(t, address)
		c.send(whole[:n])
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := dial(t, address)
	c.send(whole)
	c.receive().expect(t, 200, noTables)
}

// TestHTTP2: the same over HTTP/2 without TLS.
func TestHTTP2(t *testing.T) {
	address := listen(t)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	for body, want := range map[string]string{`{}`: noTables, `{`: unreadable, "": unreadable} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = plain("ListTables").header
		reply, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(reply.Body)
		if err := errors.Join(err, reply.Body.Close()); err != nil {
			t.Fatal(err)
		}
		a := &response{reply.StatusCode, reply.Header, got}
		a.check(t)
		if reply.ProtoMajor != 2 || string(got) != want {
			t.Errorf("%s %d %s, want %s", reply.Proto, reply.StatusCode, got, want)
		}
	}
}

// TestOperations: the operations that the server claims to have are served, and the SDK's others are unknown.
func TestOperations(t *testing.T) {
	served := map[string]bool{}
	for _, o := range api.Operations() {
		served[o.Name] = true
	}
	s := newServer(t)
	const unknown = `{"__type":"com.amazon.coral.service#UnknownOperationException"`
	for _, operation := range operationsOfSDK() {
		a, err := s.request(context.WithoutCancel(t.Context()), plain(operation), `{}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := !strings.HasPrefix(string(a.body), unknown); got != served[operation] {
			t.Errorf("%s: %d %s", operation, a.status, a.body)
		}
	}
}

// operationsOfSDK returns the methods of the client that take an input.
func operationsOfSDK() []string {
	var names []string
	for m := range reflect.TypeFor[*dynamodb.Client]().Methods() {
		if m.Type.NumIn() == 4 && m.Type.NumOut() == 2 && m.Type.Out(1) == reflect.TypeFor[error]() {
			names = append(names, m.Name)
		}
	}
	return names
}
