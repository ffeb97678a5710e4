package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// gatedEngine responds to GetItem and UpdateItem with an item of 300 KB; for the table "gated" only once the gate is open.
type gatedEngine struct {
	Engine
	gate chan struct{}
}

func (e gatedEngine) item(ctx context.Context, table string) (itemenc.Item, error) {
	if err := api.ReserveMemory(ctx, 300<<10); err != nil {
		return nil, err
	}
	if table == "gated" {
		select {
		case <-e.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return itemenc.Encode(nil, attr.Item{{Name: "a", Value: attr.String(strings.Repeat("x", 300<<10))}}), nil
}

func (e gatedEngine) GetItem(ctx context.Context, in *api.GetItemInput) (*api.GetItemOutput, error) {
	item, err := e.item(ctx, *in.TableName)
	return &api.GetItemOutput{Item: item}, err
}

func (e gatedEngine) UpdateItem(ctx context.Context, in *api.UpdateItemInput) (*api.UpdateItemOutput, error) {
	item, err := e.item(ctx, *in.TableName)
	return &api.UpdateItemOutput{Attributes: item}, err
}

// ExecuteStatement executes a SELECT of a large item, or an UPDATE that returns one.
func (e gatedEngine) ExecuteStatement(ctx context.Context, in *api.ExecuteStatementInput) (*api.ExecuteStatementOutput, error) {
	item, err := e.item(ctx, "open")
	out := &api.ExecuteStatementOutput{Items: []itemenc.Item{item}}
	out.SetReads(strings.HasPrefix(*in.Statement, "SELECT"))
	return out, err
}

func (e gatedEngine) TagResource(context.Context, *api.TagResourceInput) (*api.TagResourceOutput, error) {
	return &api.TagResourceOutput{}, nil
}

func (e gatedEngine) DescribeLimits(context.Context, *api.DescribeLimitsInput) (*api.DescribeLimitsOutput, error) {
	return &api.DescribeLimitsOutput{}, nil
}

const (
	small = `{"ResourceArn":"arn","Tags":[]}`
	gated = `{"TableName":"gated","Key":{}}`
	open  = `{"TableName":"open","Key":{}}`

	selects = `{"Statement":"SELECT * FROM open"}`
	updates = `{"Statement":"UPDATE open SET a = 1 WHERE b = 2 RETURNING ALL NEW *"}`
)

func newCall(ctx context.Context, operation string, body io.Reader) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/", body)
	r.Header.Set(headerContentType, "application/x-amz-json-1.0")
	r.Header.Set(headerTarget, "DynamoDB_20120810."+operation)
	return r
}

// perform serves a call and returns the response as a client sees it.
func perform(ctx context.Context, s *Server, operation string, body io.Reader) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, newCall(ctx, operation, body))
	return fmt.Sprintf("%d %.120s", w.Code, w.Body)
}

func wantThrottled(t *testing.T, what, got string) {
	t.Helper()
	if !strings.HasPrefix(got, `400 {"__type":"com.amazon.coral.availability#ThrottlingException"`) {
		t.Errorf("%s: %s, want ThrottlingException", what, got)
	}
}

func wantOK(t *testing.T, what, got string) {
	t.Helper()
	if !strings.HasPrefix(got, "200 ") {
		t.Errorf("%s: %s, want 200", what, got)
	}
}

func wantUnused(t *testing.T, s *Server) {
	t.Helper()
	if n := s.memory.inUse(); n != 0 {
		t.Errorf("%d bytes are reserved when no request is in flight", n)
	}
}

// TestRequestsInFlightAreBounded tests that the server accepts as many requests as fit, rejects the next one at once, and has
// room again when one is done. A request whose body has not started takes no room.
func TestRequestsInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{Memory: 4 * 2 * entryBytes})
		results := make(chan string)
		begin := func() *io.PipeWriter {
			body, w := io.Pipe()
			go func() { results <- perform(t.Context(), s, "TagResource", body) }()
			return w
		}
		var writers []*io.PipeWriter
		for range 4 {
			writers = append(writers, begin())
		}
		synctest.Wait()
		wantOK(t, "beside bodies that have not begun", perform(t.Context(), s, "TagResource", strings.NewReader(small)))
		for _, w := range writers[:2] {
			_, _ = io.WriteString(w, small[:1])
		}
		synctest.Wait()
		wantThrottled(t, "the third", perform(t.Context(), s, "TagResource", strings.NewReader(small)))
		_, _ = io.WriteString(writers[0], small[1:])
		_ = writers[0].Close()
		wantOK(t, "the first", <-results)
		wantOK(t, "in its place", perform(t.Context(), s, "TagResource", strings.NewReader(small)))
		for _, w := range writers[1:] {
			_ = w.CloseWithError(io.ErrUnexpectedEOF)
			<-results
		}
		wantUnused(t, s)
	})
}

