package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// call is a request of the usual form.
func call(body string, lines ...string) string {
	head := append([]string{"POST / HTTP/1.1", "Host: localhost:8000", "Content-Length: " + strconv.Itoa(len(body))}, lines...)
	return strings.Join(head, "\r\n") + "\r\n\r\n" + body
}

func inner(handler http.HandlerFunc) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: 3 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0),
	}
}

// pipes is a listener with in-memory connections, so that a test can control the clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// served is a server of a handler, by this package or by net/http alone.
type served struct {
	dial func() net.Conn
	own  *Server // nil where net/http is alone
}

func serve(t *testing.T, handler http.HandlerFunc, own bool) served {
	t.Helper()
	l := make(pipes)
	ended := make(chan error, 1)
	h := inner(handler)
	s := served{dial: func() net.Conn {
		client, server := net.Pipe()
		l <- server
		return client
	}}
	end := h.Close
	if own {
		s.own = New(h)
		end = s.own.Close
		go func() { ended <- s.own.Serve(l) }()
	} else {
		go func() { ended <- h.Serve(l) }()
	}
	t.Cleanup(func() {
		if err := errors.Join(end(), suppress(<-ended, http.ErrServerClosed)); err != nil {
			t.Error(err)
		}
	})
	return s
}

func suppress(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// echo responds with the request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	r.Header.Del("Date")
	text := fmt.Sprint(r.Method, r.URL, r.RequestURI, r.Proto, r.Host, r.ContentLength, r.Header, len(r.TransferEncoding), r.Close, string(body), err)
	w.Header().Set("Content-Type", "text/plain") // which is not guessed here
	w.Header().Set("X-Reflected", r.Header.Get("X-Reflect"))
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, text)
}

// exchange sends bytes and returns all responses until the server closes, or has nothing more to say.
func exchange(t *testing.T, s served, sent string) (responses []string) {
	t.Helper()
	c := s.dial()
	defer c.Close()
	// Before anything is sent: a pipe whose other end is closed takes no deadline.
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(c, sent) }()
	for r := bufio.NewReader(c); ; {
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			return responses
		}
		body, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			body = append(body, err.Error()...)
		}
		if response.Header.Get("Date") == "" && response.StatusCode == http.StatusOK {
			t.Error("a response without a date")
		}
		response.Header.Del("Date")
		responses = append(responses, fmt.Sprint(response.Status, response.Header, response.Close, string(body)))
	}
}

// TestBehavesLikeNetHTTP tests that every request, usual or not, well-formed or not, gets the same response as from net/http.
func TestBehavesLikeNetHTTP(t *testing.T) {
	usual := call("abc", "X-Amz-Target: DynamoDB_20120810.GetItem")
	long := strings.Repeat("x", 100<<10)
	for name, sent := range map[string]string{
		"usual":                          usual,
		"two at once":                    usual + call("another", "X-Amz-Target: b"),
		"the same twice":                 usual + usual,
		"other lines than before":        call("", "A: 1", "B: 2", "C: 3") + call("", "A: 1", "C: 3") + call("", "B: 2", "A: 1", "C: 4", "D: 5"),
		"a name written otherwise":       call("", "x-amz-target: a") + call("", "X-Amz-Target: a") + call("", "X-AMZ-TARGET: a"),
		"a name that is longer":          call("", "Ab: a") + call("", "Abc: a") + call("", "Ab:c: a"),
		"no body":                        call(""),
		"no length":                      "POST / HTTP/1.1\r\nHost: x\r\n\r\n",
		"a long body":                    call(long) + usual,
		"a body that ends early":         call(long)[:1000],
		"a head that ends early":         usual[:30],
		"one header twice":               call("", "X-A: 1", "X-A: 2", "x-a: 3"),
		"spaces around a value":          call("", "X-A:  \t a b \t "),
		"an empty value":                 call("", "X-A:"),
		"a value beyond ASCII":           call("", "X-A: ñ"),
		"a value that is reflected":      call("", "X-Reflect: a"),
		"GET":                            "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n" + usual,
		"usual, GET, usual":              usual + "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n" + usual,
		"another path":                   usual + "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nb",
		"HTTP/1.0":                       "POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\na",
		"HTTP/1.2":                       "POST / HTTP/1.2\r\nHost: x\r\n\r\n",
		"chunks":                         "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n" + usual,
		"chunks and a length":            call("abc", "Transfer-Encoding: chunked"),
		"the connection's end":           call("a", "Connection: close") + usual,
		"keep-alive":                     call("a", "Connection: Keep-Alive") + usual,
		"Expect":                         call("abc", "Expect: 100-continue") + usual,
		"Expect something else":          call("abc", "Expect: tea"),
		"no host":                        "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		"two hosts":                      call("", "Host: other"),
		"a host with a path":             "POST / HTTP/1.1\r\nHost: a/b\r\n\r\n",
		"an empty host":                  "POST / HTTP/1.1\r\nHost:\r\n\r\n",
		"a host in IPv6":                 "POST / HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n",
		"two lengths":                    call("abc", "Content-Length: 4"),
		"two equal lengths":              call("abc", "Content-Length: 3"),
		"a length that is none":          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n",
		"a length below 0":               "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"a length with a sign":           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na",
		"a length beyond all":            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999999999999\r\n\r\n",
		"lines that end in LF":           strings.ReplaceAll(usual, "\r\n", "\n"),
		"a line that goes on":            call("", "X-A: 1", " 2"),
		"a line without a colon":         call("", "X-A"),
		"a line without a name":          call("", ": a"),
		"a space before the colon":       call("", "X-A : 1"),
		"a control character in a value": call("", "X-A: \x01"),
		"CR in a value":                  call("", "X-A: a\rb"),
		"a control character in a name":  call("", "X\x00A: a"),
		"a long header":                  call("", "X-A: "+strings.Repeat("a", headMax)) + usual,
		"too long a header":              call("", "X-A: "+strings.Repeat("a", 2<<20)),
		"many lines":                     call("", strings.Split(strings.Repeat("X-A: 1\n", linesMax+10)+"X-B: 2", "\n")...),
		"HTTP/2":                         "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"something else":                 "\x16\x03\x01\x02\x00\x01\x00",
		"nothing":                        "",
		"empty lines":                    "\r\n\r\n" + usual,
		"Pragma":                         call("", "Pragma: no-cache"),
		"Upgrade":                        call("", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAAA"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want := exchange(t, serve(t, echo, false), sent)
				if diff := cmp.Diff(want, exchange(t, serve(t, echo, true), sent)); diff != "" {
					t.Errorf("-net/http, +here:\n%s", diff)
				}
			})
		})
	}
}

