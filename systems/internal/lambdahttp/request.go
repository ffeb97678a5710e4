package lambdahttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

const requestIDHeader = "X-Request-Id"

func (h *Handler) answer(ctx context.Context, event events.APIGatewayV2HTTPRequest) (*events.APIGatewayV2HTTPResponse, error) {
	request, err := requestOf(ctx, event)
	if err != nil {
		return nil, err
	}
	w := &answer{header: http.Header{}, bodiless: request.Method == http.MethodHead}
	if err := serve(h.http, w, request); err != nil {
		return nil, err
	}
	return w.event(), nil
}

// serve bears a handler that aborts its answer, which a server would answer with a broken connection.
func serve(h http.Handler, w *answer, r *http.Request) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("lambdahttp: the handler gave up: %v", fault)
		}
	}()
	h.ServeHTTP(w, r)
	return nil
}

// requestOf is the event as the handler would have met it on a socket.
func requestOf(ctx context.Context, event events.APIGatewayV2HTTPRequest) (*http.Request, error) {
	body := []byte(event.Body)
	if event.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(event.Body); err != nil {
			return nil, fmt.Errorf("lambdahttp: body: %w", err)
		}
	}
	about := event.RequestContext
	path := event.RawPath
	if about.Stage != "" && about.Stage != "$default" {
		if inside, found := strings.CutPrefix(path, "/"+about.Stage); found && (inside == "" || inside[0] == '/') {
			path = "/" + strings.TrimPrefix(inside, "/")
		}
	}
	target := &url.URL{Path: path, RawQuery: event.RawQueryString}
	if decoded, err := url.PathUnescape(path); err == nil {
		target.Path, target.RawPath = decoded, path
	}
	request, err := http.NewRequestWithContext(ctx, about.HTTP.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("lambdahttp: request: %w", err)
	}
	request.URL = target                     // which a path that begins with // would not survive as a text
	for name, value := range event.Headers { // several values of one name are joined by API Gateway
		request.Header.Set(name, value)
	}
	for _, cookie := range event.Cookies {
		request.Header.Add("Cookie", cookie)
	}
	if cookies := request.Header.Values("Cookie"); len(cookies) > 1 {
		request.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
	if request.Header.Get(requestIDHeader) == "" && about.RequestID != "" {
		request.Header.Set(requestIDHeader, about.RequestID)
	}
	request.RequestURI = requestURI(target)
	request.Header.Del("Host") // a server takes it out, too
	request.Host = about.DomainName
	if request.Header.Get("X-Forwarded-Proto") == "https" { // API Gateway's own word
		request.TLS = &tls.ConnectionState{}
	}
	request.Proto, request.ProtoMajor, request.ProtoMinor = "HTTP/1.1", 1, 1
	request.RemoteAddr = net.JoinHostPort(about.HTTP.SourceIP, "0")
	return request, nil
}

// requestURI is a path with its query; unlike url.URL's it leaves a path that begins with // alone.
func requestURI(target *url.URL) string {
	if target.RawQuery == "" {
		return target.EscapedPath()
	}
	return target.EscapedPath() + "?" + target.RawQuery
}

// answer is a ResponseWriter that keeps the answer.
type answer struct {
	header http.Header
	sent   http.Header // header as it was when the status was sent
	status int
	body   bytes.Buffer
	// bodiless is for an answer to HEAD.
	bodiless bool
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status, a.sent = status, a.header.Clone()
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.bodiless {
		return len(p), nil
	}
	return a.body.Write(p)
}

// event is the answer as API Gateway wants it.
func (a *answer) event() *events.APIGatewayV2HTTPResponse {
	a.WriteHeader(http.StatusOK)
	out := &events.APIGatewayV2HTTPResponse{StatusCode: a.status, Headers: map[string]string{}}
	for name, values := range a.sent {
		if name == "Set-Cookie" {
			out.Cookies = values
			continue
		}
		out.Headers[name] = strings.Join(values, ",")
	}
	if isText(a.sent, a.body.Bytes()) {
		out.Body = a.body.String()
	} else {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(a.body.Bytes()), true
	}
	return out
}

// isText tells whether a body can stand in JSON as it is.
func isText(header http.Header, body []byte) bool {
	if header.Get("Content-Encoding") != "" || !utf8.Valid(body) {
		return false
	}
	if len(body) == 0 {
		return true
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return false
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "xml") ||
		strings.HasSuffix(kind, "javascript")
}
