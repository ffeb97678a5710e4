package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/problem"
	"github.com/monotable/monotable/systems/internal/systemtest"
)

// basket has everything that can make a body ambiguous: nested objects and lists, and items that must be unique.
type basket struct {
	Address struct {
		Zip string `json:"zip,omitempty" maxLength:"5"`
	} `json:"address"`
	Lines []struct {
		Quantity int `json:"quantity,omitempty" minimum:"1"`
	} `json:"lines,omitempty"`
	Genres []int  `json:"genres,omitempty" uniqueItems:"true"`
	Amount int    `json:"amount,omitempty" minimum:"1"`
	Note   string `json:"note,omitempty"`
	Mail   string `json:"mail,omitempty" format:"email"`
}

// baskets is a server that accepts baskets and collects those that reach its handler.
func baskets(t *testing.T) (s *server, met *[]basket) {
	t.Helper()
	met = new([]basket)
	s = serve(t, nil)
	a, err := api.New(api.Options{Name: "pay", Title: "Pay", Prefix: "/pay", Verifier: s.issuer.Verifier(), MaxBody: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	huma.Post(a, "/baskets", func(_ context.Context, in *struct{ Body basket }) (*struct{ Body basket }, error) {
		*met = append(*met, in.Body)
		return &struct{ Body basket }{in.Body}, nil
	}, api.Public)
	huma.Get(a, "/find/{name}", func(_ context.Context, in *struct {
		Name  string `path:"name"`
		Query string `query:"q"`
	},
	) (*textOutput, error) {
		out := &textOutput{}
		out.Body.Text = in.Name + " " + in.Query
		return out, nil
	}, api.Public)
	s.Config.Handler = a
	return s, met
}

// TestAmbiguousBodiesAreRejected: a handler gets exactly what was validated. An ambiguous body is rejected, because a decoder that
// uses the last of two members, or ignores case, would use an unvalidated value.
func TestAmbiguousBodiesAreRejected(t *testing.T) {
	t.Parallel()
	s, met := baskets(t)
	for name, body := range map[string]string{
		"a member in another case":             `{"address":{},"amount":5,"Amount":-7}`,
		"only in another case":                 `{"address":{},"AMOUNT":5}`,
		"a member twice":                       `{"address":{},"amount":-7,"amount":5}`,
		"an object twice, which Go merges":     `{"address":{"zip":"far too long"},"address":{}}`,
		"a list twice, whose items Go reuses":  `{"address":{},"lines":[{"quantity":-5}],"lines":[{}]}`,
		"a member twice, written in two ways":  `{"address":{},"amount":-7,"\u0061mount":5}`,
		"a member twice, in a list of a list":  `{"address":{},"lines":[{"quantity":1},{"quantity":-1,"quantity":1}]}`,
		"bytes that are no UTF-8":              "{\"address\":{},\"note\":\"\xff\"}",
		"a name that is no UTF-8":              "{\"address\":{},\"\xff\":1}",
		"two values":                           `{"address":{}}{"address":{}}`,
		"a list where items have to be scalar": `{"address":{},"genres":[[1],{}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := s.do(t, "POST", "/pay/baskets", body).Problem(t)
			if p.Status != http.StatusBadRequest || p.Code != "invalid_body" || len(p.Errors) == 0 {
				t.Errorf("%+v, want 400 invalid_body and the faults", p)
			}
		})
	}
	if len(*met) != 0 {
		t.Errorf("the handler got %+v", *met)
	}
	for _, body := range []string{
		`{"address":{"zip":"1"},"lines":[{"quantity":1},{"quantity":1}],"genres":[1,2],"note":"\u0000 \"note\" amount"}`,
		`{"note":"address","address":{}}`,
	} {
		if response := s.do(t, "POST", "/pay/baskets", body); response.Status != http.StatusOK {
			t.Errorf("%s: %d %s", body, response.Status, response.Body)
		}
	}
}

// TestRefusalsAreSmall: however much is wrong, a response reports only the first faults, briefly and without Go types.
func TestRefusalsAreSmall(t *testing.T) {
	t.Parallel()
	s, _ := baskets(t)
	var many strings.Builder
	for n := range 50_000 {
		fmt.Fprintf(&many, `"a%d":1,`, n)
	}
	for name, body := range map[string]string{
		"many members":             `{` + many.String() + `"address":{}}`,
		"a long name":              `{"` + strings.Repeat("é", 300_000) + `":1}`,
		"deep":                     `{"note":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}`,
		"a number in another form": `{"address":{},"amount":1e2}`,
		"a number out of range":    `{"address":{},"amount":1e400}`,
		"no JSON":                  `<secret>`,
		"no address":               `{"address":{},"mail":"Ann <ann@example.com>, secret"}`,
	} {
		t.Run(name, func(t *testing.T) {
			response := s.do(t, "POST", "/pay/baskets", body)
			p := response.Problem(t)
			if p.Status != http.StatusBadRequest || len(p.Errors) == 0 || len(response.Body) > 5_000 {
				t.Errorf("%d with %d faults in %d bytes", p.Status, len(p.Errors), len(response.Body))
			}
			for _, inner := range []string{"Go ", "struct", "int64", "float64", "1e2", "1e400", "secret", "json:"} {
				if strings.Contains(response.Body, inner) {
					t.Errorf("the response contains %q: %.300s", inner, response.Body)
				}
			}
		})
	}
}

// TestBodiesThatAreNotRead: the headers alone can get a body rejected.
func TestBodiesThatAreNotRead(t *testing.T) {
	t.Parallel()
	s, _ := baskets(t)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(`{"address":{}}`))
	_ = z.Close()
	response := s.do(t, "POST", "/pay/baskets", zipped.String(), "Content-Encoding", "gzip")
	if p := response.Problem(t); p.Status != http.StatusUnsupportedMediaType || response.Header.Get("Accept-Encoding") != "identity" {
		t.Errorf("gzip: %+v, Accept-Encoding %q, want 415 and identity", p, response.Header.Get("Accept-Encoding"))
	}
	if response := s.do(t, "POST", "/pay/baskets", `{"address":{}}`, "Content-Encoding", "identity"); response.Status != http.StatusOK {
		t.Errorf("identity: %d %s", response.Status, response.Body)
	}
	for kind, want := range map[string]int{
		"application/JSON": http.StatusOK, "Application/Json; charset=UTF-8": http.StatusOK, "application/json ; charset=utf-8": http.StatusOK,
		"text/plain": http.StatusUnsupportedMediaType, "; charset=utf-8": http.StatusOK,
	} {
		if response := s.do(t, "POST", "/pay/baskets", `{"address":{}}`, "Content-Type", kind); response.Status != want {
			t.Errorf("%q: %d %s, want %d", kind, response.Status, response.Body, want)
		}
	}
	// The body is never sent: a server that waits for it would wait forever.
	p := exchange(t, s, "POST /pay/baskets HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
	if p.Status != http.StatusRequestEntityTooLarge || p.Code != "body_too_large" {
		t.Errorf("a length of 100 GB: %+v, want 413", p)
	}
}

// exchange sends raw bytes and reads one problem.
func exchange(t *testing.T, s *server, request string) problem.Problem {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return systemtest.Response{Status: response.StatusCode, Header: response.Header, Body: string(body)}.Problem(t)
}

// TestAddressesThatAreNotUTF8: a path or query that is not UTF-8 cannot match anything stored.
func TestAddressesThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	s, _ := baskets(t)
	for _, path := range []string{"/pay/find/%ff", "/pay/find/a?q=%c3", "/pay/find/a?%ff=1", "/pay/find/a?q=%zz"} {
		if p := s.do(t, "GET", path, "").Problem(t); p.Status != http.StatusBadRequest || p.Code != "invalid_parameter" {
			t.Errorf("%s: %+v, want 400 invalid_parameter", path, p)
		}
	}
	for path, want := range map[string]string{"/pay/find/a%2Fb%20+?q=%C3%A1+b%2B": "a/b + á b+", "/pay/find/%E2%98%95": "☕ "} {
		if response := s.do(t, "GET", path, ""); response.Status != http.StatusOK || strings.TrimSpace(response.Body) != `{"text":"`+want+`"}` {
			t.Errorf("%s: %d %s, want %q", path, response.Status, response.Body, want)
		}
	}
}

// TestSeveralTokens: a request with two tokens is rejected.
func TestSeveralTokens(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	good := "Authorization: " + s.token(t) + "\r\n"
	for _, headers := range []string{good + "Authorization: Bearer x\r\n", "Authorization: Bearer x\r\n" + good, good + good} {
		p := exchange(t, s, "GET /pay/who HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n")
		if p.Status != http.StatusUnauthorized || p.Code != "invalid_token" {
			t.Errorf("%d %s, want 401 invalid_token", p.Status, p.Code)
		}
	}
}

// TestSeveralKeys: a request with two Idempotency-Keys is rejected.
func TestSeveralKeys(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	p := exchange(t, s, "POST /pay/echo HTTP/1.1\r\nHost: x\r\nAuthorization: "+s.token(t)+
		"\r\nContent-Type: application/json\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 12\r\n\r\n{\"amount\":1}")
	if p.Status != http.StatusBadRequest || p.Code != "invalid_parameter" || len(p.Errors) != 1 || p.Errors[0].Field != "header.Idempotency-Key" {
		t.Errorf("%+v, want 400 invalid_parameter about the key", p)
	}
}

// TestAbortedResponse: an interrupted response is logged as interrupted, not as 200.
func TestAbortedResponse(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a, err := api.New(api.Options{Name: "pay", Title: "Pay", Verifier: s.issuer.Verifier(), Logger: s.logger()})
	if err != nil {
		t.Fatal(err)
	}
	a.Handle("GET /half", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 100_000))
		panic("a bug in the middle")
	}))
	s.Config.Handler = a
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/half", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultTransport.RoundTrip(r); err == nil {
		_, err := io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err == nil {
			t.Error("a truncated response looks complete")
		}
	}
	s.Close()
	if !strings.Contains(s.log.String(), `"aborted":true`) || !strings.Contains(s.log.String(), "a bug in the middle") {
		t.Errorf("the log does not say that the response was cut off:\n%s", s.log)
	}
}

// TestStreamOutlivesTheServersTimeout: an event stream lasts as long as its client is connected, whatever the server's write
// timeout. An operation has its own timeout.
func TestStreamOutlivesTheServersTimeout(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a, err := api.New(api.Options{Name: "pay", Title: "Pay", Verifier: s.issuer.Verifier()})
	if err != nil {
		t.Fatal(err)
	}
	const bound = 20 * time.Millisecond
	type event struct{ N int }
	sse.Register(a, api.Operation(huma.Operation{OperationID: "watch", Method: http.MethodGet, Path: "/watch"}, api.Public, api.Stream),
		map[string]any{"event": event{}}, func(ctx context.Context, _ *struct{}, send sse.Sender) {
			for n := range 3 {
				if send.Data(event{n}) != nil {
					return
				}
				late(ctx, bound)
			}
		})
	huma.Get(a, "/late", func(ctx context.Context, _ *struct{}) (*textOutput, error) {
		late(ctx, bound)
		return &textOutput{}, nil
	}, api.Public)
	server := httptest.NewUnstartedServer(a)
	server.Config.WriteTimeout = bound
	server.Start()
	t.Cleanup(server.Close)
	if response := systemtest.Call(t, "GET", server.URL+"/watch", ""); strings.Count(response.Body, "data:") != 3 {
		t.Errorf("the stream ended early: %q", response.Body)
	}
	if response := systemtest.Call(t, "GET", server.URL+"/late", ""); response.Status != http.StatusOK {
		t.Errorf("an operation: %d", response.Status)
	}
}

// late takes longer than a timeout.
func late(ctx context.Context, bound time.Duration) {
	timer := time.NewTimer(2 * bound)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