// TestResponses tests that however a handler responds, and however little it reads, its client reads the same as from
// net/http.
func TestResponses(t *testing.T) {
	long := strings.Repeat("y", 200<<10)
	for name, handler := range map[string]http.HandlerFunc{
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"a status":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"two statuses": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK)
		},
		"a text": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "a")
			_, _ = io.WriteString(w, "b")
		},
		"with its length, in parts": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			w.Header().Set("Content-Length", strconv.Itoa(len(long)))
			_, _ = io.WriteString(w, long[:10])
			_, _ = io.WriteString(w, long[10:])
		},
		"with its length, at once": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			w.Header().Set("Content-Length", strconv.Itoa(len(long)))
			_, _ = io.WriteString(w, long)
		},
		"less than its length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "a")
		},
		"more than its length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			w.Header().Set("Content-Length", "1")
			if _, err := io.WriteString(w, "ab"); !errors.Is(err, http.ErrContentLength) {
				panic(err)
			}
		},
		"the connection's end":     func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") },
		"a line's end in a header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-A", "a\r\nX-B: b") },
		"a panic":                  func(http.ResponseWriter, *http.Request) { panic("a test's") },
		"an abort":                 func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"an abort after a part": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "a")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		for size, body := range map[string]string{"no body": "", "a small one": "abc", "a large one": strings.Repeat("x", 100<<10), "a very large one": strings.Repeat("x", 300<<10)} {
			t.Run(name+", "+size, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sent := call(body) + call("next")
					want := exchange(t, serve(t, handler, false), sent)
					if diff := cmp.Diff(want, exchange(t, serve(t, handler, true), sent)); diff != "" {
						t.Errorf("-net/http, +here:\n%s", diff)
					}
				})
			})
		}
	}
}

// TestUnknownLength tests that a body whose length is unknown when it has to be sent ends with its connection.
func TestUnknownLength(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"flushed": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "a")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, strings.Repeat("b", 3*bufferMax))
		},
		"long": func(w http.ResponseWriter, _ *http.Request) {
			for _, part := range []string{"a", strings.Repeat("b", bufferMax), strings.Repeat("b", 2*bufferMax)} {
				_, _ = io.WriteString(w, part)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := exchange(t, serve(t, handler, true), call("")+call(""))
				if want := "200 OKmap[] truea" + strings.Repeat("b", 3*bufferMax); len(got) != 1 || got[0] != want {
					t.Errorf("%d responses: %.100s", len(got), got)
				}
			})
		})
	}
}

// TestClientGone tests that a slow handler is notified when its client disconnects, but not when the client sends the next
// request.
func TestClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan error)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Header.Get("X-Wait") == "" {
				return
			}
			select {
			case <-r.Context().Done():
				gone <- r.Context().Err()
			case <-time.After(20 * time.Second):
				_, _ = io.WriteString(w, "waited")
			}
		}, true)
		for _, body := range []string{"", "abc"} {
			c := s.dial()
			if _, err := io.WriteString(c, call(body, "X-Wait: 1")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			got := exchange(t, s, call(body, "X-Wait: 1")+call("x")+call("", "X-Wait: 1"))
			if len(got) != 3 || !strings.HasSuffix(got[0], "waited") || !strings.HasSuffix(got[2], "waited") {
				t.Errorf("responses %q", got)
			}
		}
	})
}