// TestLargeBodiesWait: a body reserves memory as it arrives, not as announced; without available memory it waits, and is
// eventually throttled. Small requests are not delayed.
func TestLargeBodiesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{Memory: 4 << 20})
		large := small + strings.Repeat(" ", 600<<10)
		body, w := io.Pipe()
		first := newCall(t.Context(), "TagResource", body)
		first.ContentLength = int64(len(large))
		done := make(chan int)
		go func() {
			recorder := httptest.NewRecorder()
			s.ServeHTTP(recorder, first)
			done <- recorder.Code
		}()
		_, _ = io.WriteString(w, large[:1])
		synctest.Wait()
		if n := s.memory.inUse(); n > entryBytes {
			t.Errorf("one byte of an announced body takes %d", n)
		}
		_, _ = io.WriteString(w, large[1:400<<10])
		synctest.Wait()
		start := time.Now()
		wantThrottled(t, "a second large body", perform(t.Context(), s, "TagResource", strings.NewReader(large)))
		if waited := time.Since(start); waited != bodyWait {
			t.Errorf("it waited %v, want %v", waited, bodyWait)
		}
		wantOK(t, "a small body", perform(t.Context(), s, "TagResource", strings.NewReader(small)))
		second := make(chan string)
		go func() { second <- perform(t.Context(), s, "TagResource", strings.NewReader(large)) }()
		synctest.Wait()
		_, _ = io.WriteString(w, large[400<<10:])
		_ = w.Close()
		if code := <-done; code != http.StatusOK {
			t.Errorf("the first: status %d", code)
		}
		wantOK(t, "the second, once there is room", <-second)
		wantUnused(t, s)
	})
}

// TestThrottledBodiesTakeNoMemory: a body for which there is no memory gets no buffer before it is throttled.
func TestThrottledBodiesTakeNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{Memory: 4 << 20})
		if err := new(reservation).grow(t.Context(), &s.memory.bodies, 1<<20, 0); err != nil {
			t.Fatal(err)
		}
		large := small + strings.Repeat(" ", 600<<10)
		const requests = 50
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range requests {
			wantThrottled(t, "a large body", perform(t.Context(), s, "TagResource", strings.NewReader(large)))
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / requests; each > 3*entryBytes {
			t.Errorf("a throttled body took %d bytes, its second buffer alone would take %d", each, 4*entryBytes)
		}
	})
}

// TestDecompressedBodyCountsAgainstMemory: the decompressed size of a small body counts, too.
func TestDecompressedBodyCountsAgainstMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{Memory: 4 << 20})
		if err := new(reservation).grow(t.Context(), &s.memory.bodies, 1<<20, 0); err != nil {
			t.Fatal(err)
		}
		packed := compress(nil, "gzip", []byte(small+strings.Repeat(" ", 600<<10)))
		r := newCall(t.Context(), "TagResource", strings.NewReader(string(packed)))
		r.Header.Set(headerEncoding, "gzip")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		wantThrottled(t, "a packed body", fmt.Sprintf("%d %s", w.Code, w.Body))
	})
}

// TestOperationsWaitForMemory: an operation waits for the memory it may need, and is eventually throttled. Small ones do not wait.
func TestOperationsWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := gatedEngine{gate: make(chan struct{})}
		s := New(e, Options{Memory: 4 << 20})
		first := make(chan string)
		go func() { first <- perform(t.Context(), s, "GetItem", strings.NewReader(gated)) }()
		synctest.Wait()
		start := time.Now()
		wantThrottled(t, "a second", perform(t.Context(), s, "GetItem", strings.NewReader(open)))
		if waited := time.Since(start); waited != workWait {
			t.Errorf("it waited %v, want %v", waited, workWait)
		}
		wantOK(t, "a small one", perform(t.Context(), s, "TagResource", strings.NewReader(small)))
		second := make(chan string)
		go func() { second <- perform(t.Context(), s, "GetItem", strings.NewReader(open)) }()
		synctest.Wait()
		close(e.gate)
		wantOK(t, "the first", <-first)
		wantOK(t, "the second, once there is room", <-second)
		wantUnused(t, s)
	})
}

