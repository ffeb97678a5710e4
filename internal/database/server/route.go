package server

import (
	"net/http"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

// Names of headers in net/http's canonical form.
const (
	headerTarget        = "X-Amz-Target"
	headerRequestID     = "X-Amzn-Requestid"
	headerChecksum      = "X-Amz-Crc32"
	headerContentType   = "Content-Type"
	headerContentLength = "Content-Length"
	headerEncoding      = "Content-Encoding"
)

// contentType is the content type of a response, as header values; nil for none. It is shared safely: since its capacity is its
// length, appending copies it.
type contentType []string

var (
	awsJSON   = contentType{"application/x-amz-json-1.0"}
	plainJSON = contentType{"application/json"}
	plainText = contentType{"text/plain; charset=utf-8"}
)

// unknownOperationPage is the response to a request that is not a call of the API.
const unknownOperationPage = "<UnknownOperationException/>\n"

// route finds the operation that a request calls. If there is none it responds itself and ok is false.
func (x *exchange) route() (op *operation, ok bool) {
	x.mediaType = awsJSON
	atRoot := x.r.URL.Path == "/" || x.r.URL.Path == ""
	switch {
	case x.r.Method == http.MethodPost && atRoot:
		return x.routeCall()
	case x.r.Method == http.MethodGet && atRoot:
		x.mediaType = plainText
		x.send(http.StatusOK, []byte(x.server.health))
	case (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead) && strings.HasPrefix(x.r.URL.Path, "/-/"):
		x.probe()
	default:
		x.notFound()
	}
	return nil, false
}

// routeCall finds the operation by content type and target. A request without a body needs no content type.
func (x *exchange) routeCall() (op *operation, ok bool) {
	x.mediaType = contentTypeOf(x.r.Header.Get(headerContentType))
	switch {
	case x.mediaType == nil && x.r.ContentLength == 0:
		x.mediaType = plainJSON
	case x.mediaType == nil:
		x.notFound()
		return nil, false
	}
	if op, ok = x.server.operations[x.r.Header.Get(headerTarget)]; !ok {
		op = &operation{serve: unknownOperation, index: len(api.Operations())}
	}
	return op, true
}

// contentTypeOf recognizes the two content types, with any parameters; nil for any other.
func contentTypeOf(header string) contentType {
	media, _, _ := strings.Cut(header, ";")
	media = strings.TrimSpace(media)
	switch {
	case strings.EqualFold(media, awsJSON[0]):
		return awsJSON
	case strings.EqualFold(media, plainJSON[0]):
		return plainJSON
	default:
		return nil
	}
}

// probe responds to /-/healthy and /-/ready.
func (x *exchange) probe() {
	status, text, ok := Probe(x.r.URL.Path, x.server.options.Ready)
	if !ok {
		x.notFound()
		return
	}
	x.mediaType = plainText
	x.send(status, []byte(text))
}

func (x *exchange) notFound() {
	x.mediaType = nil
	x.send(http.StatusNotFound, []byte(unknownOperationPage))
}
