package server

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/identity/policy"
	"github.com/monotable/monotable/internal/httpguard"
)

// pipelineEngine answers GetItem depending on the table's name, to show what the server does with each kind of result. The other
// operations are not called here; other tests cover them.
type pipelineEngine struct {
	Engine
}

func (pipelineEngine) GetItem(ctx context.Context, in *api.GetItemInput) (*api.GetItemOutput, error) {
	switch *in.TableName {
	case "echo":
		return &api.GetItemOutput{Item: itemenc.Encode(nil, in.Key)}, nil
	case "large":
		item := attr.Item{{Name: "a", Value: attr.String(strings.Repeat("monotable ", 1000))}}
		return &api.GetItemOutput{Item: itemenc.Encode(nil, item)}, nil
	case "absent":
		return nil, apierr.NotFound.With()
	case "unlisted":
		return nil, apierr.New(apierr.ConditionalCheckFailedException, "not an error of GetItem")
	case "panic":
		panic("the engine panics")
	case "corrupt":
		return &api.GetItemOutput{Item: itemenc.Item{1, 2, 3}}, nil
	case "nothing":
		return nil, nil //nolint:nilnil // what must not be, shown to the server
	case "cancelled":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	default:
		return nil, errors.New("the disk is gone")
	}
}

func (pipelineEngine) TagResource(context.Context, *api.TagResourceInput) (*api.TagResourceOutput, error) {
	return &api.TagResourceOutput{}, nil
}

func (pipelineEngine) DescribeEndpoints(context.Context, *api.DescribeEndpointsRequest) (*api.DescribeEndpointsResponse, error) {
	return &api.DescribeEndpointsResponse{Endpoints: []api.Endpoint{{CachePeriodInMinutes: new(int64(1440))}}}, nil
}

// TestHTTP sends the requests in the scripts over a connection, and prints the responses. Host and Content-Length are added if
// they are missing. A response's checksum and request id are checked and printed as "valid"; its date is omitted.
func TestHTTP(t *testing.T) {
	address, logged := listen(t)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		if strings.HasPrefix(path, "testdata/fuzz/") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			logged.take()
			response := exchangeText(t, address, d.Input)
			if d.HasArg("log") {
				response += "\n" + messages(logged.take())
			}
			return response
		})
	})
}

// listen serves a pipelineEngine and returns its address and its log.
func listen(t *testing.T) (string, *logBuffer) {
	t.Helper()
	logged := new(logBuffer)
	logger := slog.New(slog.NewTextHandler(logged, nil))
	guard, err := httpguard.New([]string{"db.example.com"}, []string{"https://app.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	s := HTTPServer(New(pipelineEngine{}, Options{Logger: logger, Guard: guard}), logger)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String(), logged
}

// logBuffer is a log for concurrent writers.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// take returns what was written since the last call.
func (b *logBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return b.text.String()
}

// messages returns the log's messages and errors, without times and ids.
func messages(log string) string {
	var b strings.Builder
	for _, m := range regexp.MustCompile(`level=(\w+) msg=("[^"]*").*?(?: (?:error|panic)=("[^"]*"))?( stack=.*)?\n`).FindAllStringSubmatch(log, -1) {
		fmt.Fprintf(&b, "log: %s %s %s\n", m[1], m[2], m[3])
	}
	return b.String()
}

func exchangeText(t *testing.T, address, request string) string {
	t.Helper()
	head, body, _ := strings.Cut(request+"\n", "\n\n")
	head = strings.TrimSuffix(head, "\n")
	body = strings.TrimSuffix(body, "\n")
	if !strings.Contains(head, "Host:") {
		head += "\nHost: db:8000"
	}
	if body != "" && !strings.Contains(head, "Content-Length:") {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	return send(t, address, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body)
}

func send(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, request) }()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return printed(t, response, body)
}

var requestIDs = regexp.MustCompile(`^[A-Z0-9]{52}$`)

func printed(t *testing.T, response *http.Response, body []byte) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", response.Proto, response.Status)
	h := response.Header
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value := h.Get(name)
		switch name {
		case "Date":
			continue
		case headerRequestID:
			if requestIDs.MatchString(value) {
				value = "valid"
			}
		case headerChecksum:
			if value == strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10) {
				value = "valid"
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", name, value)
	}
	if len(body) > 400 {
		return fmt.Sprintf("%s%d bytes", b.String(), len(body))
	}
	if len(body) > 0 {
		fmt.Fprintf(&b, "%s\n", bytes.TrimSuffix(body, []byte("\n")))
	}
	return b.String()
}