// TestLargeOperationsTakeTurns: as many run as there are turns, some wait, and the next is throttled at once. Options.OnLong is
// called for each one that runs.
func TestLargeOperationsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := gatedEngine{gate: make(chan struct{})}
		var running, ended atomic.Int64
		s := New(e, Options{Memory: 1 << 30, OnLong: func(begins bool) {
			if begins {
				running.Add(1)
			} else {
				running.Add(-1)
				ended.Add(1)
			}
		}})
		admitted := int(s.memory.reads.size * (1 + queuePerTurn))
		results := make(chan string, admitted)
		for range admitted {
			go func() { results <- perform(t.Context(), s, "GetItem", strings.NewReader(gated)) }()
		}
		synctest.Wait()
		start := time.Now()
		wantThrottled(t, "one too many", perform(t.Context(), s, "GetItem", strings.NewReader(gated)))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("it waited %v", waited)
		}
		if n := running.Load(); n != s.memory.reads.size {
			t.Errorf("OnLong was called for %d operations in progress, want %d", n, s.memory.reads.size)
		}
		close(e.gate)
		for range admitted {
			wantOK(t, "one that waited", <-results)
		}
		wantUnused(t, s)
		if running.Load() != 0 || ended.Load() != int64(admitted) {
			t.Errorf("OnLong was called for the end of %d operations, and %d are left, want %d and 0", ended.Load(), running.Load(), admitted)
		}
		if n := s.memory.reads.used.Load(); n != 0 {
			t.Errorf("%d turns are taken when no request is in flight", n)
		}
	})
}

// heldWriter is the response of a client that does not read until it is released.
type heldWriter struct {
	*httptest.ResponseRecorder
	let chan struct{}
}

func (w heldWriter) Write(p []byte) (int, error) {
	<-w.let
	return w.ResponseRecorder.Write(p)
}

// TestSlowReaders: unread responses have a separate pool. When it is used up, a read is throttled; a write, which has been
// executed, gets its response.
func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{Memory: 8 * 400 << 10})
		slow := heldWriter{httptest.NewRecorder(), make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.ServeHTTP(slow, newCall(t.Context(), "GetItem", strings.NewReader(open)))
		}()
		synctest.Wait()
		if n := s.memory.work.used.Load(); n != 0 {
			t.Errorf("a response in transit reserves %d bytes of the memory for operations", n)
		}
		wantThrottled(t, "a read", perform(t.Context(), s, "GetItem", strings.NewReader(open)))
		wantOK(t, "a write", perform(t.Context(), s, "UpdateItem", strings.NewReader(open)))
		wantThrottled(t, "a SELECT", perform(t.Context(), s, "ExecuteStatement", strings.NewReader(selects)))
		wantOK(t, "an UPDATE", perform(t.Context(), s, "ExecuteStatement", strings.NewReader(updates)))
		wantOK(t, "a small one", perform(t.Context(), s, "TagResource", strings.NewReader(small)))
		close(slow.let)
		<-done
		wantOK(t, "a read afterwards", perform(t.Context(), s, "GetItem", strings.NewReader(open)))
		wantUnused(t, s)
	})
}

// TestRequestTimeout: an operation that takes too long ends with an error that says so, and which clients retry.
func TestRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{Timeout: time.Minute})
		start := time.Now()
		got := perform(t.Context(), s, "GetItem", strings.NewReader(gated))
		if !strings.HasPrefix(got, "503 ") || !strings.Contains(got, "did not complete within 1m0s") || time.Since(start) != time.Minute {
			t.Errorf("after %v: %s", time.Since(start), got)
		}
	})
}

