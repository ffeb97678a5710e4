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

func (h *Handler) respond(ctx context.Context, event events.APIGatewayV2HTTPRequest) (*events.APIGatewayV2HTTPResponse, error) {
	request, err := requestOf(ctx, event)
	if err != nil {
		return nil, err
	}
	w := &response{header: http.Header{}, bodiless: request.Method == http.MethodHead}
	if err := serve(h.http, w, request); err != nil {
		return nil, err
	}
	return w.event(), nil
}

// serve recovers from a handler that aborts its response, for which a server would close the connection.
func serve(h http.Handler, w *response, r *http.Request) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("lambdahttp: the handler gave up: %v", fault)
		}
	}()
	h.ServeHTTP(w, r)
	return nil
}

// requestOf converts an event to the request that a handler would get from a socket.
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
	request.URL = target                     // parsing would not preserve a path that begins with //
	for name, value := range event.Headers { // API Gateway joins the values of a repeated header
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
	request.Header.Del("Host") // a server also removes it
	request.Host = about.DomainName
	if request.Header.Get("X-Forwarded-Proto") == "https" { // set by API Gateway itself
		request.TLS = &tls.ConnectionState{}
	}
	request.Proto, request.ProtoMajor, request.ProtoMinor = "HTTP/1.1", 1, 1
	request.RemoteAddr = net.JoinHostPort(about.HTTP.SourceIP, "0")
	return request, nil
}

// requestURI returns path and query. Unlike url.URL it preserves a path that begins with //.
func requestURI(target *url.URL) string {
	if target.RawQuery == "" {
		return target.EscapedPath()
	}
	return target.EscapedPath() + "?" + target.RawQuery
}

// response is a ResponseWriter that buffers the response.
type response struct {
	header http.Header
	sent   http.Header // header at the time the status was sent
	status int
	body   bytes.Buffer
	// bodiless is set for a response to HEAD.
	bodiless bool
}

func (a *response) Header() http.Header { return a.header }

func (a *response) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status, a.sent = status, a.header.Clone()
	}
}

func (a *response) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.bodiless {
		return len(p), nil
	}
	return a.body.Write(p)
}

// event converts the response for API Gateway.
func (a *response) event() *events.APIGatewayV2HTTPResponse {
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

// isText reports whether a body can be sent unchanged in a JSON string.
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