func call(t *testing.T, h http.Handler, body io.Reader, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", body)
	r.Header.Set(headerContentType, "application/x-amz-json-1.0")
	r.Header.Set(headerTarget, "DynamoDB_20120810.GetItem")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	checksum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(w.Body.Bytes())), 10)
	if got := w.Header().Get(headerChecksum); got != checksum {
		t.Errorf("checksum %s, want %s", got, checksum)
	}
	return w
}

const getLarge = `{"TableName":"large","Key":{}}`

// TestCompressedResponses: a response beyond 4 KB is compressed for clients that accept it, with the same content.
func TestCompressedResponses(t *testing.T) {
	h := New(pipelineEngine{}, Options{})
	plain := call(t, h, strings.NewReader(getLarge), nil).Body.String()
	for accept, want := range map[string]string{
		"gzip": "gzip", "deflate": "deflate", "GZip": "gzip", "deflate, gzip;q=0.5": "deflate", "gzip;q=0, deflate": "deflate",
		"": "", "identity": "", "br": "", "gzip;q=0": "", "gzip;q=-1": "", "*;q=0": "",

		"br, identity, deflate, gzip": "deflate", "deflate;q=0.5, gzip;q=0.2": "deflate", "deflate;q=0.5, gzip;q=2": "gzip",
		"*": "gzip", "*, deflate;q=0.5": "gzip", "*, identity": "gzip", "*;q=0.5,identity": "gzip",
		"*, gzip;q=0.5": "deflate", "*, gzip;q=0": "deflate", "*, deflate": "deflate", "*;q=0, gzip": "gzip",
		"gzip;q=0, gzip": "gzip", "gzip;q=x": "gzip", "gzip;q = 0": "gzip", "gzip;Q=0": "",
		"gzip;q= 0;q=1": "", "gzip; q=0;q=1": "", "gzip;nq=0;q=1": "",
	} {
		w := call(t, h, strings.NewReader(getLarge), map[string]string{"Accept-Encoding": accept})
		if got := w.Header().Get(headerEncoding); got != want {
			t.Errorf("%q: Content-Encoding %q, want %q", accept, got, want)
		}
		if got := w.Header().Get(headerContentLength); got != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%q: Content-Length %s of %d bytes", accept, got, w.Body.Len())
		}
		body, err := unpack(want, w.Body)
		if err != nil || string(body) != plain {
			t.Errorf("%q: %d bytes, %v", accept, len(body), err)
		}
	}
	w := call(t, h, strings.NewReader(`{"TableName":"echo","Key":{}}`), map[string]string{"Accept-Encoding": "gzip"})
	if w.Header().Get(headerEncoding) != "" {
		t.Error("a small response was compressed")
	}
}

// FuzzAcceptEncoding compares the selection with a second implementation of the rule: the first of the elements with the greatest
// weight, names before "*".
func FuzzAcceptEncoding(f *testing.F) {
	for _, header := range []string{
		"", "gzip", "deflate, gzip;q=0.5", "*, gzip;q=0", "gzip;q= 0;q=1", "gzip;nq=0;q=1", "GZip , br;q=nan", "*;q=0.5,identity", "gzip;q=1e-400", "gzip;q=0x1p-2",
	} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		type element struct {
			name   string
			weight float64
		}
		var all []element
		names := map[string]bool{}
		for text := range strings.SplitSeq(strings.ToLower(header), ",") {
			e := element{strings.TrimSpace(strings.SplitN(text, ";", 2)[0]), 1}
			names[e.name] = true
			if _, after, found := strings.Cut(text, "q="); found {
				if q, err := strconv.ParseFloat(strings.TrimSpace(strings.SplitN(after, ";", 2)[0]), 64); err == nil && q < 1 {
					e.weight = q
				}
			}
			if e.weight > 0 && slices.Contains([]string{"gzip", "deflate", "*"}, e.name) {
				all = append(all, e)
			}
		}
		slices.SortStableFunc(all, func(a, b element) int {
			isStar := func(e element) int {
				if e.name == "*" {
					return 1
				}
				return 0
			}
			return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(isStar(a), isStar(b)))
		})
		want := ""
		switch {
		case len(all) == 0:
		case all[0].name != "*":
			want = all[0].name
		case names["gzip"]:
			want = "deflate"
		default:
			want = "gzip"
		}
		if got := acceptedEncoding(header); got != want {
			t.Fatalf("%q: %q, want %q", header, got, want)
		}
	})
}