// TestTimeouts tests that a client that stops in the middle of a request loses its connection after the timeout.
func TestTimeouts(t *testing.T) {
	for name, c := range map[string]struct {
		sent  string
		after time.Duration
	}{
		"idle":                  {call(""), 3 * time.Minute},
		"in a head":             {call("") + call("")[:20], 10 * time.Second},
		"in the first head":     {call("")[:20], 10 * time.Second},
		"in a body":             {call("") + call("abc")[:len(call("abc"))-1], time.Minute},
		"before the first byte": {"", 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, echo, true)
				conn := s.dial()
				defer conn.Close()
				begun := time.Now()
				go func() { _, _ = io.WriteString(conn, c.sent) }()
				if _, err := io.Copy(io.Discard, conn); err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took < c.after-2*refresh || took > c.after+2*refresh {
					t.Errorf("the connection is closed after %v, want %v", took, c.after)
				}
			})
		})
	}
}

// TestSlowHead tests that the timeout applies to the whole head, however little of it arrives at a time.
func TestSlowHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := serve(t, echo, true).dial()
		defer conn.Close()
		begun := time.Now()
		written := make(chan struct{})
		go func() {
			defer close(written)
			for i := range call("") {
				if _, err := io.WriteString(conn, call("")[i:i+1]); err != nil {
					return
				}
				<-time.After(time.Second)
			}
		}()
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 12*time.Second {
			t.Errorf("the connection is closed after %v", took)
		}
		<-written
	})
}

// TestShutdown tests that idle connections are closed, and that running requests get a response before their connections are
// closed.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			<-time.After(time.Second)
			echo(w, r)
		}, true)
		idle, busy, handed := s.dial(), s.dial(), s.dial()
		defer idle.Close()
		defer busy.Close()
		defer handed.Close()
		for c, sent := range map[net.Conn]string{busy: call("abc"), handed: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"} {
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		ended := make(chan error)
		go func() { ended <- s.own.Shutdown(t.Context()) }()
		if n, err := io.Copy(io.Discard, idle); n != 0 || err != nil {
			t.Errorf("an idle connection: %d bytes, %v", n, err)
		}
		for name, c := range map[string]net.Conn{"busy": busy, "handed": handed} {
			response, err := io.ReadAll(c)
			if err != nil || !bytes.HasPrefix(response, []byte("HTTP/1.1 200 OK\r\n")) {
				t.Errorf("%s: %s %v", name, response, err)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestShutdownEnds tests that a request that does not end is aborted after the timeout.
func TestShutdownEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true)
		c := s.dial()
		if _, err := io.WriteString(c, call("")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.own.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := s.own.Close(); err != nil {
			t.Error(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Error(err)
		}
	})
}

// TestConnState tests that each connection is counted once, and removed once, whichever server handles it.
func TestConnState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, total := 0, 0
		states := make(chan http.ConnState, 100)
		h := inner(echo)
		h.ConnState = func(_ net.Conn, state http.ConnState) { states <- state }
		s, l := New(h), make(pipes)
		ended := make(chan error)
		go func() { ended <- s.Serve(l) }()
		for _, sent := range []string{call(""), "GET / HTTP/1.1\r\nHost: x\r\n\r\n", call("") + "GET / HTTP/1.1\r\nHost: x\r\n\r\n", ""} {
			client, server := net.Pipe()
			l <- server
			exchange(t, served{dial: func() net.Conn { return client }}, sent)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		synctest.Wait()
		for len(states) > 0 {
			switch <-states {
			case http.StateNew:
				open++
				total++
			case http.StateClosed, http.StateHijacked:
				open--
			case http.StateActive, http.StateIdle:
			}
		}
		if open != 0 || total != 4 {
			t.Errorf("%d connections of %d are open", open, total)
		}
	})
}

// FuzzHead: a head that is taken is one that net/http takes for the same, also after another one.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{call("abc"), call("", "X-A: 1", "X-A: 2"), call("", "x-amz-target:\ta \t"), call("a", "Connection: keep-alive")} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var h head
		for _, data := range [][]byte{first, second, first} {
			length, is := h.parse(data)
			if is != usual {
				continue
			}
			want, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
			if err != nil {
				t.Fatalf("%q is taken, and net/http says %v", data[:length], err)
			}
			got := &http.Request{Host: h.host, Header: h.header, ContentLength: h.length}
			if diff := cmp.Diff([]any{want.Host, want.Header, want.ContentLength}, []any{got.Host, got.Header, got.ContentLength}); diff != "" {
				t.Fatalf("%q: %s", data[:length], diff)
			}
			if want.Close || len(want.TransferEncoding) > 0 || want.Method != http.MethodPost || want.RequestURI != "/" {
				t.Fatalf("%q is not usual", data[:length])
			}
			if !bytes.HasSuffix(data[:length], []byte("\r\n\r\n")) {
				t.Fatalf("the head %q has no end", data[:length])
			}
		}
	})
}