// pipeListener provides the server's ends of in-memory connections, whose deadlines follow synctest's clock.
type pipeListener struct{ conns chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	if conn, ok := <-l.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (l pipeListener) Close() error { return nil }
func (pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// dialPipe serves s and returns a connection to it.
func dialPipe(t *testing.T, s *Server) net.Conn {
	t.Helper()
	l := pipeListener{make(chan net.Conn, 1)}
	server := HTTPServer(s, s.options.Logger)
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	client, accepted := net.Pipe()
	l.conns <- accepted
	t.Cleanup(func() {
		_ = client.Close()
		close(l.conns)
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return client
}

func header(operation string, length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: db\r\nContent-Type: application/x-amz-json-1.0\r\n"+
		"X-Amz-Target: DynamoDB_20120810.%s\r\nContent-Length: %d\r\n\r\n", operation, length)
}

// TestSlowSenderIsDisconnected: a body that does not keep up with paceBytes ends with 408, whatever its length.
func TestSlowSenderIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{})
		conn := dialPipe(t, s)
		start := time.Now()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, err := io.WriteString(conn, header("TagResource", 1<<20))
			for err == nil {
				_, err = conn.Write([]byte{' '})
				<-time.After(100 * time.Millisecond) // of the bubble's clock
			}
		}()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if took := time.Since(start); response.StatusCode != http.StatusRequestTimeout || took < paceGrace || took > paceGrace+time.Second {
			t.Errorf("%s after %v", response.Status, took)
		}
		<-sent
		wantUnused(t, s)
	})
}

// TestSlowBodiesLeaveMemory: slow senders of large bodies only use their separate pool; a concurrent fast one does not wait.
func TestSlowBodiesLeaveMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{Memory: 8 << 20})
		const senders = 8
		results := make(chan string, senders)
		ctx, cancel := context.WithCancel(t.Context())
		for range senders {
			body, w := io.Pipe()
			context.AfterFunc(ctx, func() { _ = w.CloseWithError(io.ErrUnexpectedEOF) })
			go func() { results <- perform(ctx, s, "TagResource", body) }()
			go func() {
				for err := error(nil); err == nil; {
					_, err = io.WriteString(w, strings.Repeat(" ", 40<<10))
					<-time.After(300 * time.Millisecond) // of the bubble's clock
				}
			}()
		}
		<-time.After(1500 * time.Millisecond) // of the bubble's clock
		if n := s.memory.slowBodies.used.Load(); n == 0 || n > s.memory.slowBodies.size {
			t.Errorf("slow bodies hold %d bytes of %d", n, s.memory.slowBodies.size)
		}
		start := time.Now()
		wantOK(t, "a quick body", perform(t.Context(), s, "TagResource", strings.NewReader(small+strings.Repeat(" ", 600<<10))))
		if waited := time.Since(start); waited > 0 {
			t.Errorf("it waited %v", waited)
		}
		cancel()
		throttled := 0
		for range senders {
			if strings.Contains(<-results, "ThrottlingException") {
				throttled++
			}
		}
		if throttled == 0 {
			t.Error("no slow sender was throttled")
		}
		<-time.After(time.Second) // of the bubble's clock, for the senders to end
		wantUnused(t, s)
	})
}

// TestSmallResponsesReserveNothing: the buffer of a large response is not reused for a small request.
func TestSmallResponsesReserveNothing(t *testing.T) {
	s := New(gatedEngine{}, Options{Memory: 8 << 20})
	for range 10 {
		wantOK(t, "a large response", perform(t.Context(), s, "GetItem", strings.NewReader(open)))
	}
	if err := new(reservation).grow(t.Context(), &s.memory.responses, s.memory.responses.size, 0); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		wantOK(t, "a small response", perform(t.Context(), s, "DescribeLimits", strings.NewReader("{}")))
	}
}

// TestSteadySenderIsServed: a body of 4 MB may take a minute.
func TestSteadySenderIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := dialPipe(t, New(gatedEngine{}, Options{}))
		const part = 64 << 10
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, err := io.WriteString(conn, header("TagResource", 64*part))
			for i := 0; i < 64 && err == nil; i++ {
				text := strings.Repeat(" ", part)
				if i == 0 {
					text = small + text[len(small):]
				}
				_, err = io.WriteString(conn, text)
				<-time.After(time.Second) // of the bubble's clock
			}
		}()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Error(response.Status)
		}
		<-sent
	})
}