func unpack(encoding string, body io.Reader) ([]byte, error) {
	var err error
	switch encoding {
	case "gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(body)
}

// TestCompressedRequests: gzip, including several members and trailing garbage, and deflate are decompressed; a broken stream and
// an unknown encoding are the one case in which AWS responds to a client's error with a 500.
func TestCompressedRequests(t *testing.T) {
	h := New(pipelineEngine{}, Options{})
	const body = `{"TableName":"echo","Key":{"a":{"S":"x"}}}`
	half := string(compress(nil, "gzip", []byte(body[:10]))) + string(compress(nil, "gzip", []byte(body[10:])))
	for name, c := range map[string]struct {
		encoding, body string
		status         int
	}{
		"gzip":        {"gzip", string(compress(nil, "gzip", []byte(body))), http.StatusOK},
		"two members": {"gzip", half, http.StatusOK},
		"deflate":     {"deflate", string(compress(nil, "deflate", []byte(body))), http.StatusOK},
		"capitals":    {"GZIP", string(compress(nil, "gzip", []byte(body))), http.StatusOK},
		"identity":    {"identity", body, http.StatusOK},
		"junk":        {"gzip", string(compress(nil, "gzip", []byte(body))) + "junk", http.StatusOK},
		"zeros":       {"gzip", half + "\x00\x00\x00", http.StatusOK},
		"no gzip":     {"gzip", body, http.StatusInternalServerError},
		"cut off":     {"gzip", half[:len(half)-5], http.StatusInternalServerError},
		"unknown":     {"garbage", body, http.StatusInternalServerError},
		"brotli":      {"br", body, http.StatusInternalServerError},
		"twice":       {"gzip, gzip", string(compress(nil, "gzip", compress(nil, "gzip", []byte(body)))), http.StatusInternalServerError},
	} {
		w := call(t, h, strings.NewReader(c.body), map[string]string{headerEncoding: c.encoding})
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, w.Code, c.status, w.Body)
		}
	}
}

// TestBodyLimit: a body may have 16 MB, whether or not its length is declared, and whether or not it is compressed.
func TestBodyLimit(t *testing.T) {
	h := New(pipelineEngine{}, Options{})
	fits := []byte(`{"TableName":"echo","Key":{},"X":"`)
	fits = append(fits, bytes.Repeat([]byte("x"), bodyMax-len(fits)-2)...)
	fits = append(fits, `"}`...)
	for length, want := range map[int]int{bodyMax: http.StatusOK, bodyMax + 1: http.StatusRequestEntityTooLarge} {
		body := append(fits, ' ')[:length]
		if w := call(t, h, bytes.NewReader(body), nil); w.Code != want {
			t.Errorf("%d bytes declared: status %d", length, w.Code)
		}
		if w := call(t, h, io.MultiReader(bytes.NewReader(body)), nil); w.Code != want {
			t.Errorf("%d bytes undeclared: status %d", length, w.Code)
		}
		packed := compress(nil, "gzip", body)
		if w := call(t, h, bytes.NewReader(packed), map[string]string{headerEncoding: "gzip"}); w.Code != want {
			t.Errorf("%d bytes compressed: status %d", length, w.Code)
		}
	}
}

