package cloudwatch

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/fxamacker/cbor/v2"
)

const (
	service  = "GraniteServiceVersion20100801"
	cborPath = "/service/" + service + "/operation/"

	headerContentType = "Content-Type"
	headerTarget      = "X-Amz-Target"
	headerProtocol    = "Smithy-Protocol"
	headerQueryError  = "X-Amzn-Query-Error"
)

// protocol decodes requests and encodes responses.
type protocol interface {
	// decode returns the operation's name, and a function that fills its input; an error is a *fault.
	decode(r *http.Request, body []byte) (operation string, into func(in any) error, err error)
	encode(operation string, out any, id string) (http.Header, []byte, error)
	fail(f *fault, id string) (status int, header http.Header, body []byte)
	unknown(operation string) *fault
}

// protocolOf returns the protocol of a request, or nil if it is not one of CloudWatch's.
func protocolOf(r *http.Request) protocol {
	switch {
	case r.Method != http.MethodPost:
		return nil
	case strings.HasPrefix(r.URL.Path, cborPath):
		return cborProtocol{}
	case r.URL.Path != "/" && r.URL.Path != "":
		return nil
	case strings.HasPrefix(r.Header.Get(headerTarget), service+"."):
		return jsonProtocol{}
	}
	if r.Header.Get(headerTarget) != "" || strings.Contains(r.Header.Get("Authorization"), "/dynamodb/") {
		return nil // DynamoDB's, like nearly all requests
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get(headerContentType)); media == "application/x-www-form-urlencoded" {
		return queryProtocol{}
	}
	return nil
}

// failure is the body of an error response, in JSON and CBOR.
type failure struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// queryError sends the AWS Query error code to clients that used to use that protocol.
func queryError(h http.Header, f *fault) { h.Set(headerQueryError, f.code+";"+f.sender()) }

func unknownOperation(operation string) *fault {
	return &fault{http.StatusBadRequest, "InvalidAction", "UnknownOperationException", "The operation " + operation + " is not supported."}
}

// jsonProtocol is AWS JSON 1.0.
type jsonProtocol struct{}

func (jsonProtocol) decode(r *http.Request, body []byte) (string, func(any) error, error) {
	operation := strings.TrimPrefix(r.Header.Get(headerTarget), service+".")
	return operation, func(in any) error {
		if len(body) == 0 {
			return nil
		}
		if err := json.Unmarshal(body, in); err != nil {
			return malformed("The request body cannot be read: %v", err)
		}
		return nil
	}, nil
}

func jsonHeader() http.Header { return http.Header{headerContentType: {"application/x-amz-json-1.0"}} }

func (jsonProtocol) encode(_ string, out any, _ string) (http.Header, []byte, error) {
	body, err := json.Marshal(out)
	return jsonHeader(), body, err
}

func (jsonProtocol) fail(f *fault, _ string) (int, http.Header, []byte) {
	header := jsonHeader()
	queryError(header, f)
	body, _ := json.Marshal(failure{f.name(), f.message}) // strings can always be encoded
	return f.status, header, body
}

func (jsonProtocol) unknown(operation string) *fault { return unknownOperation(operation) }

// cborProtocol is Smithy RPC v2 CBOR.
type cborProtocol struct{}

func (cborProtocol) decode(r *http.Request, body []byte) (string, func(any) error, error) {
	operation := strings.TrimPrefix(r.URL.Path, cborPath)
	return operation, func(in any) error {
		if len(body) == 0 {
			return nil
		}
		if err := cbor.Unmarshal(body, in); err != nil {
			return malformed("The request body cannot be read: %v", err)
		}
		return nil
	}, nil
}

func cborHeader() http.Header {
	return http.Header{headerContentType: {"application/cbor"}, headerProtocol: {"rpc-v2-cbor"}}
}

func (cborProtocol) encode(_ string, out any, _ string) (http.Header, []byte, error) {
	body, err := cbor.Marshal(out)
	return cborHeader(), body, err
}

func (cborProtocol) fail(f *fault, _ string) (int, http.Header, []byte) {
	header := cborHeader()
	queryError(header, f)
	body, _ := cbor.Marshal(failure{"com.amazonaws.cloudwatch#" + f.name(), f.message}) // strings can always be encoded
	return f.status, header, body
}

func (cborProtocol) unknown(operation string) *fault { return unknownOperation(operation) }