// TestClientThatStopsReading: a client that does not read a large response loses its connection, and the memory is released.
func TestClientThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{})
		conn := dialPipe(t, s)
		if _, err := io.WriteString(conn, header("GetItem", len(open))+open); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s.memory.responses.used.Load() < 300<<10 {
			t.Fatal("the response is not on its way")
		}
		<-time.After(pace(1 << 20)) // of the bubble's clock
		synctest.Wait()
		wantUnused(t, s)
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("the connection is not closed: %v", err)
		}
	})
}

// TestThrottledBodyIsDrained: the sender of a large rejected body reads the response, and the connection remains usable.
func TestThrottledBodyIsDrained(t *testing.T) {
	s := New(gatedEngine{}, Options{})
	var all reservation
	if err := all.grow(t.Context(), &s.memory.requests, s.memory.requests.size, 0); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	responses := bufio.NewReader(conn)
	for what, want := range []string{"400 Bad Request", "200 OK"} {
		body := small + strings.Repeat(" ", 8<<20)
		if _, err := io.WriteString(conn, header("TagResource", len(body))+body); err != nil {
			t.Fatalf("request %d: %v", what, err)
		}
		response, err := http.ReadResponse(responses, nil)
		if err != nil {
			t.Fatalf("request %d: %v", what, err)
		}
		_ = response.Body.Close()
		if response.Status != want {
			t.Errorf("request %d: %s, want %s", what, response.Status, want)
		}
		all.release()
	}
}

// TestCompressedBodyReleasesItsMemory: while a client reads a compressed response, the memory of the uncompressed one, which is
// no longer reserved, is free.
func TestCompressedBodyReleasesItsMemory(t *testing.T) {
	for encoding, early := range map[string]bool{"gzip": true, "": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.Header.Set("Accept-Encoding", encoding)
		x, released := exchange{r: r}, 0
		packed := x.pack(bytes.Repeat([]byte("x"), 1<<20), func() { released++ })
		if (released == 1) != early {
			t.Errorf("Accept-Encoding %q: released %d times before the response is sent", encoding, released)
		}
		packed.release()
		if released != 1 {
			t.Errorf("Accept-Encoding %q: released %d times in all", encoding, released)
		}
	}
}

// TestTooLargeBodyIsDrained: the sender of a body beyond the limit reads the 413 after it has sent everything.
func TestTooLargeBodyIsDrained(t *testing.T) {
	server := httptest.NewServer(New(gatedEngine{}, Options{}))
	defer server.Close()
	body := strings.Repeat(" ", bodyMax+100<<10) // as much as is read before the connection closes
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	chunked := strings.Replace(header("TagResource", 0), "Content-Length: 0", "Transfer-Encoding: chunked", 1)
	for name, request := range map[string]string{"declared": header("TagResource", len(body)) + body, "chunked": chunked + chunk} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if response.StatusCode != http.StatusRequestEntityTooLarge || !response.Close {
			t.Errorf("%s: %s, to be closed: %v", name, response.Status, response.Close)
		}
		_ = response.Body.Close()
		_ = conn.Close()
	}
}

// TestConnectionsAreLimited: a connection beyond the limit is told to try again later and closed; once another one has closed
// there is room.
func TestConnectionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(gatedEngine{}, Options{})
		l := pipeListener{make(chan net.Conn, 1)}
		limited := LimitConnections(l, 1)
		server := HTTPServer(s, s.options.Logger)
		done := make(chan error)
		go func() { done <- server.Serve(limited) }()
		call := func() (conn net.Conn, got string) {
			conn, accepted := net.Pipe()
			l.conns <- accepted
			if _, err := io.WriteString(conn, header("TagResource", len(small))+small); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return conn, fmt.Sprintf("%d %s", response.StatusCode, body)
		}
		first, got := call()
		wantOK(t, "the first connection", got)
		second, got := call()
		wantThrottled(t, "the second connection", got)
		if _, err := second.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the second connection is not closed: %v", err)
		}
		_ = second.Close()
		_ = first.Close()
		synctest.Wait()
		third, got := call()
		wantOK(t, "a connection in the place of the first", got)
		_ = third.Close()
		_ = limited.Close()
		close(l.conns)
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}