// TestDisconnectedClientIsNotAnError: a client that disconnects is not an error of the server.
func TestDisconnectedClientIsNotAnError(t *testing.T) {
	logged := new(bytes.Buffer)
	h := New(pipelineEngine{}, Options{Logger: slog.New(slog.NewTextHandler(logged, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/", strings.NewReader(`{"TableName":"cancelled","Key":{}}`))
	r.Header.Set(headerContentType, "application/x-amz-json-1.0")
	r.Header.Set(headerTarget, "DynamoDB_20120810.GetItem")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if logged.Len() > 0 {
		t.Errorf("logged: %s", logged)
	}
}

// calledNames records the names of operations and the codes of their errors.
type calledNames []string

func (*calledNames) Parameters(api.Operation, any) json.RawMessage { return nil }

func (*calledNames) Admit(api.Operation) error { return nil }

func (c *calledNames) Record(a *Audited) error {
	*c = append(*c, a.Operation.Name+" "+string(a.Err.Code))
	return nil
}

func (*calledNames) RecordForm(*Audited, url.Values, []byte) error { return nil }

// TestPanicIsRecorded: a call that panics may have changed something, so it is recorded, once.
func TestPanicIsRecorded(t *testing.T) {
	var recorded calledNames
	h := New(pipelineEngine{}, Options{Auditor: &recorded})
	w := call(t, h, strings.NewReader(`{"TableName":"panic","Key":{}}`), nil)
	if w.Code != http.StatusInternalServerError || !slices.Equal(recorded, calledNames{"GetItem InternalServerError"}) {
		t.Errorf("status %d, recorded %q", w.Code, recorded)
	}
}

// TestPanics: a panic gets a response, is counted, and leaves the server working.
func TestPanics(t *testing.T) {
	h := New(pipelineEngine{}, Options{})
	for range 2 {
		w := call(t, h, strings.NewReader(`{"TableName":"panic","Key":{}}`), nil)
		if w.Code != http.StatusInternalServerError {
			t.Errorf("status %d", w.Code)
		}
	}
	if n := h.Panics(); n != 2 {
		t.Errorf("%d panics counted", n)
	}
	if w := call(t, h, strings.NewReader(`{"TableName":"echo","Key":{}}`), nil); w.Code != http.StatusOK {
		t.Errorf("status %d afterwards", w.Code)
	}
}

// denying rejects every request and records its calls.
type denying struct{ body string }

func (d *denying) Authenticate(_ *http.Request, body []byte) (*policy.Principal, error) {
	d.body = string(body)
	return nil, apierr.New(apierr.UnrecognizedClientException, "The security token included in the request is invalid.")
}

// TestAuthenticator: it gets the body as sent, before the body is parsed.
func TestAuthenticator(t *testing.T) {
	d := new(denying)
	h := New(pipelineEngine{}, Options{Authenticator: d})
	w := call(t, h, strings.NewReader("no json"), map[string]string{headerEncoding: "gzip"})
	want := `{"__type":"com.amazon.coral.service#UnrecognizedClientException",` +
		`"message":"The security token included in the request is invalid."}`
	if w.Code != http.StatusBadRequest || w.Body.String() != want || d.body != "no json" {
		t.Errorf("%d %s, shown %q", w.Code, w.Body, d.body)
	}
}

// permitting identifies everybody as ana, who may do all but one operation.
type permitting struct {
	forbidden string
	asked     []string
}

func (p *permitting) Authenticate(*http.Request, []byte) (*policy.Principal, error) {
	return &policy.Principal{Username: "ana"}, nil
}

func (p *permitting) Authorize(_ context.Context, who *policy.Principal, _ *http.Request, region string, op api.Operation, in any) error {
	p.asked = append(p.asked, fmt.Sprintf("%s %s %s %T", who.Username, region, op.Name, in))
	if op.Name == p.forbidden {
		return apierr.New(apierr.AccessDeniedException, "no")
	}
	return nil
}

// TestAuthorizer is only called for valid inputs, with their sender, and not for the owner.
func TestAuthorizer(t *testing.T) {
	p := &permitting{forbidden: "GetItem"}
	h := New(pipelineEngine{}, Options{Region: "eu-west-1", Authenticator: p, Authorizer: p})
	const valid, invalid = `{"TableName":"echo","Key":{}}`, `{"Key":{}}`
	if w := call(t, h, strings.NewReader(invalid), nil); w.Code != http.StatusBadRequest || len(p.asked) != 0 {
		t.Errorf("%d %s, asked %v", w.Code, w.Body, p.asked)
	}
	want := `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}`
	if w := call(t, h, strings.NewReader(valid), nil); w.Code != http.StatusBadRequest || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := strings.Join(p.asked, "\n"); got != "ana eu-west-1 GetItem *api.GetItemInput" {
		t.Error(got)
	}
	if w := call(t, h.Owner(), strings.NewReader(valid), nil); w.Code != http.StatusOK || len(p.asked) != 1 {
		t.Errorf("%d %s, asked %v", w.Code, w.Body, p.asked)
	}
}

// TestEveryOperation: the API's table and the server's have the same operations.
func TestEveryOperation(t *testing.T) {
	table := operationsByTarget()
	for _, o := range api.Operations() {
		if _, ok := table[o.Target()]; !ok {
			t.Errorf("%s has no method", o.Name)
		}
	}
	if len(table) != len(methods) {
		t.Errorf("%d operations, %d methods", len(table), len(methods))
	}
}

// TestHTTP2 speaks HTTP/2 without TLS.
func TestHTTP2(t *testing.T) {
	address, _ := listen(t)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.ProtoMajor != 2 || string(body) != "healthy: dynamodb.us-east-1.amazonaws.com " {
		t.Errorf("%s: %q, %v", response.Proto, body, err)
	}
}

// TestAuthorityOfHTTP2: a host in the pseudo-header :authority is rejected as in HTTP/1.1.
func TestAuthorityOfHTTP2(t *testing.T) {
	address, _ := listen(t)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	for host, want := range map[string]int{"evil.example.org": http.StatusForbidden, "db.example.com": http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		response, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if response.ProtoMajor != 2 || response.StatusCode != want {
			t.Errorf("%s: %s %s, want %d", host, response.Proto, response.Status, want)
		}
	}
}

// TestHostOfAuthenticated: a server that checks credentials responds under every name.
func TestHostOfAuthenticated(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://db.example.org/", http.NoBody)
	w := httptest.NewRecorder()
	New(pipelineEngine{}, Options{Authenticator: new(denying)}).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}

// TestChunked sends a body in chunks, without its length.
func TestChunked(t *testing.T) {
	address, _ := listen(t)
	response := send(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\n"+
		"X-Amz-Target: DynamoDB_20120810.GetItem\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"10\r\n{\"TableName\":\"ec\r\nd\r\nho\",\"Key\":{}}\r\n0\r\n\r\n")
	if !strings.HasPrefix(response, "HTTP/1.1 200 ") || !strings.HasSuffix(response, "\n{\"Item\":{}}\n") {
		t.Error(response)
	}
}

// TestHeaderLimit sends a header block of more than 16 KB.
func TestHeaderLimit(t *testing.T) {
	address, _ := listen(t)
	response := send(t, address, "GET / HTTP/1.1\r\nHost: x\r\nX-Large: "+strings.Repeat("x", 17<<10)+"\r\n\r\n")
	if !strings.HasPrefix(response, "HTTP/1.1 431 ") {
		t.Errorf("%s", response)
	}
	response = send(t, address, "GET / HTTP/1.1\r\nHost: x\r\nX-Large: "+strings.Repeat("x", 15<<10)+"\r\n\r\n")
	if !strings.HasPrefix(response, "HTTP/1.1 200 ") {
		t.Errorf("%s", response)
	}
}

func BenchmarkGetItem(b *testing.B) {
	h := New(pipelineEngine{}, Options{})
	const body = `{"TableName":"echo","Key":{"PK":{"S":"USER#0000001"},"SK":{"S":"ORDER#0000001"}}}`
	reader := strings.NewReader(body)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost/", reader)
	r.Header.Set(headerContentType, "application/x-amz-json-1.0")
	r.Header.Set(headerTarget, "DynamoDB_20120810.GetItem")
	w := &discardWriter{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		clear(w.header)
		h.ServeHTTP(w, r)
	}
	if w.status != http.StatusOK {
		b.Fatal(w.status)
	}
}

// discardWriter is an http.ResponseWriter that keeps the status only.
type discardWriter struct {
	header http.Header
	status int
}

func (w *discardWriter) Header() http.Header         { return w.header }
func (w *discardWriter) WriteHeader(status int)      { w.status = status }
func (w *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
